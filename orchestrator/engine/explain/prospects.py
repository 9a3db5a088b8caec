"""By what each execution of a run can move, and each step can still be entered and act: a least fixpoint.

Everything begins at NEVER and improves as long as something does, so executions that wait only for each
other stay there. What depends on data (guards, computed counts, how often a step publishes) counts as
possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from orchestrator.core.rounds import DraftRound, DraftRounds, is_starved
from orchestrator.core.state import (
    TIMEOUT_ID,
    TIMEOUT_STEP,
    Execution,
    PendingCondition,
    Phase,
    QueueKey,
    Run,
    Status,
    Wait,
)
from orchestrator.core.tasks import proceeds_on_wait_failure
from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Condition,
    Delivery,
    Flow,
    SubflowCondition,
    TimerCondition,
    WaitFor,
)
from orchestrator.engine.explain.chart import Actor, ActorKind, Canceller, chart_of
from orchestrator.engine.explain.outlook import Outlook

Children = Mapping[str, Outlook]
"""What is known of other runs, by flow id; a run that is not there is taken to move."""


class Prospects:
    def __init__(
        self,
        flow: Flow,
        run: Run,
        now: datetime,
        children: Children | None = None,
        paused: frozenset[str] = frozenset(),
    ) -> None:
        self.flow = flow
        self.run = run
        self.now = now
        self.chart = chart_of(flow)
        self.children = children or {}
        self.paused = paused
        """Executions that are not begun before a client resumes their type."""
        self.active = [e for e in run.executions.values() if not _is_deadline(e)]
        self.deadline = run.executions.get(TIMEOUT_ID)
        """The run's deadline as long as it has not come."""
        if self.deadline is not None and not _is_deadline(self.deadline):
            self.deadline = None
        self.moves = {execution.id: Outlook.NEVER for execution in self.active}
        self.enters = dict.fromkeys(self.chart.next, Outlook.NEVER)
        """When an execution of the step, a further one or one whose wait is not accepted yet, can begin."""
        self.acts = dict(self.enters)
        """When an execution of the step can do its Execute and its decision."""
        self.counting = self._find_counting()
        self._actors: dict[QueueKey, list[Actor]] = {}
        self._is_changed = False
        self._solve()

    # --- What others ask ---

    def outlook_of(self, actor: Actor) -> Outlook:
        if actor.kind in (ActorKind.CLIENT, ActorKind.RPC):
            return Outlook.OUTSIDE
        return (self.enters if actor.in_wait else self.acts)[actor.name]

    def of_deadline(self) -> Outlook:
        if self.deadline is None:
            return Outlook.NEVER
        return Outlook.OUTSIDE if TIMEOUT_ID in self.paused else self._by(self.deadline.due_at)

    def of_closing(self) -> Outlook:
        """By a decision that closes the run whatever else is active."""
        return self._soonest(self.outlook_of(actor) for actor in self.chart.closers)

    def of_ending(self, execution: Execution) -> Outlook:
        """By being cancelled."""
        return self._soonest(self.outlook_of(each.actor) for each in self.cancellers_of(execution))

    def cancellers_of(self, execution: Execution) -> list[Canceller]:
        return [each for each in self.chart.cancellers if self._cancels(each, execution)]

    def of_condition(self, condition: PendingCondition, needed: int | None = None) -> Outlook:
        """`needed`: messages that its group needs of its queue in all."""
        if condition.channel is not None:
            needed = condition.minimum if needed is None else needed
            return self._of_queue((condition.channel, condition.key), needed)
        if condition.round is not None:
            return self._of_join(condition)
        if condition.child is not None:
            return self._of_child(condition)
        return Outlook.NOW if condition.has_fired else self._by(condition.fires_at)

    def can_hold(self, channel: str, needed: int) -> bool:
        """Whether the queue may ever hold so many messages."""
        declared = self.flow.channels[channel]
        if declared.delivery is Delivery.LATEST and needed > 1:
            return False
        return declared.capacity is None or needed <= declared.capacity

    def size(self, key: QueueKey) -> int:
        return len(self.run.queues.get(key, ()))

    # --- The fixpoint ---

    def _solve(self) -> None:
        for rpc in self.chart.starts:
            for step in self.chart.starts[rpc]:
                self._improve(self.enters, step, Outlook.OUTSIDE)
        if self.deadline is not None and self.deadline.locals.get("policy") == "handler":
            self._improve(self.acts, TIMEOUT_STEP, self.of_deadline())
        self._is_changed = True
        while self._is_changed:
            self._is_changed = False
            for execution in self.active:
                self._look_at(execution)
            for step, entered in self.enters.items():
                if entered is not Outlook.NEVER:
                    self._improve(self.acts, step, max(entered, self._of_future_wait(step)))
            for step, acted in self.acts.items():
                if acted is not Outlook.NEVER:
                    for following in self.chart.next[step]:
                        self._improve(self.enters, following, acted)

    def _look_at(self, execution: Execution) -> None:
        outlook = self._of_execution(execution)
        if execution.id in self.paused:
            outlook = max(outlook, Outlook.OUTSIDE)
        self._improve(self.moves, execution.id, outlook)
        if execution.phase is not Phase.WAIT_FOR:
            self._improve(self.acts, execution.step, outlook)
            return
        self._improve(self.enters, execution.step, outlook)
        if proceeds_on_wait_failure(self.flow, execution):
            self._improve(self.acts, execution.step, outlook)

    def _improve(self, outlooks: dict[str, Outlook], name: str, outlook: Outlook) -> None:
        if outlook < outlooks[name]:
            outlooks[name] = outlook
            self._is_changed = True

    def _of_execution(self, execution: Execution) -> Outlook:
        if execution.wanted_locks:
            holders = (self.run.locks.get(lock) for lock in execution.wanted_locks)
            return self._latest(self.moves.get(holder, Outlook.NOW) for holder in holders if holder)
        if execution.phase is not Phase.WAITING:
            return self._by(execution.due_at)
        assert execution.wait is not None
        return self._of_wait(execution.wait)

    def _of_wait(self, wait: Wait) -> Outlook:
        if not wait.groups:
            return Outlook.NOW
        return self._soonest(self._of_group(wait, group) for group in wait.groups)

    def _of_group(self, wait: Wait, group: tuple[int, ...]) -> Outlook:
        needed = needed_of_queues(wait, group)
        return self._latest(
            self.of_condition(condition, needed.get((condition.channel or "", condition.key)))
            for condition in (wait.conditions[index] for index in group)
        )

    def _of_queue(self, key: QueueKey, needed: int) -> Outlook:
        """A queue that already holds enough counts; messages of executions that may be cancelled do not."""
        if self.size(key) >= needed:
            return Outlook.NOW
        if not self.can_hold(key[0], needed):
            return Outlook.NEVER
        return self._soonest(self.outlook_of(actor) for actor in self._actors_of(key))

    def _actors_of(self, key: QueueKey) -> list[Actor]:
        actors = self._actors.get(key)
        if actors is None:
            actors = self._actors[key] = [sender.actor for sender in self.chart.senders_of(*key)]
        return actors

    def _of_join(self, condition: PendingCondition) -> Outlook:
        assert condition.round is not None
        round = DraftRound(self.run.rounds[condition.round])
        if round.holds(condition.need):
            return Outlook.NOW
        if is_starved(condition, round):
            return Outlook.NEVER
        counting = self.counting.get(condition.round, [])
        if isinstance(condition.need, int):
            return self._soonest(self.moves[execution.id] for execution in counting)
        if condition.need == "active":  # cancelling what counts satisfies it too
            return self._latest(min(self.moves[each.id], self.of_ending(each)) for each in counting)
        return self._latest(self.moves[execution.id] for execution in counting)

    def _of_child(self, condition: PendingCondition) -> Outlook:
        assert condition.child is not None
        if condition.child.status != Status.RUNNING:
            return Outlook.NOW
        outlook = self.children.get(condition.child.flow_id, Outlook.SUBFLOW)
        return max(outlook, Outlook.SUBFLOW)

    def _by(self, due_at: datetime | None) -> Outlook:
        if due_at is None:
            return Outlook.NEVER
        return Outlook.NOW if due_at <= self.now else Outlook.TIMER

    # --- Waits of executions to come ---

    def _of_future_wait(self, step: str) -> Outlook:
        """Of the wait that an execution of the step would have; what is not known yet counts as possible."""
        declared = self.flow.steps.get(step)
        wait_for = declared.wait_for if declared is not None else None
        if wait_for is None or not wait_for.conditions or wait_for.combinator is Combinator.HANDLER:
            return Outlook.NOW
        outlooks = {condition.id: self._of_declared(condition) for condition in wait_for.conditions}
        groups = ([outlooks[id] for id in group] for group in _declared_groups(wait_for))
        return self._soonest(self._latest(group) for group in groups)

    def _of_declared(self, condition: Condition) -> Outlook:
        if condition.when is not None or condition.for_each is not None:
            return Outlook.NOW  # it may be left out
        match condition:
            case ChannelCondition():
                return self._of_declared_channel(condition)
            case TimerCondition():
                return Outlook.TIMER
            case SubflowCondition():
                return Outlook.SUBFLOW
            case _:
                return Outlook.NOW

    def _of_declared_channel(self, condition: ChannelCondition) -> Outlook:
        if condition.key is not None and not condition.key.is_literal:
            return Outlook.NOW
        key = None if condition.key is None else str(condition.key.evaluate({}))
        bound = condition.exactly or condition.at_least
        if bound is None:
            needed = 0 if condition.at_most is not None else 1
        elif bound.is_literal:
            needed = int(bound.evaluate({}))
        else:
            return Outlook.NOW
        return self._of_queue((condition.channel, key), needed)

    # --- Pieces ---

    def _find_counting(self) -> dict[str, list[Execution]]:
        """The executions that can still report, by round."""
        counting: dict[str, list[Execution]] = {}
        if not self.run.rounds:
            return counting
        ledger = DraftRounds(self.flow, self.run, [])
        for execution in self.active:
            for round in ledger.counted(execution):
                counting.setdefault(round, []).append(execution)
        return counting

    def _cancels(self, canceller: Canceller, execution: Execution) -> bool:
        if canceller.join is not None:
            return any(place.round.partition("/")[0] == canceller.join for place in execution.line)
        if canceller.step != execution.step:
            return False
        if not canceller.is_for_siblings:
            return True
        return any(
            each.step == canceller.actor.name and each.origin == execution.origin and each.id != execution.id
            for each in self.active
        )

    @staticmethod
    def _soonest(outlooks: Iterable[Outlook]) -> Outlook:
        return min(outlooks, default=Outlook.NEVER)

    @staticmethod
    def _latest(outlooks: Iterable[Outlook]) -> Outlook:
        return max(outlooks, default=Outlook.NOW)


def needed_of_queues(wait: Wait, group: Iterable[int]) -> dict[QueueKey, int]:
    """Messages that the conditions of one group need of each queue together (rule 75)."""
    needed: dict[QueueKey, int] = {}
    for condition in (wait.conditions[index] for index in group):
        if condition.channel is not None:
            key = (condition.channel, condition.key)
            needed[key] = needed.get(key, 0) + condition.minimum
    return needed


def _declared_groups(wait_for: WaitFor) -> Iterable[tuple[str, ...]]:
    ids = tuple(condition.id for condition in wait_for.conditions)
    if wait_for.combinator is Combinator.ANY_COMBINATION_OF:
        return wait_for.groups
    if wait_for.combinator is Combinator.ANY_OF:
        return ((id,) for id in ids)
    return (ids,)


def _is_deadline(execution: Execution) -> bool:
    return execution.id == TIMEOUT_ID and execution.phase is Phase.WAITING
