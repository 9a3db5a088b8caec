"""`explain_run`: the whole answer for one run, out of its definition and its state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from orchestrator.core.pauses import NO_PAUSES, Pauses
from orchestrator.core.state import Execution, Phase, Run, Status
from orchestrator.core.tasks import method_options
from orchestrator.definition.model import Flow
from orchestrator.engine.describe import phase_of
from orchestrator.engine.explain.chart import ActorKind, Canceller
from orchestrator.engine.explain.conditions import Conditions
from orchestrator.engine.explain.cycles import find_cycles
from orchestrator.engine.explain.explanation import (
    Advice,
    ExplainedExecution,
    ExplainedFailure,
    ExplainedLock,
    ExplainedWait,
    Explanation,
    NextDue,
)
from orchestrator.engine.explain.outlook import Outlook, Verdict
from orchestrator.engine.explain.prospects import Prospects
from orchestrator.engine.explain.queued import Lines
from orchestrator.engine.explain.senders import Senders, rpc_command
from orchestrator.engine.explain.summary import Summary, closing_words
from orchestrator.engine.explain.verdicts import paused_executions, verdict_of
from orchestrator.engine.explain.words import command, names, time_words

_OUTLOOK_OF_CHILD = {
    Verdict.STUCK: Outlook.NEVER,
    Verdict.OUTSIDE: Outlook.OUTSIDE,
}


def explain_run(
    flow: Flow,
    run: Run,
    leased: Iterable[str],
    now: datetime,
    *,
    children: Mapping[str, Explanation] | None = None,
    closing_event: str | None = None,
    pauses: Pauses = NO_PAUSES,
    lines: Lines | None = None,
) -> Explanation:
    """Pure. `leased`: executions that a worker has; `children`: of the runs it waits for, by flow id.

    `lines`: the queues, when they are known.
    """
    leased = frozenset(leased)
    children = children or {}
    outlooks = {
        flow_id: _OUTLOOK_OF_CHILD.get(Verdict(child.verdict), Outlook.SUBFLOW)
        for flow_id, child in children.items()
    }
    paused = paused_executions(flow, run, leased, pauses)
    prospects = Prospects(flow, run, now, outlooks, paused)
    return _Explaining(prospects, leased, children, pauses, lines).explain(closing_event)


class _Explaining:
    def __init__(
        self,
        prospects: Prospects,
        leased: frozenset[str],
        children: Mapping[str, Explanation],
        pauses: Pauses,
        lines: Lines | None,
    ) -> None:
        self._pauses = pauses
        self._lines = lines
        self._prospects = prospects
        self._run = prospects.run
        self._now = prospects.now
        self._leased = leased
        self._senders = Senders(prospects, leased)
        self._conditions = Conditions(prospects, self._senders, children)

    def explain(self, closing_event: str | None) -> Explanation:
        run, verdict = self._run, verdict_of(self._prospects)
        is_open = run.status is Status.RUNNING
        active = tuple(self._execution(each) for each in self._prospects.active) if is_open else ()
        cycles = find_cycles(self._prospects) if is_open else ()
        next_due = self._next_due() if is_open else None
        summary = Summary(self._prospects, active, cycles, next_due)
        return Explanation(
            flow_id=run.flow_id,
            run_id=run.run_id,
            flow=self._prospects.flow.name,
            status=str(run.status),
            at=self._now,
            verdict=str(verdict),
            summary=summary.write(verdict) if is_open else closing_words(run, closing_event),
            active=active,
            cycles=cycles,
            next_due=next_due,
            help=tuple(self._help(verdict, active)) if is_open else (),
        )

    # --- One execution ---

    def _execution(self, execution: Execution) -> ExplainedExecution:
        maximum = method_options(self._prospects.flow, execution).retry.maximum_attempts or None
        wait = None
        if execution.phase is Phase.WAITING and execution.wait is not None:
            wait = self._conditions.explain(execution, execution.wait)
        return ExplainedExecution(
            step=execution.step,
            step_execution_id=execution.id,
            phase=phase_of(execution, execution.id in self._leased, self._now),
            can_move=self._prospects.moves[execution.id].word,
            text=self._pause_words(execution) + self._state_words(execution, wait, maximum),
            attempt=execution.attempt,
            maximum_attempts=maximum,
            due_at=execution.due_at,
            last_failure=_failure(execution, maximum),
            locks=tuple(ExplainedLock(lock, self._run.locks.get(lock)) for lock in execution.wanted_locks),
            wait=wait,
            ended_by=tuple(self._ended_by(execution)),
            help=tuple(self._help_for(execution)),
            paused=execution.id in self._prospects.paused,
            queue=self._queue_of(execution),
            held_back=self._held_back(execution),
        )

    def _stands_in_line(self, execution: Execution) -> bool:
        """A call of its handler is ready, and no worker has it."""
        if self._lines is None or execution.phase is Phase.WAITING or execution.id in self._prospects.paused:
            return False
        is_due = execution.due_at is not None and execution.due_at <= self._now
        return is_due and execution.id not in self._leased

    def _queue_of(self, execution: Execution) -> str | None:
        if self._lines is None or not self._stands_in_line(execution):
            return None
        return self._lines.name_of(self._prospects.flow.name, execution.step)

    def _held_back(self, execution: Execution) -> str | None:
        if self._lines is None or not self._stands_in_line(execution):
            return None
        return self._lines.why_not_begun(self._prospects.flow.name, execution.step)

    def _pause_words(self, execution: Execution) -> str:
        return "paused; " if execution.id in self._prospects.paused else ""

    def _state_words(self, execution: Execution, wait: ExplainedWait | None, maximum: int | None) -> str:
        if execution.wanted_locks:
            return "waiting for locks"
        if wait is not None:
            return _combinator_words(wait)
        what = "execute" if execution.phase is Phase.EXECUTE else "wait_for"
        attempt = f"attempt {execution.attempt}" + (f" of {maximum}" if maximum else "")
        state = phase_of(execution, execution.id in self._leased, self._now)
        if state == "running":
            return f"running {what}, {attempt}"
        when = time_words(execution.due_at, self._now) if execution.due_at is not None else ""
        if state == "backing_off":
            return f"backing off, {attempt} comes {when}"
        if when != "now":
            return f"begins {when}"
        held_back = self._held_back(execution)
        return f"ready for {what}, {attempt}, {held_back or 'not taken by a worker'}"

    def _ended_by(self, execution: Execution) -> Iterator[str]:
        """Who can still cancel it."""
        for canceller in self._prospects.cancellers_of(execution):
            if self._prospects.outlook_of(canceller.actor) is not Outlook.NEVER:
                yield _canceller_words(canceller)

    def _help_for(self, execution: Execution) -> Iterator[Advice]:
        if execution.id in self._prospects.paused:
            flow = self._prospects.flow.name
            if not self._pauses.covers_flow(flow):
                yield Advice("let it go on", command("resume", f"{flow}/{execution.step}"))
            return
        if execution.phase is Phase.WAITING or execution.due_at is None or execution.id in self._leased:
            return
        flow_id = self._run.flow_id
        if execution.due_at <= self._now and self._lines is not None:
            yield from self._lines.help_for(self._prospects.flow.name, execution.step)
        elif execution.due_at <= self._now:
            yield Advice("a worker must be running", command("worker"))
        elif execution.last_failure is not None:
            yield Advice("try again at once", command("retry-now", flow_id, execution.id))

    # --- The run ---

    def _next_due(self) -> NextDue | None:
        """The earliest of what can move something: timers that cannot end their wait do not count."""
        candidates = [due for each in self._prospects.active if (due := self._due(each)) is not None]
        deadline = self._prospects.deadline
        if deadline is not None and deadline.due_at is not None and deadline.id not in self._prospects.paused:
            when = time_words(deadline.due_at, self._now)
            policy = _POLICY_WORDS[deadline.locals["policy"]]
            candidates.append(
                NextDue("deadline", deadline.due_at, deadline.id, f"{policy} at its deadline, {when}")
            )
        return min(candidates, key=lambda due: due.at, default=None)

    def _due(self, execution: Execution) -> NextDue | None:
        at, id = execution.due_at, execution.id
        if id in self._prospects.paused:
            return None
        if at is None or at <= self._now or id in self._leased:
            return None
        when = time_words(at, self._now)
        if execution.phase is not Phase.WAITING:
            if execution.last_failure is None:
                return NextDue("start", at, id, f"{id} begins {when}")
            return NextDue("retry", at, id, f"{id} tries again (attempt {execution.attempt}) {when}")
        if self._prospects.moves[id] is Outlook.NEVER:
            return None
        assert execution.wait is not None
        timers = [c.id for c in execution.wait.conditions if c.fires_at == at and not c.has_fired]
        return NextDue("timer", at, id, f"{names(timers)} of {id} fires {when}")

    def _help(self, verdict: Verdict, active: tuple[ExplainedExecution, ...]) -> Iterator[Advice]:
        """What may be done about the run as a whole."""
        flow_id, flow = self._run.flow_id, self._prospects.flow
        if self._pauses.covers_flow(flow.name):
            yield resume_flow(flow.name)
        if self._prospects.deadline is not None:
            yield Advice("let the deadline come at once", command("skip-timer", flow_id, "--deadline"))
        if not active or verdict is Verdict.OUTSIDE:
            for rpc in self._helpful_rpcs(active):
                yield Advice(f"RPC {rpc}", rpc_command(flow, flow_id, rpc))
        queues = dict.fromkeys(channel for each in active for channel in _out_of_reach(each))
        if queues:
            yield Advice(
                f"no command sends to {names(list(queues))}: for runs to come, let every way out of a step "
                "publish there, or declare it `external: true`"
            )
        if verdict is Verdict.STUCK:
            yield Advice("end the run", command("stop", flow_id, "--type", "fail", "--reason", "TEXT"))

    def _helpful_rpcs(self, active: tuple[ExplainedExecution, ...]) -> list[str]:
        """RPCs that start a step or cancel what is active, beyond those named as senders."""
        chart = self._prospects.chart
        named = {
            sender.name
            for each in active
            for condition in (each.wait.conditions if each.wait else ())
            for sender in condition.senders
            if sender.kind == ActorKind.RPC
        }
        cancelling = {
            canceller.actor.name
            for execution in self._prospects.active
            for canceller in self._prospects.cancellers_of(execution)
            if canceller.actor.kind is ActorKind.RPC
        }
        return [
            rpc for rpc, steps in chart.starts.items() if rpc not in named and (steps or rpc in cancelling)
        ]


def resume_flow(flow: str) -> Advice:
    return Advice("let runs of this type go on", command("resume", flow))


def _failure(execution: Execution, maximum: int | None) -> ExplainedFailure | None:
    failure = execution.last_failure
    if failure is None:
        return None
    return ExplainedFailure(failure.type, failure.message, execution.attempt - 1, maximum)


def _out_of_reach(execution: ExplainedExecution) -> Iterator[str]:
    """Channels that a stuck execution waits for and that take nothing from outside."""
    if execution.can_move != Outlook.NEVER.word or execution.wait is None:
        return
    for condition in execution.wait.conditions:
        is_open = any(sender.command is not None for sender in condition.senders)
        if condition.can == Outlook.NEVER.word and condition.channel is not None and not is_open:
            yield condition.channel


def _combinator_words(wait: ExplainedWait) -> str:
    if len(wait.groups) > 1:
        is_plain = all(len(group) == 1 for group in wait.groups)
        return "waiting for one of" if is_plain else "waiting for one of these combinations"
    return "waiting for all of" if len(wait.groups[0]) > 1 else "waiting"


def _canceller_words(canceller: Canceller) -> str:
    actor = canceller.actor
    match actor.kind:
        case ActorKind.RPC:
            return f"RPC {actor.name}"
        case ActorKind.TIMEOUT_HANDLER:
            return "the timeout handler"
        case _:
            return f"step {actor.name}"


_POLICY_WORDS = {"fail": "the run fails", "cancel": "the run is canceled", "handler": "on_timeout runs"}
