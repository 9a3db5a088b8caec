"""Attribute locks (rules 103-108): held during one call of a method, all together, oldest request first."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.core.draft import Draft
from orchestrator.core.evaluation import map_key
from orchestrator.core.frame import Frame
from orchestrator.core.state import Execution
from orchestrator.core.tasks import method_options
from orchestrator.definition.model import Lock
from orchestrator.errors import LockConflict


def take_locks(draft: Draft, execution: Execution) -> None:
    """Take all of the method's locks, or wait until all are free."""
    wanted = lock_names(method_options(draft.flow, execution).locks, Frame(draft, execution))
    if all(draft.lock_holder(lock) is None for lock in wanted):
        draft.take_locks(execution, wanted)
    else:
        draft.await_locks(execution, wanted)


def grant_released_locks(draft: Draft) -> None:
    """Whoever waited longest for a lock that is free now, and finds all of its locks free, goes on."""
    while draft.released_locks:
        lock, _ = draft.released_locks.popitem()
        for execution in draft.waiting_for_lock(lock):
            if all(draft.lock_holder(wanted) is None for wanted in execution.wanted_locks):
                draft.take_locks(execution, execution.wanted_locks)


def require_free(draft: Draft, locks: Iterable[Lock], frame: Frame, what: str) -> None:
    """A locking RPC does not queue (rule 107). Raises LockConflict."""
    for lock in lock_names(locks, frame):
        holder = draft.lock_holder(lock)
        if holder is not None:
            raise LockConflict(f"{what}: attribute {lock} is locked by {holder}", lock=lock, holder=holder)


def lock_names(locks: Iterable[Lock], frame: Frame) -> tuple[str, ...]:
    """`status`, or `progress/payment` for a map entry; duplicates collapse (rule 108)."""
    names: dict[str, None] = {}
    for lock in locks:
        key = map_key(lock.key, frame)
        names[lock.attribute if key is None else f"{lock.attribute}/{key}"] = None
    return tuple(names)
