"""A difference as text and as JSON; live runs count where they are."""

from __future__ import annotations

from orchestrator.core.migration.comparison import Comparison
from orchestrator.core.migration.renaming import NO_RENAMING
from orchestrator.core.migration.verdicts import Obstacle, Verdict
from orchestrator.diff.comparing import compare
from orchestrator.diff.places import PlaceVerdict, count_runs, judge_places
from orchestrator.diff.report import Difference, as_json, as_text
from tests.support.play import flow_of

OLD = """flow: F
channels: {go: {type: integer, external: true}}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: go}}, execute: work, go_to: End}
  End: {execute: work, graceful_complete: null}
"""
NEW = OLD.replace("until: {channel: go}", "until: {timer: 3d}").replace("End", "Last")


def difference(places: list[PlaceVerdict] | None = None, **counts: int) -> Difference:
    old, new = flow_of(OLD), flow_of(NEW)
    changes = tuple(compare(old, new, NO_RENAMING))
    return Difference(old, new, changes, tuple(places or judge_places(Comparison(old, new))), **counts)


def test_text() -> None:
    assert as_text(difference()) == (
        "lines  changes\n"
        "  5→5  ~ step Wait: wait_for condition go go.for 1 is removed\n"
        "  5→5  ~ step Wait: wait_for condition timer timer 3d is added\n"
        "  5→5  ~ step Wait: `go_to End` → `go_to Last`\n"
        "  6→6  ~ step End is now Last\n"
        "\n"
        "where a run may be\n"
        "  step:Wait (waiting, execute, running): impossible\n"
        "    the accepted wait may end with condition go, which the new definition does not have\n"
        "  step:End (execute, running): needs a mapping\n"
        "    step End is not in the new definition\n"
        "      help: --map step:End=Last\n"
        "  compatible\n"
        "    step:Wait (wait_for)\n"
        "    channel:go, run\n"
        "\n"
        "some runs could not go on under the new version"
    )


def test_only_places_where_live_runs_are_count_once_somebody_has_looked() -> None:
    static = judge_places(Comparison(flow_of(OLD), flow_of(NEW)))
    assert difference(static).verdict is Verdict.IMPOSSIBLE
    counted = count_runs(static, [(["step:Wait/wait_for", "run"], [])])
    looked = difference(counted, run_count=1, movable_count=1)
    assert looked.verdict is Verdict.COMPATIBLE
    assert as_text(looked).endswith("1 of 1 live runs can go on under the new version")
    assert "step:Wait (wait_for [1 live run])" in as_text(looked)


def test_what_runs_meet_is_told_where_they_stand() -> None:
    static = judge_places(Comparison(flow_of(OLD), flow_of(NEW)))
    obstacle = Obstacle("step:End/execute", "step End is not in the new definition", "step:End=Last")
    runs = [
        (["step:End/execute"], [obstacle]),
        (["step:End/execute"], [obstacle]),
        (["step:Wait/wait_for"], []),
    ]
    looked = difference(count_runs(static, runs), run_count=3, movable_count=1)
    assert looked.verdict is Verdict.NEEDS_MAPPING
    document = as_json(looked)
    place = next(each for each in document["places"] if each["place"] == "step:End/execute")
    assert (place["runs"], place["stuck"], place["verdict"]) == (2, 2, "needs_mapping")
    assert document["runs"] == {"live": 3, "movable": 1}
    assert document["verdict"] == "needs_mapping"


def test_a_run_without_live_runs_is_said_to_be_so() -> None:
    counted = count_runs(judge_places(Comparison(flow_of(OLD), flow_of(NEW))), [])
    looked = difference(counted, run_count=0)
    assert looked.verdict is Verdict.COMPATIBLE
    assert as_text(looked).endswith("no live run has the old version")


def test_the_deadline_is_a_place_of_its_own() -> None:
    counted = count_runs([PlaceVerdict("deadline")], [(["step:sys:timeout_handler/waiting"], [])])
    assert [(each.place, each.run_count) for each in counted] == [("deadline", 1)]


def test_equal_versions() -> None:
    old = flow_of(OLD)
    same = Difference(old, old, (), tuple(judge_places(Comparison(old, old))))
    assert as_text(same).startswith("nothing changed\n")
    assert same.verdict is Verdict.COMPATIBLE
