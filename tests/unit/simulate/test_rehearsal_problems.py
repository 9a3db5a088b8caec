"""Mistakes in rehearsal files, each at its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from orchestrator.definition.parse import read_document
from orchestrator.simulate import forms
from orchestrator.simulate.rehearsal import find_rehearsals, read_rehearsals, slug
from tests.support.rehearsing import problems_of, write

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "schemas" / "rehearsal.schema.json").read_text(encoding="utf-8"))

FLOW = """
flow: F
handlers: handlers.nowhere
input: integer
attributes: {status: string, progress: {type: string, map: true}}
channels: {token: string, answer: {type: string, external: true}, mail: {type: string, map: true}}
start: Charge
steps:
  Charge:
    wait_for: {any_of: [{channel: answer}, {timer: 1h, id: hour}, {subflow: Child}]}
    execute: {handler: charge, may: {publish: [token]}}
    decide: [{choice: paid, dead_end: true}, {go_to: Ship}]
  Ship: {dead_end: true}
rpcs: {approve: {publish: {token: x}}}
"""

CASES = {
    "nonsense: 1": ["1:1 SCH001 unknown key `nonsense` in the file"],
    "rehearsals: []": ["1:13 SCH013 `rehearsals` is empty"],
    "flow: other.flow.yaml\nrehearsals: [{name: a}]": "RHS004 there is no flow",
    "rehearsals: [{input: 1}]": ["1:14 SCH002 a rehearsal needs `name`"],
    "rehearsals: [{name: a}]": ["1:21 TYP002 input of F: expected integer, got null"],
    "rehearsals: [{name: a, input: x}]": ['1:31 TYP002 input of F: expected integer, got string "x"'],
    "rehearsals: [{name: a, inptu: 1}]": ["1:24 SCH001 unknown key `inptu` in a rehearsal"],
    "rehearsals: [{name: a, input: 1}, {name: a, input: 1}]": ["1:42 SCH014 there are two rehearsals `a`"],
}

PARTS = {
    "handlers: {Chrge: {}}": "RHS001 the flow has no handler `Chrge`",
    "handlers: {Ship: {}}": "RHS001 step `Ship` has no `execute` handler to script",
    "handlers: {Charge.wait_for: {}}": "RHS001 the wait of `Charge` has no handler to script",
    "handlers: {rpc.approve: {}}": "RHS001 RPC `approve` has no handler to script",
    "handlers: {Charge: 5}": "SCH003 a reply is a mapping, not `5`",
    "handlers: {Charge: {return: 1}}": "SCH001 unknown key `return` in a reply of `Charge`",
    "handlers: {Charge: {raises: X, returns: 1}}": "SCH005 `returns` and `raises` cannot stand together",
    "handlers: {Charge: {message: x}}": "SCH008 `message` belongs to `raises`",
    "handlers: {Charge: {choose: payed}}": "SCH009 `choose` is one of `paid`, not `payed`",
    "handlers: {Charge: {publish: {mail: {k: x}}}}": "RHS002 handler charge does not declare that it may",
    "handlers: {Charge: {publish: {tokn: x}}}": "REF002 no channel `tokn` is declared",
    "handlers: {Charge: {set: {progress: x}}}": "SCH003 attribute `progress` is a map: write its entries",
    "handlers: {Charge: {takes: 5 min}}": "SCH004 `takes`: `5 min` is not a duration",
    "events: [{stop: cancel}]": "SCH002 an event says when it happens",
    "events: [{at: 1h}]": "SCH002 an event says what a client does",
    "events: [{at: 1h, stop: now}]": "SCH009 `stop` is one of `cancel`, `fail`, `terminate`, not `now`",
    "events: [{at: 1h, publish: {token: x}}]": "RHS003 clients cannot publish to `token`",
    "events: [{at: 1h, publish: {answer: x}, rpc: approve}]": "SCH005 `rpc` and `publish` cannot",
    "events: [{at: 1h, rpc: aprove}]": "REF022 no rpc `aprove` is declared",
    "events: [{at: 1h, publish: {answer: x}, input: 1}]": "SCH008 `input` belongs to `rpc`",
    "events: [{after: Charge, stop: cancel}]": "SCH012 `Charge` is a step, not one of its executions",
    "events: [{after: Chrge-1, stop: cancel}]": "REF001 no step `Chrge` is declared",
    "events: [{at: 1h, skip_timer: true}]": "SCH002 `skip_timer` needs to know whose timer",
    "subflows: {Chld: {}}": "REF005 no step waits for a subflow `Chld`",
    "subflows: {Child: {status: FAILED, output: 1}}": "SCH008 `output` has no place here",
    "expect: {stat: DONE}": "SCH001 unknown key `stat` in `expect`",
    "expect: {status: DONE}": "SCH009 `status` is one of",
    "expect: {path: [Charge]}": "SCH012 `Charge` is a step, not one of its executions",
    "expect: {counts: {Chargee: 1}}": "REF001 no step `Chargee` is declared",
    "expect: {attributes: {stats: 1}}": "REF003 no attribute `stats` is declared",
    "expect: {messages: {mail: [x]}}": "SCH003 the unread messages of `mail` is a mapping",
    "expect: {took: soon}": "SCH004 `took`: `soon` is not a duration",
    "expect: {error: {type: boom}}": "SCH009 the type of the error is one of",
}


@pytest.mark.parametrize("text", CASES)
def test_a_mistake_of_a_file_is_reported(text: str, tmp_path: Path) -> None:
    expected = CASES[text]
    found = problems_of(tmp_path, FLOW, text)
    if isinstance(expected, str):
        assert len(found) == 1 and expected in found[0]
    else:
        assert found == expected


@pytest.mark.parametrize("part", PARTS)
def test_a_mistake_of_a_rehearsal_is_reported(part: str, tmp_path: Path) -> None:
    (found,) = problems_of(tmp_path, FLOW, f"rehearsals:\n  - name: a\n    input: 1\n    {part}\n")
    assert PARTS[part] in found
    assert found.startswith("4:")


def test_mistakes_of_the_flow_are_shown_too(tmp_path: Path) -> None:
    path = write(tmp_path, "flow: F\nstart: A\nsteps: {}\n", "rehearsals: [{name: a}]")
    assert {problem.code for problem in read_rehearsals(path).problems} == {"REF001"}


def test_unreadable_files_are_problems(tmp_path: Path) -> None:
    (problem,) = read_rehearsals(tmp_path / "none.rehearsal.yaml").problems
    assert (problem.code, problem.message) == ("YML013", "the file cannot be read: No such file or directory")


def test_a_flow_stands_for_the_rehearsals_beside_it(tmp_path: Path) -> None:
    path = write(tmp_path, FLOW, "rehearsals: [{name: a, input: 1}]")
    assert find_rehearsals([tmp_path / "test.flow.yaml", path, tmp_path]) == [path]


def test_flow_ids_are_made_of_names() -> None:
    assert slug("a reviewer withdraws: 50/50?") == "a-reviewer-withdraws-50-50"


# --- The schema says the same -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("definition", "keys"),
    [
        ("rehearsal", forms.REHEARSAL),
        ("reply", (*forms.EXECUTE_REPLY, *forms.WAIT_FOR_REPLY)),
        ("child", forms.CHILD),
        ("event", forms.EVENT),
        ("answer", forms.ANSWER),
        ("expect", forms.EXPECT),
    ],
)
def test_the_schema_has_the_keys_that_are_read(definition: str, keys: tuple[str, ...]) -> None:
    assert set(SCHEMA["definitions"][definition]["properties"]) == set(keys)


def test_the_schema_has_the_keys_of_a_file() -> None:
    assert set(SCHEMA["properties"]) == set(forms.FILE)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "flows").rglob("*.rehearsal.yaml")), ids=lambda path: path.name
)
def test_rehearsals_of_the_examples_fit_the_schema(path: Path) -> None:
    _, document, problems = read_document(path.read_text(encoding="utf-8"), str(path))
    assert problems == []
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(document)] == []
