"""The flow schema says to editors what the parser says to the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from orchestrator.definition.document import compose_document, construct
from orchestrator.definition.keys import KEYS
from orchestrator.definition.parse import parse

ROOT = Path(__file__).parents[3]
SCHEMA: dict[str, Any] = json.loads((ROOT / "schemas" / "flow.schema.json").read_text(encoding="utf-8"))
DEFINITIONS: dict[str, Any] = SCHEMA["definitions"]

PLACES = {
    "flow": SCHEMA,
    "attribute": DEFINITIONS["attribute"]["anyOf"][1],
    "index": DEFINITIONS["attribute"]["anyOf"][1]["properties"]["index"]["anyOf"][1],
    "channel": DEFINITIONS["channel"]["anyOf"][1],
    "join": DEFINITIONS["join_declaration"]["anyOf"][1],
    "result": DEFINITIONS["result"]["anyOf"][1],
    "execute": DEFINITIONS["execute"]["anyOf"][1],
    "range": DEFINITIONS["may_names"]["anyOf"][1]["additionalProperties"]["anyOf"][1],
    "wait_options": DEFINITIONS["options"]["properties"]["wait_for"],
    "execute_options": DEFINITIONS["options"]["properties"]["execute"],
    "route": DEFINITIONS["route"]["anyOf"][1],
    "channel condition": DEFINITIONS["channel_condition"],
    "timer condition": DEFINITIONS["timer_condition"],
    "timer_at condition": DEFINITIONS["timer_at_condition"],
    "subflow condition": DEFINITIONS["subflow_condition"],
    "join condition": DEFINITIONS["join_condition"],
    "set": DEFINITIONS["set"]["anyOf"][1]["items"],
    "publish": DEFINITIONS["publish"]["anyOf"][1]["items"],
    "target": DEFINITIONS["go_to"]["anyOf"][1],
    "movement": DEFINITIONS["go_to_many"]["items"]["anyOf"][1],
    "completion": DEFINITIONS["force_complete_if_channels_empty"],
    "timeout": DEFINITIONS["timeout"]["anyOf"][1],
    "never": DEFINITIONS["property"]["properties"]["never"],
}


def schema_of(mapping: str) -> dict[str, Any]:
    found: dict[str, Any] = PLACES.get(mapping) or DEFINITIONS[mapping]
    return found


@pytest.mark.parametrize("mapping", sorted(set(KEYS) - {"condition"}))
def test_a_mapping_has_the_same_keys_in_the_schema_and_in_the_parser(mapping: str) -> None:
    assert set(schema_of(mapping)["properties"]) == set(KEYS[mapping])


@pytest.mark.parametrize("mapping", sorted(set(KEYS) - {"condition"}))
def test_other_keys_are_refused_but_for_the_author_s_own(mapping: str) -> None:
    schema = schema_of(mapping)
    assert schema["additionalProperties"] is False
    assert "^x-" in schema["patternProperties"]


class Refusing:
    """Nothing that is given to the schema has a mistake of YAML's."""

    def __call__(self, *words: object, **more: object) -> None:
        raise AssertionError(f"no YAML: {words} {more}")


def read(text: str) -> Any:
    """As our own reader does: libraries differ in what they take for YAML."""
    root = compose_document(text, Refusing())
    assert root is not None
    return construct(root, Refusing())


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes(child)


def test_the_schema_is_a_schema() -> None:
    Draft7Validator.check_schema(SCHEMA)


def test_every_reference_leads_somewhere_and_every_definition_is_used() -> None:
    used = {node["$ref"].rpartition("/")[2] for node in nodes(SCHEMA) if isinstance(node.get("$ref"), str)}
    assert used == set(DEFINITIONS)


def test_every_key_is_described() -> None:
    def resolved(node: dict[str, Any]) -> dict[str, Any]:
        return {**DEFINITIONS[node["$ref"].rpartition("/")[2]], **node} if "$ref" in node else node

    bare = [
        key
        for node in [SCHEMA, *DEFINITIONS.values()]
        for inner in nodes(node)
        if inner.get("type") == "object" and isinstance(inner.get("properties"), dict)
        for key, schema in inner["properties"].items()
        if not resolved(schema).get("description")
    ]
    assert bare == []


WHOLE = "flow: F\nchannels: {c: string}\nstart: A\n"


@pytest.mark.parametrize("path", sorted((ROOT / "flows").rglob("*.flow.yaml")), ids=lambda path: path.name)
def test_every_example_fits_the_schema(path: Path) -> None:
    errors = Draft7Validator(SCHEMA).iter_errors(read(path.read_text(encoding="utf-8")))
    assert [error.message for error in errors] == []


@pytest.mark.parametrize(
    "step",
    [
        "{}",
        "{go_to: A, dead_end: true}",
        "{dead_end: false}",
        "{dead_end: true, otherwise: {dead_end: true}}",
        "{decide: [], dead_end: true}",
        "{decide: [{when: true}]}",
        "{decide: [{dead_end: true}], when: true}",
        "{dead_end: true, retries: 3}",
        "{go_to: {input: 1}}",
        "{go_to_many: []}",
        "{force_complete_if_channels_empty: {channels: [], otherwise: {dead_end: true}}}",
        "{force_complete_if_channels_empty: {channels: [c]}}",
        "{dead_end: true, cancel: B}",
        "{dead_end: true, result: {nam: r}}",
        "{dead_end: true, execute: {timeout: 1s}}",
        "{dead_end: true, execute: {handler: f, timeout: soon}}",
        "{dead_end: true, execute: {handler: f, retry: {maximum_attempts: -1}}}",
        "{dead_end: true, execute: {handler: f, durability: maybe}}",
        "{dead_end: true, wait_for: {until: {channel: c}, any_of: [{channel: c}]}}",
        "{dead_end: true, wait_for: {until: {channel: c, for: 1, at_least: 1}}}",
        "{dead_end: true, wait_for: {until: {channel: c, for: -1}}}",
        "{dead_end: true, wait_for: {until: {timer: 1s, channel: c}}}",
        "{dead_end: true, wait_for: {until: {id: x}}}",
        "{dead_end: true, wait_for: {until: {channel: c}, timeout: 1s}}",
        "{dead_end: true, wait_for: {any_of: []}}",
        "{dead_end: true, wait_for: {any_combination_of: [[c]]}}",
        "{dead_end: true, wait_for: {any_combination_of: [[c]], conditions: {c: {channel: c, id: d}}}}",
        "{dead_end: true, publish: [{channel: c}]}",
        "{decide: [{when: '${true}', dead_end: true}]}",
    ],
)
def test_schema_and_parser_refuse_the_same(step: str) -> None:
    text = f"{WHOLE}steps:\n  A: {step}\n"
    _, problems = parse(text, "x.flow.yaml")
    assert problems != []
    assert not Draft7Validator(SCHEMA).is_valid(read(text))


@pytest.mark.parametrize(
    ("line", "is_taken"),
    [
        ("version: 1.1", True),
        ("version: v1", True),
        ("version: true", False),
        ("input: true", True),
        ("output: false", True),
        ("types: {T: true}", True),
        ("types: {T: string}", False),
        ("attributes: {a: true}", True),
        ("attributes: {a: {type: true}}", True),
        ("joins: {j: false}", True),
        ("joins: {j: [string]}", False),
        ("steps: {B: {input: ['${1}'], dead_end: true}}", False),
        ("steps: {B: {wait_for: {until: {timer: ['${1}']}}, dead_end: true}}", False),
        ("steps: {B: {wait_for: {until: {timer_at: {a: '${1}'}}}, dead_end: true}}", False),
    ],
)
def test_schema_and_parser_agree_on_a_flow(line: str, is_taken: bool) -> None:
    text = f"flow: F\n{line}\n"
    _, problems = parse(text, "x.flow.yaml")
    assert (problems == []) == is_taken
    assert Draft7Validator(SCHEMA).is_valid(read(text)) == is_taken


@pytest.mark.parametrize(
    "step",
    [
        "{dead_end: true}",
        "{dead_end: true, x-owner: me}",
        "{go_to_many: [A, {step: A, when: 'true'}], otherwise: {dead_end: true}}",
        "{decide: [{when: true, dead_end: true}]}",
        "{graceful_complete: }",
        "{dead_end: true, publish: [{channel: c, value: x, when: 'true'}]}",
        "{dead_end: true, wait_for: {}}",
        "{dead_end: true, wait_for: {all_of: []}}",
        "{dead_end: true, wait_for: {until: {channel: c, at_least: 0, at_most: '${1 + 1}'}}}",
        "{dead_end: true, wait_for: {any_of: [{timer: PT1H}, {timer_at: 1900000000}, {timer: 90}]}}",
        "{dead_end: true, wait_for: {any_combination_of: [[a]], conditions: {a: {channel: c}}}}",
        "{dead_end: true, wait_for: {local: {n: 1}, publish: {c: x}}}",
    ],
)
def test_schema_and_parser_accept_the_same(step: str) -> None:
    text = f"{WHOLE}steps:\n  A: {step}\n"
    _, problems = parse(text, "x.flow.yaml")
    assert [problem.concise() for problem in problems] == []
    errors = Draft7Validator(SCHEMA).iter_errors(read(text))
    assert [error.message for error in errors] == []
