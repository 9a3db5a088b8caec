"""Fixes that write what is missing: never safe, and what they leave is taken and free of the problem."""

from __future__ import annotations

from textwrap import dedent

import pytest

from orchestrator.definition.parse import parse
from orchestrator.lint.fixing import apply_fixes, fix_text
from orchestrator.lint.runner import lint_text
from tests.support.contract_edit_variants import text_of
from tests.support.linted import fixed, found

# --- JON004: reports ---------------------------------------------------------------------------------------

ROUND = """
flow: Round
handlers: h
input: list of string
joins: {{done: {join}}}
start: Begin
steps:
  Begin:
    go_to_many: [{{step: Work, for_each: "${{input}}"}}, Collect]
    join: done
  Collect: {{wait_for: {{until: {{join: done}}}}, graceful_complete: }}
  Work:
    input: string
    execute: work
    result: {{name: made, type: {result}}}
    decide:
      - {{when: made == 1, report: {{done: {reported}}}, dead_end: true}}
      - {exit}
  Log: {{dead_end: true}}
"""


def rounds(
    exit: str = "dead_end: true",
    *,
    join: str = "integer",
    result: str = "integer",
    reported: str = '"${made}"',
) -> str:
    return ROUND.format(join=join, result=result, reported=reported, exit=exit)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (rounds(reported="7"), "report: {done: 7}"),
        (rounds(), 'report: {done: "${made}"}'),
        (rounds(join="string", reported="'${input}'"), 'report: {done: "${input}"}'),
        (rounds(join="boolean or none", reported="'${made > 1}'"), "report: {done: null}"),
    ],
    ids=["what all others write", "the result", "the input", "null"],
)
def test_a_missing_report_is_written_with_a_value_of_the_join_s_type(text: str, written: str) -> None:
    (problem,) = found(text, "JON004")
    assert problem.fix is not None and not problem.fix.is_safe
    assert fixed(text, "JON004") == text.replace("- dead_end: true", f"- {written}\n        dead_end: true")
    assert found(fixed(text, "JON004"), "JON") == []


def test_without_a_value_of_that_type_no_report_is_proposed() -> None:
    (problem,) = found(rounds(join="boolean", reported="'${made > 1}'"), "JON004")
    assert problem.fix is None


@pytest.mark.parametrize(
    ("need", "is_mended"), [("all", True), ("2", True), ("active", False), ("first", False)]
)
def test_where_a_branch_may_end_without_a_report_none_is_proposed(need: str, *, is_mended: bool) -> None:
    (problem,) = found(rounds().replace("{join: done}}", f"{{join: done, need: {need}}}}}"), "JON004")
    assert (problem.fix is not None) == is_mended


@pytest.mark.parametrize("exit", ["go_to: Log", "{go_to_many: [Log, Log]}", "{publish: {}, dead_end: true}"])
def test_a_branch_that_goes_on_reports_before_it_does(exit: str) -> None:
    text = rounds(exit)
    mended = fixed(text, "JON004")
    assert 'report: {done: "${made}"}' in mended
    assert found(mended, "JON") == []


def failing(log: str, rest: str = "") -> str:
    text = rounds('{report: {done: "${made}"}, dead_end: true}', join="integer or none")
    text = text.replace("    execute: work\n", "    execute: work\n    on_failure: Log\n")
    return text.replace("Log: {dead_end: true}", f"Log: {log}") + rest


@pytest.mark.parametrize("end", ["dead_end: true", "graceful_complete: "])
def test_a_recovery_step_that_only_ends_its_branch_reports_first(end: str) -> None:
    mended = fixed(failing(f"{{{end}}}"), "JON004")
    assert mended == failing(f"{{report: {{done: null}}, {end}}}")
    assert found(mended, "JON") == []


@pytest.mark.parametrize(
    "text",
    [
        failing("{go_to: End}", "  End: {dead_end: true}\n"),
        failing("{decide: [{when: failure.attempts > 1, dead_end: true}, {dead_end: true}]}"),
        failing("{dead_end: true}", "rpcs: {log: {go_to: Log}}\n"),
        failing("{dead_end: true}").replace(
            "{join: done}}, graceful", "{join: done}}, on_failure: Log, graceful"
        ),
    ],
    ids=["goes on", "two ends", "an RPC starts it", "another step fails over to it"],
)
def test_a_recovery_step_that_may_have_other_business_is_left_alone(text: str) -> None:
    assert [problem.fix for problem in found(text, "JON004")] == [None]


def test_a_missing_message_that_a_wait_counts_is_written() -> None:
    text = text_of("no report in Release")
    (problem,) = found(text, "JON004")
    assert problem.fix is not None and not problem.fix.is_safe
    mended = fixed(text, "JON004")
    assert 'contractEditFinished: "${record}"' in mended
    assert [problem.code for problem in found(mended, "JON")] == []


# --- JON008: a branch goes to the joining step -------------------------------------------------------------


@pytest.mark.parametrize(
    ("exit", "written"),
    [
        ("go_to: Collect", 'report: {done: "${made}"}\n        dead_end: true'),
        ("{go_to: Collect}", '{report: {done: "${made}"}, dead_end: true}'),
    ],
    ids=["block", "flow"],
)
@pytest.mark.parametrize("is_beside", [True, False])
def test_a_branch_that_goes_to_the_joining_step_reports_instead(
    exit: str, written: str, *, is_beside: bool
) -> None:
    good = rounds(written)
    bad = rounds(exit) if is_beside else rounds(exit).replace(", Collect]", "]")
    problem = found(bad, "JON008")[0]
    assert problem.fix is not None and not problem.fix.is_safe
    assert fixed(bad, "JON008") == good
    assert found(good, "JON") == []


def test_a_branch_that_has_reported_just_ends() -> None:
    bad = rounds('{report: {done: "${made}"}, go_to: Collect}')
    assert fixed(bad, "JON008") == rounds('{report: {done: "${made}"}, dead_end: true}')


def test_fixes_together_lead_to_a_flow_without_problems() -> None:
    bad = rounds("go_to: Collect").replace(", Collect]", "]").replace("made == 1", "mde == 1")
    mended = fix_text(bad, "round.flow.yaml", lambda problem: True).after
    assert [
        problem.concise() for problem in lint_text(mended, "round.flow.yaml") if "JON" in problem.code
    ] == []
    assert 'report: {done: "${made}"}\n        dead_end: true' in mended


def test_a_joining_step_that_takes_an_input_is_not_started_by_a_fix() -> None:
    text = rounds("go_to: {step: Collect, input: 1}").replace(", Collect]", "]")
    text = text.replace("Collect: {wait_for", "Collect: {input: integer, wait_for")
    assert [problem.fix for problem in found(text, "JON008")] == [None]


@pytest.mark.parametrize(
    "rest", ["rpcs: {look: {go_to: Collect}}\n", "timeout: 1h\non_timeout: {go_to: Collect}\n"]
)
def test_who_is_in_no_branch_cannot_report_instead(rest: str) -> None:
    text = rounds('{report: {done: "${made}"}, dead_end: true}') + rest
    assert [problem.fix for problem in found(text, "JON008")] == [None]


# --- TOK001: no first token --------------------------------------------------------------------------------


def test_a_token_that_nobody_seeds_is_published_where_the_run_starts() -> None:
    text = text_of("no seed in StartContractEdits")
    (problem,) = found(text, "TOK001")
    assert problem.fix is not None and not problem.fix.is_safe
    mended = fixed(text, "TOK001")
    assert mended.replace("\n", "").find("contractEditToken: contract") > 0
    assert found(mended, "TOK") == []


SECTION = """
flow: Edits
handlers: edits
channels: {{pen: none}}
start: Begin
steps:
  Begin: {begin}
  Take: {{wait_for: {{until: {{channel: pen}}}}, go_to: Write}}
  Write: {{execute: write, on_failure: GiveUp, publish: {{pen: null}}, {after}}}
  GiveUp: {{publish: {{pen: null}}, graceful_complete: }}
"""


def test_every_way_out_of_the_start_step_that_leads_to_the_section_seeds() -> None:
    begin = "{decide: [{when: now > run.started_at, go_to_many: [Take, Take]}, {go_to: Take}]}"
    text = SECTION.format(begin=begin, after="graceful_complete: ")
    mended = fixed(text, "TOK001")
    assert mended.count("publish: {pen: null}, go_to") == 2
    assert found(mended, "TOK") == []


def test_a_start_step_that_runs_again_is_no_place_to_seed() -> None:
    text = SECTION.format(begin="{go_to_many: [Take, Take]}", after="go_to: Begin")
    assert [problem.fix for problem in found(text, "TOK001")] == [None]


# --- FAI002: no failure route ------------------------------------------------------------------------------


def test_the_failure_route_of_the_others_in_the_section_is_taken_over() -> None:
    text = text_of("no failure route on Save")
    (problem,) = found(text, "FAI002")
    assert problem.fix is not None and not problem.fix.is_safe
    mended = fixed(text, "FAI002")
    assert sorted(mended.splitlines()) == sorted(text_of("correct").splitlines())
    assert found(mended, "FAI") == []


@pytest.mark.parametrize(
    "recovery", ["{input: string, publish: {pen: null}, graceful_complete: }", "{dead_end: true}"]
)
def test_a_route_that_cannot_take_the_input_or_keeps_the_token_is_not_proposed(recovery: str) -> None:
    text = SECTION.format(begin="{publish: {pen: null}, go_to_many: [Take, Take]}", after="go_to: Last")
    text = text.replace("publish: {pen: null}, go_to: Last", "go_to: Last").replace(
        "  GiveUp: {publish: {pen: null}, graceful_complete: }\n",
        f"  GiveUp: {recovery}\n  Last: {{execute: last, publish: {{pen: null}}, graceful_complete: }}\n",
    )
    if "input" in recovery:
        text = text.replace("on_failure: GiveUp, ", "")
    assert [problem.fix for problem in found(text, "FAI002")][-1:] == [None]


# --- EXP001: misspelt names in expressions -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("${inptu.reviewer}", "${input.reviewer}"),
        ("${input.reviewr}", "${input.reviewer}"),
        ("by ${ input.?reviewr.orValue('x') }!", "by ${ input.?reviewer.orValue('x') }!"),
        ("${sizes(input.reviewer)}", "${size(input.reviewer)}"),
        ("${input.reviewer.startWith('a')}", "${input.reviewer.startsWith('a')}"),
        ("${attributes.cuont}", "${attributes.count}"),
    ],
)
def test_a_misspelt_name_in_an_expression_is_mended(wrong: str, right: str) -> None:
    text = dedent("""\
        flow: F
        types: {Edit: {type: object, required: [reviewer], properties: {reviewer: {type: string}}}}
        input: Edit
        attributes: {count: integer}
        start: A
        steps:
          A:
            graceful_complete: "WRONG"
        """)
    bad = text.replace("WRONG", wrong)
    (problem,) = lint_text(bad, "f.flow.yaml")
    assert problem.code == "EXP001"
    assert problem.fix is not None and not problem.fix.is_safe
    mended = apply_fixes(bad, [problem.fix])
    assert mended == text.replace("WRONG", right)
    assert parse(mended, "f.flow.yaml")[1] == []


@pytest.mark.parametrize("wrong", ["${nothing}", "${input.x}", "${wait.a}"])
def test_a_name_that_is_near_to_none_is_left_alone(wrong: str) -> None:
    text = "flow: F\ninput: {type: object, properties: {reviewer: {type: string}}}\nstart: A\n"
    _, problems = parse(text + f'steps:\n  A: {{graceful_complete: "{wrong}"}}\n', "f.flow.yaml")
    assert [(problem.code, problem.fix) for problem in problems] == [("EXP001", None)]
