"""Handlers that run inside the write transaction of their commit: read and write are one atomic step.

Nothing else is committed meanwhile, by anybody on this store; so their time is limited and they must not
wait for a commit themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING

from msgspec.structs import replace

from orchestrator.binding.context import Services
from orchestrator.binding.failures import failure_of
from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.core import changes as c
from orchestrator.core.events import Failure
from orchestrator.core.failing import MethodFails
from orchestrator.core.snapshot import Snapshot, take_snapshot
from orchestrator.core.transition import decide
from orchestrator.engine.cache import Entry
from orchestrator.engine.limited import LONGEST, OutOfTime, invoke_within
from orchestrator.engine.task import Task, failed, succeeded, timed_out
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.engine.batch import Batch
    from orchestrator.store.contract import Loan, Transaction

_IS_INSIDE: ContextVar[bool] = ContextVar("orchestrator_is_inside", default=False)


def demand_outside() -> None:
    """Whoever waits for a commit from inside of one would wait for ever. Raises UsageError."""
    if _IS_INSIDE.get():
        raise UsageError(
            "this handler runs inside the store's write transaction and cannot change runs through a client; "
            "do it from a handler without `transactional` and without locks on an RPC, or publish through ctx"
        )


@contextmanager
def lent(transaction: Transaction, bound: BoundHandler) -> Iterator[Loan | None]:
    """The transaction's connection for a transactional handler; its writes are undone if the block raises."""
    with transaction.lend() if bound.method.handler.transactional else nullcontext() as loan:
        yield loan


def call_inside(
    bound: BoundHandler, snapshot: Snapshot, services: Services, seconds: float, loan: Loan | None
) -> Returned:
    """Raises what the handler raises, or OutOfTime."""
    token = _IS_INSIDE.set(True)
    try:
        if loan is not None:
            services = replace(services, connection=loan.connection)
        return invoke_within(bound, snapshot, services, min(seconds, LONGEST))
    except OutOfTime:
        if loan is not None:
            loan.revoke()
        raise
    finally:
        _IS_INSIDE.reset(token)


def perform(transaction: Transaction, batch: Batch, entry: Entry, task: Task, services: Services) -> bool:
    """Call the transactional handler of a step and decide; False: its attempt was stale."""
    try:
        with lent(transaction, task.bound) as loan:
            returned = _call(entry, task, services, batch, loan)
            event = succeeded(task, returned, batch.now)
            changes = decide(entry.flow, entry.run, event)
            if _has_failed(changes, task.execution_id):
                raise _Undone
    except _Undone:
        if changes:
            batch.record(entry, event, changes)
        return bool(changes)
    except _HandlerRaised as raised:
        return batch.apply(entry, failed(task, raised.failure, batch.now))
    batch.record(entry, event, changes)
    return True


class _Undone(Exception):
    """The result was not accepted: the handler's writes go, the failed attempt stays."""


class _HandlerRaised(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _call(entry: Entry, task: Task, services: Services, batch: Batch, loan: Loan | None) -> Returned:
    seconds = min(task.timeout, LONGEST)
    try:
        execution = entry.run.executions[task.execution_id]
        snapshot = take_snapshot(entry.flow, entry.run, execution, batch.now)
        return call_inside(task.bound, snapshot, services, seconds, loan)
    except MethodFails as fails:
        raise _HandlerRaised(fails.failure) from None
    except OutOfTime:
        raise _HandlerRaised(timed_out(seconds)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _HandlerRaised(failure_of(error)) from error


def _has_failed(changes: list[c.Change], execution_id: str) -> bool:
    """It said success, yet the attempt failed: a result of the wrong type, an expression that fails."""
    return not changes or any(
        (isinstance(change, c.AttemptFailed) and change.execution_id == execution_id)
        or (
            isinstance(change, c.StepEnded) and change.execution_id == execution_id and change.how == "failed"
        )
        for change in changes
    )
