"""Counterexamples of mutants happen: in the simulator, and on the engine, as the verifier told them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cli.counterexamples import replay_all
from orchestrator.definition.parse import parse
from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.rehearsal import read_rehearsals
from orchestrator.verify.problems import Replay
from orchestrator.verify.verifying import verify_flow
from tests.mutants.mutating import Mutant, document_of, mutants_of
from tests.mutants.noticing import FAN_OUT, MAX_STATES
from tests.mutants.test_mutants import FLOWS
from tests.support.on_engine import EnginePlay

LATE = "it needs a commit between two that need no handler, and a rehearsal does such ones without a pause"
VALUES = (
    "the search does not know which message is the final one: that it is taken last, or not at all, cannot be"
)
AT_ONCE = "a wait for no message ends as soon as it is accepted; the search lets something else come first"
UNPLAYED: dict[str, dict[str, tuple[str, ...]]] = {
    "joined_edits.flow.yaml": {LATE: ("cancel TakeDesk", "TakeDesk: cancel Save", "cancel GiveUp")},
    "quorum.flow.yaml": {LATE: ("Sign: cancel Decide", "Excuse: cancel Decide")},
    "patterns/drain_internal_channel.flow.yaml": {VALUES: ("records", "Begin: cancel UpsertRecord")},
    "patterns/cron.flow.yaml": {AT_ONCE: ("count skip -1",)},
    "patterns/process_reminders.flow.yaml": {AT_ONCE: ("count completeProcess -1", "count optOut -1")},
    "products/subscription.flow.yaml": {AT_ONCE: ("count cancel -1", "count update -1")},
}
"""By flow and reason, parts of the names of mutants of which a counterexample may be no run."""
CHANCES = 5


@pytest.mark.parametrize("name", FLOWS)
def test_the_counterexamples_of_mutants_happen_as_told(name: str, tmp_path: Path) -> None:
    played, unplayed = 0, set()
    for number, mutant in enumerate(mutants_of(document_of(FLOWS[name]))):
        home = tmp_path / str(number)
        home.mkdir()
        for property, replay in replays_of(mutant, home):
            if replay.path is None:
                unplayed.add(mutant.name)
                assert is_excused(name, mutant), f"{mutant.name}: {property}: {replay.reason}"
                continue
            assert play_until_it_happens(Path(replay.path), home) == [], f"{mutant.name}: {property}"
            played += 1
    assert played or not unplayed


def replays_of(mutant: Mutant, home: Path) -> Iterator[tuple[str, Replay]]:
    """(property, what became of its counterexample); each was tried on the simulator."""
    path = home / "mutant.flow.yaml"
    path.write_text(mutant.text, encoding="utf-8")
    flow, _ = parse(mutant.text, str(path))
    if flow is None:
        return
    report = verify_flow(flow, fan_out=FAN_OUT, max_states=MAX_STATES)
    for index, replay in replay_all(report, home / "traces").items():
        yield report.properties[index].name, replay


def play_until_it_happens(path: Path, home: Path) -> list[str]:
    """What the engine does otherwise than the rehearsal says.

    A counterexample is one order of handlers that run at the same time, which threads are free to end in
    another (rule 18): it is given a few chances.
    """
    file, problems = read_rehearsals(path)
    assert file is not None, problems
    (rehearsal,) = file.rehearsals
    differences: list[str] = []
    for chance in range(CHANCES):
        database = home / f"{path.name}.{chance}.db"
        differences = EnginePlay(file, rehearsal, database, BoundFlows([home])).play()
        if not differences:
            break
    return differences


def is_excused(name: str, mutant: Mutant) -> bool:
    return any(part in mutant.name for parts in UNPLAYED.get(name, {}).values() for part in parts)
