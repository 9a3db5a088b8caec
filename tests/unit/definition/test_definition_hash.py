"""What changes the hash of a definition, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.definition.catalogue import load
from orchestrator.definition.parse import parse

PLAIN = """\
flow: F
types: {T: {type: object, properties: {description: {type: string}, x: {type: integer}}}}
input: T
attributes: {n: integer, m: {type: string, map: true}}
channels: {c: {type: T}}
start: A
steps:
  A:
    let: {a: 1, b: 2}
    wait_for: {any_of: [{channel: c}, {timer: 30m}]}
    set: {m: {x: y}}
    decide:
      - {when: a == 1, go_to: B}
      - {dead_end: true}
  B: {publish: {c: {description: text, x: 1}}, dead_end: true}
"""


def hash_of(text: str) -> str:
    flow, problems = parse(text, "x.flow.yaml")
    assert flow is not None, [problem.concise() for problem in problems]
    return flow.hash


COSMETIC = [
    ("flow: F\n", "flow: F\ndescription: What it does.\n"),
    ("flow: F\n", "# a comment\nflow:   'F'\n"),
    ("flow: F\n", "flow: F\nversion: v2\n"),
    ("flow: F\n", "flow: F\nlanguage: 1\n"),
    ("flow: F\n", "flow: F\n$schema: other.json\n"),
    ("flow: F\n", "flow: F\nx-owner: me\n"),
    ("{channel: c}", "{channel: c, x-note: 1}"),
    ("  B: {", "  B: {description: Ends., "),
    ("{type: T}", "{type: T, description: Messages.}"),
    ("{type: integer}", "{type: integer, description: A number., title: X}"),
    ("  A:\n", "  x-note: [1]\n  A:\n    description: Begins.\n"),
    ("{n: integer, m: {type: string, map: true}}", "{m: {map: true, type: string}, n: integer}"),
    ("{description: text, x: 1}", "{x: 1, description: text}"),
]


@pytest.mark.parametrize(("before", "after"), COSMETIC)
def test_cosmetic_edits_keep_the_hash(before: str, after: str) -> None:
    assert before in PLAIN
    assert hash_of(PLAIN.replace(before, after)) == hash_of(PLAIN)


MEANINGFUL = [
    ("30m", "31m"),
    ("a == 1", "a == 2"),
    ("{a: 1, b: 2}", "{b: 2, a: 1}"),
    ("description: text", "description: other"),
    ("properties: {description: {type: string}, ", "properties: {"),
    ("[{channel: c}, {timer: 30m}]", "[{timer: 30m}, {channel: c}]"),
    ("- {dead_end: true}", "- {graceful_complete: }"),
    ("flow: F", "flow: G"),
    ("x: {type: integer}", "x: {type: integer, default: 1}"),
    ("n: integer", "n: number"),
]


@pytest.mark.parametrize(("before", "after"), MEANINGFUL)
def test_other_edits_change_the_hash(before: str, after: str) -> None:
    assert before in PLAIN
    text = PLAIN.replace(before, after)
    if "properties: {x" in text:
        text = text.replace("{description: text, x: 1}", "{x: 1}")
    assert hash_of(text) != hash_of(PLAIN)


def test_the_order_of_computed_keys_counts() -> None:
    text = PLAIN.replace("{x: y}", '{"${run.flow_id}": y, "${run.run_id}": z}')
    turned = PLAIN.replace("{x: y}", '{"${run.run_id}": z, "${run.flow_id}": y}')
    assert hash_of(text) != hash_of(turned)


def test_the_hash_is_stable_over_releases() -> None:
    flow = load(Path(__file__).parents[3] / "flows" / "contract_edit.flow.yaml")
    assert flow.hash == "sha256:004e5dd6fb59e82c9c35e8965aa1e2725593d3e41c2a5172026f66ada18d0241"
