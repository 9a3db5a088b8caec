"""A step that was read before, in the same surroundings, is not read again; nothing else is taken for it."""

from __future__ import annotations

import pytest

from orchestrator.definition.model import ChannelCondition, Flow
from orchestrator.definition.parse import parse
from orchestrator.definition.values import Literal

TEXT = """\
flow: Known
input: integer
channels: {c: integer}
start: First
steps:
  First: {input: integer, go_to: Second}
  Second: {input: integer, wait_for: {until: {channel: c, for: 1}}, graceful_complete: "${input}"}
"""


def read(text: str) -> Flow:
    flow, problems = parse(text, "known.flow.yaml")
    assert flow is not None, [problem.concise() for problem in problems]
    return flow


def test_what_stands_between_two_equal_steps_does_not_matter() -> None:
    before, after = read(TEXT), read(TEXT.replace("  Second:", "  # a comment\n\n  Second:"))
    assert after.steps["Second"] is before.steps["Second"]
    assert after.source is not None
    assert after.source.locate(("steps", "Second", "graceful_complete")).value.line == 9


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for: 1", "for: 2"),
        ("channels: {c: integer}", "channels: {c: string}"),
        ("  First: {input: integer,", "  First: {input: number,"),
        ("input: integer\nchannels", "input: integer\noutput: any\nchannels"),
    ],
)
def test_a_step_or_its_surroundings_changed_are_read_anew(old: str, new: str) -> None:
    before = read(TEXT)
    flow, _ = parse(TEXT.replace(old, new), "known.flow.yaml")
    assert flow is None or flow.steps["Second"] is not before.steps["Second"]


def test_a_truth_is_not_taken_for_a_number() -> None:
    condition = read(TEXT).steps["Second"].wait_for
    assert condition is not None
    (waited,) = condition.conditions
    assert isinstance(waited, ChannelCondition)
    assert isinstance(waited.exactly, Literal)
    assert waited.exactly.value == 1
    flow, problems = parse(TEXT.replace("for: 1", "for: true"), "known.flow.yaml")
    assert flow is None
    assert problems


def test_a_step_with_problems_has_them_every_time() -> None:
    broken = TEXT.replace("channel: c,", "channel: d,")
    assert [parse(broken, "x")[1], parse(broken, "x")[1]] == [parse(broken, "x")[1]] * 2
    assert parse(broken, "x")[1][0].code == "REF002"


def test_a_target_that_takes_another_input_makes_its_sender_wrong() -> None:
    read(TEXT)
    changed = TEXT.replace("Second: {input: integer", "Second: {input: string")
    assert parse(changed, "x")[1][0].code == "TYP003"
