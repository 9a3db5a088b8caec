"""JON: branches that do not report, steps that face nothing, counts that do not fit."""

from __future__ import annotations

import pytest

from tests.support.linted import found

ROUND = """
flow: Round
handlers: h
input: list of string
joins: {{done: none, inner: none}}
start: Begin
steps:
  Begin:
    go_to_many:
      - {{step: Work, for_each: "${{input}}"}}
      - Collect
      {more}
    join: done
  Collect:
    wait_for: {{until: {{join: done, need: {need}}}}}
    graceful_complete:
  Work: {work}
"""


def rounds(work: str, steps: str = "", *, need: str = "all", more: str = "") -> str:
    return ROUND.format(work=work, need=need, more=more) + steps


REPORTS = "{input: string, execute: work, report: {done: null}, dead_end: true}"


def test_a_branch_that_reports_on_every_way() -> None:
    assert found(rounds(REPORTS), "JON") == []


def test_an_exit_without_a_report() -> None:
    work = """
    input: string
    decide:
      - {when: input == 'a', report: {done: null}, dead_end: true}
      - dead_end: true
"""
    (problem,) = found(rounds(work), "JON")
    assert (problem.code, problem.severity) == ("JON004", "error")
    assert problem.message == (
        "`Work` ends its branch and does not report to `done`: `need: all` can then never hold"
    )


def test_a_failure_route_without_a_report() -> None:
    work = "{input: string, execute: work, on_failure: Note, report: {done: null}, dead_end: true}"
    (problem,) = found(rounds(work, "  Note: {dead_end: true}\n"), "JON")
    assert problem.code == "JON004"
    assert "goes on to `Note`" in problem.message


def test_a_failure_route_given_by_a_movement() -> None:
    work = "{input: string, go_to: {step: Next, options: {on_failure: Note}}}"
    steps = """\
  Next: {execute: work, on_failure: Tell, report: {done: null}, dead_end: true}
  Tell: {report: {done: null}, dead_end: true}
  Note: {dead_end: true}
"""
    assert [problem.code for problem in found(rounds(work, steps), "JON")] == ["JON004"]


@pytest.mark.parametrize(("need", "severity"), [("active", "info"), ("first", "info"), ("2", "warning")])
def test_where_not_all_are_needed_a_missing_report_is_no_error(need: str, severity: str) -> None:
    work = """
    input: string
    decide:
      - {when: input == 'a', report: {done: null}, dead_end: true}
      - dead_end: true
"""
    assert [problem.severity for problem in found(rounds(work, need=need), "JON004")] == [severity]


def test_a_timer_beside_the_join_ends_the_wait_all_the_same() -> None:
    work = """
    input: string
    decide:
      - {when: input == 'a', report: {done: null}, dead_end: true}
      - dead_end: true
"""
    text = rounds(work).replace("{until: {join: done, need: all}}", "{any_of: [{join: done}, {timer: 1h}]}")
    assert [problem.severity for problem in found(text, "JON004")] == ["warning"]


@pytest.mark.parametrize(
    "work",
    [
        "{input: string, go_to_many: [Log, Report]}",
        "{input: string, report: {done: null}, go_to: Log}",
        "{input: string, execute: work, force_fail: no}",
        "{input: string, go_to: Loop}",
    ],
    ids=["fire and forget beside", "goes on after the report", "run fails", "loop"],
)
def test_a_branch_that_misses_nothing(work: str) -> None:
    steps = """\
  Log: {dead_end: true}
  Report: {report: {done: null}, dead_end: true}
  Loop:
    wait_for: {until: {timer: 1m}}
    decide:
      - {when: now > run.started_at, go_to: Report}
      - go_to: Loop
"""
    text = rounds(work, steps)
    assert [problem for problem in found(text, "JON") if "never report" not in problem.message] == []


def test_a_branch_that_can_report_to_nobody() -> None:
    (problem,) = found(rounds(REPORTS, "  Log: {dead_end: true}\n", more="- Log"), "JON")
    assert problem.message == "`Log` is a branch of `done` and can never report to it"
    assert (
        found(rounds(REPORTS, "  Log: {dead_end: true}\n", more="- {step: Log, branch: false}"), "JON") == []
    )


NESTED = """\
  Part: {report: {inner: null}, dead_end: true}
  Both:
    wait_for: {until: {join: inner}}
    report: {done: null}
    dead_end: true
"""


def test_a_round_inside_a_branch() -> None:
    assert found(rounds("{input: string, go_to_many: [Part, Part, Both], join: inner}", NESTED), "JON") == []


def test_a_report_to_the_inner_round_is_none_to_the_outer() -> None:
    steps = NESTED.replace("    report: {done: null}\n", "")
    problems = found(rounds("{input: string, go_to_many: [Part, Part, Both], join: inner}", steps), "JON")
    assert "`Work` is a branch of `done` and can never report to it" in [p.message for p in problems]


def test_a_round_of_the_same_join_inside_a_branch() -> None:
    steps = """\
  Half: {report: {done: null}, dead_end: true}
  Sum:
    wait_for: {until: {join: done}}
    dead_end: true
"""
    work = "{input: string, go_to_many: [Half, Half, Sum], join: done}"
    assert "JON004" in {problem.code for problem in found(rounds(work, steps), "JON")}
    good = steps.replace("    dead_end: true\n", "    report: {done: null}\n    dead_end: true\n")
    assert found(rounds(work, good), "JON") == []


def test_a_branch_that_goes_back_to_its_split() -> None:
    work = """
    input: string
    decide:
      - {when: input == 'a', go_to: {step: Begin, input: []}}
      - {report: {done: null}, dead_end: true}
"""
    text = rounds(work).replace("  Begin:\n", "  Begin:\n    input: list of string\n")
    assert {problem.code for problem in found(text, "JON")} == {"JON007"}


def test_a_joining_step_that_begins_the_next_round() -> None:
    again = """\
    decide:
      - {when: now > run.started_at, go_to: {step: Begin, input: []}}
      - graceful_complete:
"""
    text = rounds(REPORTS).replace("    graceful_complete:\n", again)
    text = text.replace("  Begin:\n", "  Begin:\n    input: list of string\n")
    assert found(text, "JON") == []


# --- JON008 ------------------------------------------------------------------------------------------------


def test_a_branch_that_goes_to_the_joining_step() -> None:
    (problem,) = found(rounds("{input: string, execute: work, go_to: Collect}"), "JON008")
    assert problem.severity == "error"


def test_a_joining_step_that_an_rpc_starts() -> None:
    rpc = rounds(REPORTS) + "rpcs: {look: {go_to: Collect}}\n"
    (problem,) = found(rpc, "JON008")
    assert problem.message == "`Collect` waits on `done` and is entered here facing no round of it"


def test_what_follows_the_joining_step_faces_the_round_too() -> None:
    steps = """\
  Again: {wait_for: {until: {join: done, need: active}}, graceful_complete: }
"""
    text = rounds(REPORTS, steps).replace("    graceful_complete:\n", "    go_to: Again\n", 1)
    assert found(text, "JON008") == []


def test_a_branch_of_another_join_faces_nothing() -> None:
    steps = """\
  Part: {wait_for: {until: {join: done}}, report: {inner: null}, dead_end: true}
  Both: {wait_for: {until: {join: inner}}, graceful_complete: }
"""
    text = rounds(REPORTS, steps).replace(
        "    graceful_complete:\n", "    go_to_many: [Part, Part, Both]\n    join: inner\n", 1
    )
    assert len(found(text, "JON008")) == 1


def test_a_join_condition_that_may_be_left_out() -> None:
    text = rounds("{input: string, execute: work, go_to: Collect}").replace(
        "{join: done, need: all}", "{join: done, when: now > run.started_at}"
    )
    assert found(text, "JON008") == []


# --- Counts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("need", "count"), [("3", 1), ("2", 0), ("first", 0), ("all", 0)])
def test_a_need_of_more_reports_than_branches(need: str, count: int) -> None:
    text = rounds("{report: {done: null}, dead_end: true}", need=need).replace(
        '{step: Work, for_each: "${input}"}', "Work\n      - Work"
    )
    assert len(found(text, "JON003")) == count


COUNT = """
flow: Count
types:
  Input:
    type: object
    required: [edits, editors, count]
    properties:
      edits: {{type: array, items: {{type: string}}}}
      editors: {{type: array, items: {{type: string}}}}
      count: {{type: integer}}
input: Input
channels: {{done: string}}
start: Begin
steps:
  Begin:
    go_to_many:
      - {{step: Work, for_each: "${{input.edits}}"}}
      - {{step: Collect, input: "{count}"}}
      {more}
  Collect:
    input: integer
    wait_for: {wait}
    graceful_complete:
  Work: {work}
"""
UNTIL = '{until: {channel: done, for: "${input}"}}'
PUBLISHES = "{input: string, publish: {done: work}, dead_end: true}"


def count(
    *,
    count: str = "${size(input.edits)}",
    wait: str = UNTIL,
    work: str = PUBLISHES,
    more: str = "",
    rest: str = "",
) -> str:
    return COUNT.format(count=count, wait=wait, work=work, more=more) + rest


@pytest.mark.parametrize(
    "text",
    [
        count(count="${size(input.edits) + 1}"),
        count(count="${size(input.edits) - 1}"),
        count(count="${input.count}"),
        count(count="${size(input.editors)}"),
        count(wait='{until: {channel: done, for: "${input + 1}"}}'),
        count(more="- {step: Work, input: one more}"),
    ],
    ids=["plus one", "minus one", "another count", "another list", "plus one at the wait", "one more branch"],
)
def test_a_count_that_is_not_the_number_of_branches(text: str) -> None:
    assert [problem.code for problem in found(text, "JON")] == ["JON003"]


@pytest.mark.parametrize(
    "text",
    [
        count(),
        count(count="${size(input.edits) + 1}", more="- {step: Work, input: one more}"),
        count(count="${size(run.flow_id)}"),
        count(wait="{until: {channel: done, for: 2}}"),
        count(count="${size(input.editors)}", rest="rpcs: {more: {publish: {done: call}}}\n"),
    ],
    ids=["equal", "one more of both", "not comparable", "a quorum", "others publish too"],
)
def test_a_count_that_may_be_meant_so(text: str) -> None:
    assert found(text, "JON003") == []


LEAVES = """
    input: string
    decide:
      - {when: input == 'a', publish: {done: work}, dead_end: true}
      - dead_end: true
"""


def test_a_branch_that_publishes_nothing_for_the_counting_wait() -> None:
    (problem,) = found(count(work=LEAVES), "JON")
    assert (problem.code, problem.severity) == ("JON004", "error")
    assert problem.message == "`Work` ends its branch without publishing `done`, for which `Collect` waits"


def test_a_counting_wait_with_a_timer_beside_does_not_wait_for_ever() -> None:
    wait = '{any_of: [{channel: done, for: "${input}"}, {timer: 1h}]}'
    assert [problem.severity for problem in found(count(work=LEAVES, wait=wait), "JON004")] == ["warning"]


def test_a_branch_may_end_the_wait_by_another_channel_instead() -> None:
    wait = '{any_of: [{channel: done, for: "${input}"}, {channel: failed}]}'
    work = LEAVES.replace("      - dead_end: true", "      - {publish: {failed: work}, dead_end: true}")
    text = count(work=work, wait=wait).replace("{done: string}", "{done: string, failed: string}")
    assert found(text, "JON") == []


def test_a_branch_that_publishes_twice() -> None:
    steps = "  More: {publish: {done: more}, dead_end: true}\n"
    text = count(work="{input: string, publish: {done: work}, go_to: More}", rest=steps)
    (problem,) = found(text, "JON")
    assert (problem.code, problem.severity) == ("JON005", "warning")


def test_a_quorum_counts_on_branches_that_publish_nothing() -> None:
    assert found(count(work=LEAVES, wait="{until: {channel: done, for: 2}}"), "JON") == []


def test_one_branch_is_told_as_one() -> None:
    text = """
        flow: F
        channels: {d: string}
        start: S
        steps:
          S: {go_to_many: [A, B, K]}
          A: {execute: h, publish: {d: x}, dead_end: true}
          B: {execute: h, dead_end: true}
          K: {wait_for: {until: {channel: d, for: 2}}, graceful_complete: }
    """
    (problem,) = found(text, "JON003")
    assert problem.message == "`K` awaits 2 messages of `d`, and 1 branch is started that publishes one"
