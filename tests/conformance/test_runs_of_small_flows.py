"""Runs of random flows, in the pure core and on the engine, take only ways that the oracle's model has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from orchestrator import NonRetryable
from orchestrator.core.codec import decode
from orchestrator.core.events import ExecuteFailed, ExecuteSucceeded, Failure
from orchestrator.core.evolve import evolve
from orchestrator.core.state import Execution, Run
from orchestrator.core.tasks import TaskKind, movements, task_of
from orchestrator.definition.model import Flow
from tests.conformance.marking import accepts, marking_of, shown
from tests.oracle.promela import model_of
from tests.oracle.spin import Space, Spin, needs_spin
from tests.support import acting
from tests.support.engine_kit import Kit
from tests.support.play import Play, flow_of
from tests.support.random_small_flows import small_flow

_RUNS = 12
_MOST_COMMITS = 60


def goes_forward_only(seed: int) -> bool:
    """Others may never come to rest, and some of them grow without bound."""
    flow = flow_of(small_flow(seed))
    order = list(flow.steps)
    for name, step in flow.steps.items():
        targets = [each.step for decision in step.decisions for each in movements(decision)]
        targets += [step.on_failure.step] if step.on_failure else []
        if any(order.index(target) <= order.index(name) for target in targets):
            return False
    return True


def space_of(seed: int, directory: Path) -> Space:
    """All that the flow can do."""
    spin = Spin(model_of(flow_of(small_flow(seed))), directory)
    if spin.shortest("overflow") is not None:
        pytest.skip("grows without bound")
    return spin.space()


@needs_spin
@pytest.mark.parametrize("seed", range(24))
def test_the_model_has_every_way_that_the_core_takes(seed: int, tmp_path: Path) -> None:
    space = space_of(seed, tmp_path)
    for number in range(_RUNS):
        play = RandomPlay(space.model.flow, Random(number))
        before = space.initial
        for run in play.states():
            before = check(space, before, run)


@needs_spin
@pytest.mark.parametrize("seed", [seed for seed in range(24) if goes_forward_only(seed)])
def test_the_model_has_every_way_that_the_engine_takes(seed: int, tmp_path: Path) -> None:
    space = space_of(seed, tmp_path)
    flow = space.model.flow
    acting.reset()
    random = Random(1)
    acting.doings.update((name, lambda ctx, input: flip(random)) for name in flow.steps)
    kit = Kit(tmp_path)
    try:
        kit.client.start(flow, "run-1")
        kit.settle()
        kit.pass_time(minutes=2)
        before, commits = space.initial, 0
        for run in stored_states(kit):
            before = check(space, before, run)
            commits += 1
        assert commits > 1
    finally:
        kit.close()


def check(space: Space, before: tuple[int, ...], run: Run) -> tuple[int, ...]:
    after = marking_of(run, space.model)
    assert accepts(space, before, after), f"{shown(before, space.model)}\n-> {shown(after, space.model)}"
    return after


def flip(random: Random) -> Any:
    if random.random() < 0.2:
        raise NonRetryable("never")
    return {"flag": random.random() < 0.5}


def stored_states(kit: Kit) -> Iterator[Run]:
    """The run after every commit, by its history."""
    run = Run()
    with kit.engine.store.reading() as reading:
        head = reading.find_latest("run-1")
        assert head is not None
        for row in reading.history(head.run):
            evolve(run, decode(row.body))
            yield run


class RandomPlay:
    """One run of a flow in the pure core; what is done next is drawn."""

    def __init__(self, flow: Flow, random: Random) -> None:
        self._play = Play(flow)
        self._random = random

    def states(self) -> Iterator[Run]:
        """After every commit, until nothing can be done."""
        for _ in range(_MOST_COMMITS):
            yield self._play.run
            if not self._go_on():
                return

    def _go_on(self) -> bool:
        play = self._play
        open = [each for each in play.run.executions.values() if each.due_at is not None]
        if play.run.closed_at is not None or not open:
            return False
        execution = self._random.choice(open)
        assert execution.due_at is not None
        play.now = max(play.now, execution.due_at)
        if task_of(play.flow, execution) is TaskKind.CALL_EXECUTE:
            return self._call(execution)
        return play._do(execution)

    def _call(self, execution: Execution) -> bool:
        at, id, attempt = self._play.now, execution.id, execution.attempt
        if self._random.random() < 0.2:
            failure = Failure(type="Error", message="boom", is_retryable=False)
            return bool(
                self._play.send(ExecuteFailed(at=at, execution_id=id, attempt=attempt, failure=failure))
            )
        result = {"flag": self._random.random() < 0.5}
        return bool(self._play.send(ExecuteSucceeded(at=at, execution_id=id, attempt=attempt, result=result)))
