"""After an event: every wait that holds ends, oldest accepted first, each on what the one before left."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from orchestrator.core.draft import Draft
from orchestrator.core.rounds import DraftRound
from orchestrator.core.state import Execution, Phase, QueueKey
from orchestrator.core.waits import find_win
from orchestrator.definition.model import Delivery

EnterExecute = Callable[[Draft, Execution], None]


def settle_waits(draft: Draft, enter_execute: EnterExecute) -> None:
    if draft.touched_waits or draft.dirty_queues or (draft.flow.joins and _has_awaited_round(draft)):
        Settling(draft, enter_execute).run()


def _has_awaited_round(draft: Draft) -> bool:
    rounds = draft.rounds
    for name in rounds.dirty:
        round = rounds.find(name)
        for execution in draft.waiting_on((name, None)):
            if _may_end_wait(draft, name, round, execution):
                return True
    return False


def _may_end_wait(draft: Draft, name: str, round: DraftRound, execution: Execution) -> bool:
    """A changed round can end a wait only if it holds there now, or a timer has come meanwhile."""
    if execution.due_at is not None and execution.due_at <= draft.at:
        return True
    assert execution.wait is not None
    for condition in execution.wait.conditions:
        if condition.round == name and round.holds(condition.need):
            return True
    return False


class Settling:
    """Looks only at waits that the commit touched: accepted, fired, or on a queue with new messages."""

    __slots__ = ("_candidates", "_cursors", "_draft", "_enter_execute", "_pushed_count", "_touched_queues")

    def __init__(self, draft: Draft, enter_execute: EnterExecute) -> None:
        self._draft = draft
        self._enter_execute = enter_execute
        self._candidates: list[tuple[int, str, int, QueueKey | None]] = []
        """Order of the wait, execution, a number that tells equals apart, the queue it was found on."""
        self._pushed_count = 0
        self._cursors: dict[QueueKey, Iterator[Execution]] = {}
        self._touched_queues: dict[QueueKey, None] = {}

    def run(self) -> None:
        for execution_id in self._draft.touched_waits:
            self._add(self._draft.execution(execution_id), None)
        self._look_at_queues()
        while self._candidates and self._draft.is_open:
            _, execution_id, _, key = heapq.heappop(self._candidates)
            execution = self._draft.execution(execution_id)
            if execution is not None and execution.phase is Phase.WAITING:
                self._try(execution)
            self._look_at_queues()
            self._advance(key)
        self._drop_transient()

    def _try(self, execution: Execution) -> None:
        assert execution.wait is not None
        win = find_win(execution.wait, self._draft.at, self._draft.queue_size, self._draft.rounds.find)
        if win is not None:
            execution = self._draft.satisfy_wait(execution, win.winners, win.fired, win.counts)
            self._enter_execute(self._draft, execution)

    def _look_at_queues(self) -> None:
        """Queues with new messages, from their oldest waiter on; a join takes nothing: all its waiters."""
        rounds = self._draft.rounds
        while rounds.dirty:
            name, _ = rounds.dirty.popitem()
            round = rounds.find(name)
            for execution in self._draft.waiting_on((name, None)):
                if _may_end_wait(self._draft, name, round, execution):
                    self._add(execution, None)
        while self._draft.dirty_queues:
            key, _ = self._draft.dirty_queues.popitem()
            self._touched_queues[key] = None
            self._cursors[key] = self._draft.waiting_on(key)
            self._advance(key)

    def _advance(self, key: QueueKey | None) -> None:
        """Put the next waiter of the queue in line, as long as there is something to take."""
        if key is None or self._draft.queue_size(key) == 0:
            return
        self._add(next(self._cursors[key], None), key)

    def _add(self, execution: Execution | None, key: QueueKey | None) -> None:
        if execution is not None and execution.wait is not None:
            self._pushed_count += 1
            entry = (execution.wait.order, execution.id, self._pushed_count, key)
            heapq.heappush(self._candidates, entry)

    def _drop_transient(self) -> None:
        """A message that no wait could take in the commit that published it is dropped."""
        if not self._draft.is_open:
            return
        for key in self._touched_queues:
            if self._draft.flow.channels[key[0]].delivery is Delivery.TRANSIENT:
                self._draft.drop_unread(key)
