"""What verification finds, as problems of the linter's kind."""

from __future__ import annotations

from orchestrator.verify.problems import Replay, bounds_text, undecided, violation, violations
from orchestrator.verify.report import (
    Counterexample,
    Event,
    EventKind,
    FlowReport,
    PropertyReport,
    Stuck,
    Verdict,
)
from tests.support.play import flow_of

FLOW = flow_of("""
    flow: Small
    start: A
    steps:
      A: {wait_for: {until: {channel: c}}, graceful_complete: }
    channels: {c: {type: string, external: true}}
    """)
EVENT = Event(EventKind.SATISFIED, "A", "A-1", ("steps", "A", "wait_for"))
COUNTEREXAMPLE = Counterexample(
    (EVENT,), stuck=(Stuck("A", "A-1", "waits for c", ("steps", "A", "wait_for")),), active=("A-1",)
)


def found(
    verdict: Verdict, name: str = "deadlock", counterexample: Counterexample | None = None
) -> PropertyReport:
    also = ((("channels", "c"), "declared here"),)
    return PropertyReport(
        name, "VER001", verdict, f"about {name}", ("steps", "A"), also, "mend it", counterexample, "warning"
    )


def report(*properties: PropertyReport) -> FlowReport:
    return FlowReport(FLOW, Verdict.VIOLATED, 1234, 0.5, (0, 2), {"c": (0, 2), "d": (1, 1)}, properties)


def test_a_violation_has_place_labels_help_and_trace() -> None:
    each = found(Verdict.VIOLATED, counterexample=COUNTEREXAMPLE)
    problem = violation(report(each), each)
    assert (problem.code, problem.severity, problem.flow) == ("VER001", "warning", "Small")
    assert (problem.span.line, problem.help) == (5, "mend it")
    assert [labelled.label for labelled in problem.spans] == ["declared here"]
    assert [step.thread for step in problem.trace] == ["A-1"]
    assert problem.trace_title == "trace (shortest, 1 event; 1,234 states searched)"
    assert problem.notes[0].splitlines()[:2] == ["at the end:", "A-1 waits for c"]


def test_only_what_was_played_is_certain() -> None:
    each = found(Verdict.VIOLATED, counterexample=COUNTEREXAMPLE)
    played = violation(report(each), each, Replay(True))
    written = violation(report(each), each, Replay(True, "traces/x.rehearsal.yaml"))
    failed = violation(report(each), each, Replay(False, reason="A-1 ends, untold"))
    untried = violation(report(each), each)
    assert [p.confidence for p in (played, written, failed, untried)] == [
        "proved",
        "proved",
        "checked",
        "checked",
    ]
    assert "replay: orchestrator rehearse traces/x.rehearsal.yaml" in written.notes
    assert any("not replayed: A-1 ends, untold" in note for note in failed.notes)


def test_a_violation_without_a_trace_names_the_bounds() -> None:
    each = found(Verdict.VIOLATED, "dead_transition")
    problem = violation(report(each), each)
    assert problem.trace == ()
    assert problem.notes == ("1,234 states searched, fan-out 0, 2; c 0 to 2; d 1",)
    assert bounds_text(report()) == "fan-out 0, 2; c 0 to 2; d 1"


def test_violations_are_told_by_position_and_the_rest_in_one_problem() -> None:
    whole = report(
        found(Verdict.PROVED),
        found(Verdict.VIOLATED, "zombie"),
        found(Verdict.UNKNOWN, "livelock"),
        found(Verdict.UNKNOWN, "early_join"),
    )
    assert {index: problem.message for index, problem in violations(whole).items()} == {1: "about zombie"}
    limit = undecided(whole)
    assert limit is not None
    assert (limit.code, limit.severity) == ("VER005", "warning")
    assert limit.message == "not decided after 1,234 states: livelock, early_join"
    assert undecided(report(found(Verdict.CHECKED))) is None


def test_a_cycle_is_counted_in_the_title() -> None:
    each = found(Verdict.VIOLATED, "livelock", Counterexample((EVENT,), (EVENT, EVENT)))
    title = violation(report(each), each).trace_title
    assert title == "trace (shortest, 1 event, then 2 events for ever; 1,234 states searched)"
