"""`evolve`: apply changes to a run. No rules here: what is allowed was decided before."""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from orchestrator.core import changes as c
from orchestrator.core.image import restore
from orchestrator.core.progress import (
    accepted,
    begin_execute,
    retried,
    satisfied,
    skipped,
    wait_queues,
    waiting_for_locks,
    with_child,
    with_fired_timers,
    with_locks,
)
from orchestrator.core.state import (
    Execution,
    Phase,
    QueuedMessage,
    QueueKey,
    Round,
    Run,
    Status,
)


def evolve(run: Run, changes: Iterable[c.Change]) -> None:
    """Apply one commit; the run's version grows by one."""
    for change in changes:
        _APPLY[type(change)](run, change)
    run.version += 1


def rebuild_indexes(run: Run) -> None:
    """Derive the indexes of a run loaded from rows."""
    run.groups, run.waiters, run.locks, run.lock_waiters = None, {}, {}, {}
    waiting: list[Execution] = []
    locking: list[Execution] = []
    for execution in run.executions.values():
        if execution.wait is not None and execution.phase is Phase.WAITING:
            waiting.append(execution)
        if execution.locks or execution.wanted_locks:
            locking.append(execution)
    waiting.sort(key=attrgetter("wait.order"))
    for execution in waiting:
        _index_wait(run, execution)
    locking.sort(key=attrgetter("lock_order"))
    for execution in locking:
        run.locks.update(dict.fromkeys(execution.locks, execution.id))
        for lock in execution.wanted_locks:
            run.lock_waiters.setdefault(lock, OrderedDict())[execution.id] = None


# --- Applying to the run ------------------------------------------------------------------------------------


def _open(run: Run, change: c.RunOpened) -> None:
    run.flow_id, run.run_id = change.flow_id, change.run_id
    run.started_at, run.input, run.request_id = change.at, change.input, change.request_id
    run.status = Status.RUNNING


def _queue_step(run: Run, change: c.StepQueued) -> None:
    execution = change.execution
    run.counters[execution.step] = execution.number
    run.executions[execution.id] = execution
    if run.groups is not None:
        run.groups.add(execution)


def _accept_wait(run: Run, change: c.WaitAccepted) -> None:
    _release_locks(run, change.execution_id)
    execution = accepted(run.executions[change.execution_id], change)
    run.executions[change.execution_id] = execution
    run.next_order = change.order + 1
    _index_wait(run, execution)


def _fire_timers(run: Run, change: c.TimersFired) -> None:
    run.executions[change.execution_id] = with_fired_timers(run.executions[change.execution_id], change)


def _satisfy_wait(run: Run, change: c.WaitSatisfied) -> None:
    execution = run.executions[change.execution_id]
    wait = execution.wait
    assert wait is not None
    _unindex_wait(run, execution)
    messages: dict[int, tuple[QueuedMessage, ...]] = {}
    for index, seqs in change.taken:
        condition = wait.conditions[index]
        assert condition.channel is not None
        messages[index] = _take(run, (condition.channel, condition.key), seqs)
    run.executions[change.execution_id] = satisfied(execution, change, messages, run.rounds.__getitem__)


def _skip_wait(run: Run, change: c.WaitSkipped) -> None:
    _release_locks(run, change.execution_id)
    _unindex_wait(run, run.executions[change.execution_id])
    run.executions[change.execution_id] = skipped(run.executions[change.execution_id], change)


def _retry(run: Run, change: c.AttemptFailed) -> None:
    _release_locks(run, change.execution_id)
    run.executions[change.execution_id] = retried(run.executions[change.execution_id], change)


def _report_child(run: Run, change: c.ChildReported) -> None:
    run.executions[change.execution_id] = with_child(run.executions[change.execution_id], change)


def _add_watcher(run: Run, change: c.WatcherAdded) -> None:
    run.watchers.append(change.watcher)


def _keep_heartbeat(run: Run, change: c.HeartbeatKept) -> None:
    execution = run.executions[change.execution_id]
    run.executions[change.execution_id] = replace(execution, heartbeat=change.heartbeat)


def _take_locks(run: Run, change: c.LocksTaken) -> None:
    before = run.executions[change.execution_id]
    for lock in before.wanted_locks:
        _discard(run.lock_waiters, lock, before.id)
    run.executions[before.id] = with_locks(before, change)
    run.locks.update(dict.fromkeys(change.locks, before.id))


def _await_locks(run: Run, change: c.LocksAwaited) -> None:
    execution = waiting_for_locks(run.executions[change.execution_id], change)
    run.executions[execution.id] = execution
    run.next_order = change.order + 1
    for lock in execution.wanted_locks:
        run.lock_waiters.setdefault(lock, OrderedDict())[execution.id] = None


def _release_locks(run: Run, execution_id: str) -> None:
    for lock in run.executions[execution_id].locks:
        run.locks.pop(lock, None)


def _remember_skip(run: Run, change: c.SkipRemembered) -> None:
    run.skips[change.execution_id] = (*run.skips.get(change.execution_id, ()), change.condition)


def _make_retry_due(run: Run, change: c.RetryDue) -> None:
    execution = run.executions[change.execution_id]
    run.executions[change.execution_id] = replace(execution, due_at=change.due_at)


def _begin_timeout_handler(run: Run, change: c.TimeoutHandlerBegun) -> None:
    execution = run.executions[change.execution_id]
    run.executions[change.execution_id] = begin_execute(execution, change.due_at)


def _end_step(run: Run, change: c.StepEnded) -> None:
    execution_id = change.execution_id
    execution = run.executions.pop(execution_id)
    for lock in execution.locks:
        run.locks.pop(lock, None)
    for lock in execution.wanted_locks:
        _discard(run.lock_waiters, lock, execution_id)
    if run.skips:
        run.skips.pop(execution_id, None)
    _unindex_wait(run, execution)
    if run.groups is not None:
        run.groups.remove(execution)


def _queue_message(run: Run, change: c.MessageQueued) -> None:
    run.queues.setdefault((change.channel, change.key), deque()).append(change.message)
    run.next_seq = max(run.next_seq, change.message.seq + 1)


def _return_messages(run: Run, change: c.MessagesReturned) -> None:
    queue = run.queues.setdefault((change.channel, change.key), deque())
    for message in sorted(change.messages, key=_seq, reverse=True):
        if not queue or message.seq < queue[0].seq:
            queue.appendleft(message)
        else:
            insort(queue, message, key=_seq)


def _drop_messages(run: Run, change: c.MessagesDropped) -> None:
    key = (change.channel, change.key)
    dropped = set(change.seqs)
    kept = deque(message for message in run.queues.get(key, ()) if message.seq not in dropped)
    _keep_queue(run, key, kept)
    run.dropped_count[change.channel] = run.dropped_count.get(change.channel, 0) + len(dropped)


def _set_attribute(run: Run, change: c.AttributeSet) -> None:
    if change.key is None:
        run.attributes[change.name] = change.value
    else:
        entries = run.attribute_maps.setdefault(change.name, {})
        entries.pop(change.key, None)  # the entry written last stands last (rule 100)
        entries[change.key] = change.value


def _delete_attribute(run: Run, change: c.AttributeDeleted) -> None:
    if change.key is not None:
        run.attribute_maps.get(change.name, {}).pop(change.key, None)
        return
    run.attributes.pop(change.name, None)
    run.attribute_maps.pop(change.name, None)


def _configure(run: Run, change: c.ConfigSet) -> None:
    run.config = dict(change.config)


def _open_round(run: Run, change: c.RoundOpened) -> None:
    run.rounds[change.round] = Round(change.join, change.branch_count)


def _report(run: Run, change: c.Reported) -> None:
    run.rounds[change.round].reports.append(change.report)


def _count_round(run: Run, change: c.RoundCounted) -> None:
    round = run.rounds[change.round]
    round.counting, round.missed, round.members = change.counting, change.missed, change.members
    round.is_cancelled = change.is_cancelled


def _forget_round(run: Run, change: c.RoundForgotten) -> None:
    del run.rounds[change.round]


def _request_completion(run: Run, _: c.CompletionRequested) -> None:
    run.is_completing = True


def _add_output(run: Run, change: c.OutputAdded) -> None:
    run.outputs.append(change.output)


def _keep(run: Run, _: c.EventRecorded | c.ChildRequested | c.ChildAbandoned) -> None:
    """Part of history only (rule 55), or asked of another run."""


def _answer(run: Run, change: c.RpcAnswered) -> None:
    if change.request_id is not None:
        run.answers[change.request_id] = change.output


def _restore(run: Run, change: c.RunRestored) -> None:
    restore(run, change.image)
    rebuild_indexes(run)


def _redefine(run: Run, change: c.DefinitionChanged) -> None:
    if change.image is not None:
        restore(run, change.image)
        rebuild_indexes(run)


def _close(run: Run, change: c.RunClosed) -> None:
    run.status, run.closed_at, run.error = Status(change.status), change.at, change.error
    run.executions, run.rounds, run.skips = {}, {}, {}
    run.groups, run.waiters, run.locks, run.lock_waiters = None, {}, {}, {}
    if run.status is not Status.COMPLETED:
        run.outputs = []


def _take(run: Run, key: QueueKey, seqs: tuple[int, ...]) -> tuple[QueuedMessage, ...]:
    queue = run.queues[key]
    messages = [queue.popleft() for _ in seqs]
    assert [message.seq for message in messages] == list(seqs), "messages are taken oldest first"
    _keep_queue(run, key, queue)
    return tuple(messages)


def _keep_queue(run: Run, key: QueueKey, queue: deque[QueuedMessage]) -> None:
    if queue:
        run.queues[key] = queue
    else:
        run.queues.pop(key, None)


def _seq(message: QueuedMessage) -> int:
    return message.seq


def _index_wait(run: Run, execution: Execution) -> None:
    assert execution.wait is not None
    for key in wait_queues(execution.wait):
        run.waiters.setdefault(key, OrderedDict())[execution.id] = None


def _unindex_wait(run: Run, execution: Execution) -> None:
    if execution.phase is not Phase.WAITING or execution.wait is None:
        return
    for key in wait_queues(execution.wait):
        _discard(run.waiters, key, execution.id)


def _discard(index: dict[Any, Any], key: object, member: str) -> None:
    members = index[key]
    del members[member]
    if not members:
        del index[key]


_APPLY: dict[type, Callable[[Run, Any], None]] = {
    c.RunOpened: _open,
    c.StepQueued: _queue_step,
    c.WaitAccepted: _accept_wait,
    c.TimersFired: _fire_timers,
    c.WaitSatisfied: _satisfy_wait,
    c.WaitSkipped: _skip_wait,
    c.LocksTaken: _take_locks,
    c.LocksAwaited: _await_locks,
    c.AttemptFailed: _retry,
    c.SkipRemembered: _remember_skip,
    c.RetryDue: _make_retry_due,
    c.TimeoutHandlerBegun: _begin_timeout_handler,
    c.StepEnded: _end_step,
    c.MessageQueued: _queue_message,
    c.MessagesReturned: _return_messages,
    c.MessagesDropped: _drop_messages,
    c.AttributeSet: _set_attribute,
    c.AttributeDeleted: _delete_attribute,
    c.ConfigSet: _configure,
    c.RoundOpened: _open_round,
    c.Reported: _report,
    c.RoundCounted: _count_round,
    c.RoundForgotten: _forget_round,
    c.CompletionRequested: _request_completion,
    c.OutputAdded: _add_output,
    c.EventRecorded: _keep,
    c.ChildRequested: _keep,
    c.ChildAbandoned: _keep,
    c.ChildReported: _report_child,
    c.WatcherAdded: _add_watcher,
    c.HeartbeatKept: _keep_heartbeat,
    c.RpcAnswered: _answer,
    c.RunRestored: _restore,
    c.DefinitionChanged: _redefine,
    c.RunClosed: _close,
}
