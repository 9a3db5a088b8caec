"""Setting, changing and removing the queues of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from orchestrator.engine.engine import Engine
from orchestrator.errors import NotFound, UsageError
from orchestrator.store.contract import Transaction
from orchestrator.store.queues import (
    QueueSettings,
    demand_fitting,
    demand_name,
    encode_settings,
)


def set_queue(engine: Engine, name: str, change: Callable[[QueueSettings], QueueSettings]) -> QueueSettings:
    """`change` makes new settings of the present ones, or of none. Raises UsageError when they do not fit."""
    demand_name(name)
    results: list[QueueSettings] = []

    def write(transaction: Transaction) -> None:
        known = transaction.queues.named(name)
        settings = change(known.settings if known is not None else QueueSettings())
        _set(transaction, name, settings)
        results.append(settings)

    _write(engine, write)
    return results[-1]


def remove_queue(engine: Engine, name: str) -> None:
    """What stands in it stands in no queue any more. Raises NotFound."""

    def write(transaction: Transaction) -> None:
        _remove(transaction, name)

    _write(engine, write)


def replace_queues(engine: Engine, queues: Mapping[str, QueueSettings]) -> None:
    """These and no others, in one transaction. Raises UsageError when they do not fit together."""

    def write(transaction: Transaction) -> None:
        for queue in sorted(transaction.queues, key=lambda each: each.settings.within is None):
            if queue.name in queues:
                _set(transaction, queue.name, QueueSettings())
            else:
                _remove(transaction, queue.name)
        for name in sorted(queues, key=lambda each: queues[each].within is not None):
            demand_name(name)
            _set(transaction, name, queues[name])

    _write(engine, write)


def _set(transaction: Transaction, name: str, settings: QueueSettings) -> None:
    settings.demand_sound()
    demand_fitting(transaction.queues, name, settings)
    transaction.set_queue(name, encode_settings(settings))


def _remove(transaction: Transaction, name: str) -> None:
    known = transaction.queues.named(name)
    if known is None:
        names = ", ".join(sorted(queue.name for queue in transaction.queues)) or "none"
        raise NotFound(f"there is no queue {name}; there are: {names}", queue=name)
    inner = sorted(queue.name for queue in transaction.queues if queue.settings.within == name)
    if inner:
        raise UsageError(f"{inner[0]} stands within {name}: remove it first, or set it to stand elsewhere")
    transaction.delete_queue(known.number)


def _write(engine: Engine, write: Callable[[Transaction], None]) -> None:
    def change(transaction: Transaction, _: datetime) -> None:
        write(transaction)
        _send_to_queues(transaction)

    engine.committer.exclusively(change, "queues")
    engine.wake()


def _send_to_queues(transaction: Transaction) -> None:
    """What waits or runs now goes by the new settings, too."""
    queues = transaction.queues
    moved = [
        (run, execution_id, queues.of(flow, step))
        for run, execution_id, flow, step, queue in transaction.calls()
        if queues.of(flow, step) != queue
    ]
    transaction.set_step_queues(moved)
