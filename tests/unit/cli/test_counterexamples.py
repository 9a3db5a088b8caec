"""From a verifier's report to rehearsals that were played."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cli.counterexamples import replay_all, storyline
from orchestrator.definition.catalogue import load
from orchestrator.definition.parse import parse
from orchestrator.errors import UsageError
from orchestrator.simulate.storyline import BeatKind
from orchestrator.verify.report import (
    Counterexample,
    Event,
    EventKind,
    FlowReport,
    Guess,
    PropertyReport,
    Verdict,
)

FLOW = """\
flow: Halt
handlers: nowhere.at_all
start: Ask
steps:
  Ask:
    execute: ask
    result: {name: answer, type: boolean}
    decide:
      - {when: answer, graceful_complete: }
      - dead_end: true
"""
STOPS = Event(EventKind.DECIDED, "Ask", "Ask-1", ("steps", "Ask"), 2, guesses=(Guess((), "answer", False),))


def report(path: Path, *found: PropertyReport, text: str = FLOW) -> FlowReport:
    path.write_text(text, encoding="utf-8")
    return FlowReport(load(path), Verdict.VIOLATED, 2, 0.1, (), {}, found)


def zombie(*events: Event, name: str = "zombie") -> PropertyReport:
    return PropertyReport(
        name, "VER002", Verdict.VIOLATED, "it stays open", counterexample=Counterexample(events)
    )


def test_what_can_be_played_is_written_with_the_trace_as_comment(tmp_path: Path) -> None:
    found = report(tmp_path / "halt.flow.yaml", zombie(STOPS))
    replays = replay_all(found, tmp_path / "deep" / "traces")
    path = tmp_path / "deep" / "traces" / "Halt.zombie.rehearsal.yaml"
    assert replays[0].path == str(path)
    text = path.read_text(encoding="utf-8")
    assert "#   1 Ask-1  commit          [not answer] dead_end" in text
    assert "flow: ../../halt.flow.yaml" in text
    assert "Ask: {returns: false}" in text


def test_without_a_directory_nothing_is_written_and_no_handler_runs(tmp_path: Path) -> None:
    found = report(tmp_path / "halt.flow.yaml", zombie(STOPS))
    assert replay_all(found, None)[0].is_played
    assert [each.name for each in tmp_path.iterdir()] == ["halt.flow.yaml"]


def test_what_cannot_be_played_says_why(tmp_path: Path) -> None:
    impossible = Event(EventKind.FAILED, "Ask", "Ask-1", ("steps", "Ask"), starts=("Ask-2",))
    (replay,) = replay_all(report(tmp_path / "halt.flow.yaml", zombie(impossible)), tmp_path).values()
    assert not replay.is_played
    assert replay.path is None
    assert "the run is FAILED" in replay.reason


def test_properties_of_one_name_get_files_of_their_own(tmp_path: Path) -> None:
    twice = [zombie(STOPS), zombie(STOPS), zombie(STOPS, name="never: A with B")]
    replays = replay_all(report(tmp_path / "halt.flow.yaml", *twice), tmp_path / "t")
    assert [Path(replay.path or "").name for replay in replays.values()] == [
        "Halt.zombie.rehearsal.yaml",
        "Halt.zombie-2.rehearsal.yaml",
        "Halt.never-A-with-B.rehearsal.yaml",
    ]


def test_properties_without_a_way_are_not_played(tmp_path: Path) -> None:
    kept = PropertyReport("deadlock", "VER001", Verdict.CHECKED, "fine")
    assert replay_all(report(tmp_path / "halt.flow.yaml", kept, zombie()), tmp_path) == {}


def test_a_definition_without_a_file_is_played_but_not_written(tmp_path: Path) -> None:
    flow, _ = parse(FLOW, "<stdin>")
    assert flow is not None
    found = FlowReport(flow, Verdict.VIOLATED, 2, 0.1, (), {}, (zombie(STOPS),))
    (replay,) = replay_all(found, tmp_path / "t").values()
    assert replay.is_played and replay.path is None
    assert not (tmp_path / "t").exists()


def test_a_directory_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot make"):
        replay_all(report(tmp_path / "halt.flow.yaml", zombie(STOPS)), tmp_path / "file" / "t")


def test_a_story_has_the_events_and_the_end_of_its_counterexample() -> None:
    published = Event(EventKind.PUBLISHED, None, None, (), channel="go")
    told = storyline(
        Counterexample((published,), (STOPS,), channels={"go": 1}, active=("A-1", "sys:timeout_handler-1")),
        "livelock",
    )
    assert [(beat.kind, beat.name) for beat in told.all_beats] == [
        (BeatKind.PUBLISHED, "go"),
        (BeatKind.DECIDED, "Ask"),
    ]
    assert (told.active, dict(told.unread), len(told.cycle)) == (("A-1",), {"go": 1}, 1)
    assert not told.is_at_rest
    assert storyline(Counterexample((STOPS,)), "deadlock").is_at_rest
