"""What this process holds of each run: handed out when a commit is durable, given up when it is others'.

Used under the commit lock only.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.engine.batch import Batch
from orchestrator.engine.cache import Entry, RunCache
from orchestrator.engine.journal import note_leases_lost
from orchestrator.engine.task import Task
from orchestrator.engine.workplace import Workplace
from orchestrator.store.contract import Transaction


def check_leases(transaction: Transaction, workplace: Workplace | None, entry: Entry) -> None:
    """Somebody else has written: are the handlers that run here still ours?"""
    if not entry.held:
        return
    leases = transaction.leases(entry.number, entry.held)
    lost = [
        execution_id
        for execution_id, task in entry.held.items()
        if leases.get(execution_id) != task.worker or task.run_attempt != entry.run.attempt
    ]
    note_leases_lost(entry, lost)
    _give_up(workplace, entry, lost)


def give_up_left_attempts(workplace: Workplace | None, entry: Entry) -> None:
    """Of a run that has travelled in time."""
    attempt = entry.run.attempt
    _give_up(workplace, entry, [id for id, task in entry.held.items() if task.run_attempt != attempt])


def _give_up(workplace: Workplace | None, entry: Entry, execution_ids: Iterable[str]) -> None:
    """What still runs of these is no longer ours: its result will change nothing."""
    tasks = [entry.held.pop(execution_id) for execution_id in execution_ids]
    for task in tasks:
        task.is_cancelled = True
    if tasks and workplace is not None:
        workplace.forget(tasks)


def end_leases(cache: RunCache, workplace: Workplace | None, batch: Batch) -> None:
    ended: list[Task] = []
    for task in batch.ended:
        entry = cache.peek(task.run)
        if entry is not None and entry.held.get(task.execution_id) is task:
            del entry.held[task.execution_id]
            ended.append(task)
    for entry in batch.entries.values():
        if not entry.held:
            continue
        if entry.run.attempt > 1:
            give_up_left_attempts(workplace, entry)
        for execution_id in entry.held.keys() - entry.run.executions.keys():
            task = entry.held.pop(execution_id)
            task.is_cancelled = True
            ended.append(task)
    if ended and workplace is not None:
        workplace.forget(ended)


def open_leases(cache: RunCache, workplace: Workplace, batch: Batch, *, by_dispatcher: bool) -> None:
    tasks = []
    for (number, execution_id), task in batch.placed.items():
        entry = cache.peek(number)
        execution = entry.run.executions.get(execution_id) if entry is not None else None
        if entry is None or execution is None:
            continue
        entry.held[execution_id] = task
        task.prepare(entry.flow, entry.run, execution, batch.now)
        tasks.append(task)
    workplace.accept(tasks, by_dispatcher=by_dispatcher)
