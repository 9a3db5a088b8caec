"""Every example does on the real engine what its rehearsals say, and what the simulator makes of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.state import Status
from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.performance import rehearse
from orchestrator.simulate.record import SimulatedRun
from tests.support.on_engine import EnginePlay
from tests.support.rehearsing import read
from tests.support.stage import ROOT

FILES = sorted((ROOT / "flows").rglob("*.rehearsal.yaml"))
TOO_LONG = {"declined, then accepted", "accepted before it begins"}
"""Days of a loop that wakes every few seconds: tens of thousands of commits."""
WALL_CLOCK = re.compile(r"'\w+_millis': \d+")
"""What the real handlers of an example read from the clock on the wall."""


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT / "flows"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("path", FILES, ids=shown)
def test_an_example_does_on_the_engine_what_its_rehearsals_say(path: Path, tmp_path: Path) -> None:
    file, bound = read(path), BoundFlows([ROOT])
    flows = FlowSource(file.flow, path.parent)
    found = []
    for number, rehearsal in enumerate(file.rehearsals):
        if rehearsal.name in TOO_LONG:
            continue
        simulated = rehearse(file, rehearsal, bound=bound, flows=flows).simulated
        assert simulated is not None
        play = EnginePlay(file, rehearsal, tmp_path / f"{number}.db", bound)
        found += [f"{rehearsal.name}: {problem}" for problem in play.play()]
        if play.record is not None:
            found += [f"{rehearsal.name}: {each}" for each in unlike(simulated, play.record)]
    assert found == []


def unlike(simulated: SimulatedRun, stored: SimulatedRun) -> Iterator[str]:
    """Where the engine's run is not the simulator's; the order among parallel executions does not count."""
    ours, theirs = contents(simulated), contents(stored)
    for name, value in ours.items():
        if value != theirs[name]:
            yield f"{name}: simulated {value}, on the engine {theirs[name]}"


def contents(record: SimulatedRun) -> dict[str, Any]:
    run = record.run
    outputs = [each.output for each in run.outputs] if run.status is Status.COMPLETED else []
    queues = {key: [message.value for message in queue] for key, queue in run.queues.items() if queue}
    return {
        "status": run.status,
        "outputs": sorted(WALL_CLOCK.sub("", repr(output)) for output in outputs),
        "error": run.error and (run.error.type, run.error.message, run.error.step_execution_id),
        "attributes": run.attributes,
        "maps": {name: entries for name, entries in run.attribute_maps.items() if entries},
        "unread": {key: sorted(map(repr, values)) for key, values in queues.items()},
        "active": sorted(run.executions),
        "path": Counter(record.completed()),
        "closed_at": run.closed_at,
    }
