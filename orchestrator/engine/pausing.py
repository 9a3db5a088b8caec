"""Pausing and resuming a flow type or one of its steps (core/pauses.py says what that means)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from orchestrator.engine.engine import Engine
from orchestrator.errors import NotFound
from orchestrator.store.contract import Transaction


def pause(engine: Engine, flow: str, step: str | None) -> bool:
    """False: it was paused. Raises NotFound for what this store has never run."""
    return _write(engine, flow, step, lambda transaction, now: transaction.pause(flow, step, now))


def resume(engine: Engine, flow: str, step: str | None) -> bool:
    """False: it was not paused. Raises NotFound for what this store has never run."""
    return _write(engine, flow, step, lambda transaction, _: transaction.resume(flow, step))


def _write(
    engine: Engine, flow: str, step: str | None, write: Callable[[Transaction, datetime], bool]
) -> bool:
    _demand_target(engine, flow, step)
    answers: list[bool] = []
    engine.committer.exclusively(lambda transaction, now: answers.append(write(transaction, now)), "pause")
    engine.wake()
    return answers[-1]


def _demand_target(engine: Engine, flow: str, step: str | None) -> None:
    with engine.store.reading() as reading:
        names = reading.definition_names()
        hashes = [hash for named, hash in names if named == flow]
        if not hashes:
            known = ", ".join(sorted({named for named, _ in names})) or "none"
            raise NotFound(f"no run of a flow type {flow} was ever started here; known: {known}", flow=flow)
        if step is None:
            return
        steps = {name for hash in hashes for name in engine.definitions.of(hash, reading).steps}
    if step not in steps:
        known = ", ".join(sorted(steps))
        raise NotFound(f"{flow} has no step {step}; there are: {known}", flow=flow, step=step)
