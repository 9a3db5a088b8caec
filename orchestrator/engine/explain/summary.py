"""The first line of an explanation: the verdict in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.core.state import Run, Status
from orchestrator.definition.durations import span_words
from orchestrator.engine.explain.chart import ActorKind
from orchestrator.engine.explain.explanation import Cycle, ExplainedCondition, ExplainedExecution, NextDue
from orchestrator.engine.explain.outlook import Outlook, Verdict
from orchestrator.engine.explain.prospects import Prospects
from orchestrator.engine.explain.queued import NO_WORKER
from orchestrator.engine.explain.words import counted, names, queue_name

_CLAUSES_SHOWN = 3


class Summary:
    def __init__(
        self,
        prospects: Prospects,
        active: Sequence[ExplainedExecution],
        cycles: Sequence[Cycle],
        next_due: NextDue | None,
    ) -> None:
        self._prospects = prospects
        self._active = active
        self._cycles = cycles
        self._next_due = next_due

    def write(self, verdict: Verdict) -> str:
        paused = [each.step_execution_id for each in self._active if each.paused]
        if not paused:
            return self._write(verdict)
        what = paused_words(paused)
        if len(paused) == len(self._active):
            return what
        return f"{what}; {self._write(verdict)}"

    def _write(self, verdict: Verdict) -> str:
        match verdict:
            case Verdict.PROGRESSING:
                text = self._progress()
            case Verdict.TIMER:
                text = self._next_due.text if self._next_due is not None else ""
            case Verdict.SUBFLOW:
                text = joined(list(self._subflows()))
            case Verdict.OUTSIDE:
                return self._outside()
            case _:
                return self._stuck() if self._active else "no step is active, and no RPC starts one"
        return f"{text}; {self._stuck()}" if self._stuck_ones() else text

    def _progress(self) -> str:
        running = [each.step_execution_id for each in self._active if each.phase == "running"]
        if running:
            return f"{names(running)} {'is' if len(running) == 1 else 'are'} running"
        ready = [
            each
            for each in self._active
            if each.phase == "queued" and each.due_at is not None and each.due_at <= self._prospects.now
        ]
        if not ready:
            return "a timer is due"
        since = max(self._prospects.now - each.due_at for each in ready if each.due_at is not None)
        ids, is_one = names([each.step_execution_id for each in ready]), len(ready) == 1
        reasons = dict.fromkeys(each.held_back for each in ready)
        if len(reasons) == 1 and (reason := ready[0].held_back) not in (None, NO_WORKER):
            return held_back_words([each.step_execution_id for each in ready], str(reason))
        if since.total_seconds() < 1:
            return f"{ids} {'is' if is_one else 'are'} ready for a worker"
        has, it = ("has", "it") if is_one else ("have", "them")
        return f"{ids} {has} been ready for {span_words(since)}, and no worker has taken {it}"

    def _subflows(self) -> Iterator[str]:
        for execution, condition in self._missing():
            if condition.subflow is not None:
                yield f"{execution.step_execution_id} waits for run {condition.subflow}"

    def _outside(self) -> str:
        if not self._active:
            rpcs = [f"RPC {rpc}" for rpc, steps in self._prospects.chart.starts.items() if steps]
            return f"no step is active; {names(rpcs, 'or')} may start one"
        clauses: dict[str, None] = {}
        for execution, condition in self._missing():
            who = names([_who(each.kind, each.name) for each in condition.senders if each.command], "or")
            if who and condition.can == Outlook.OUTSIDE.word:
                queue = queue_name(condition.channel or "", condition.key)
                clauses[f"{execution.step} waits for {queue}, which {who} may send"] = None
        if clauses:
            return joined(list(clauses))
        return self._by_rpcs()

    def _by_rpcs(self) -> str:
        """What is active is moved, or ended, only by what an RPC does or starts."""
        chart = self._prospects.chart
        rpcs = [f"RPC {rpc}" for rpc in chart.starts if self._is_of_help(rpc)]
        ids = names([each.step_execution_id for each in self._active])
        return f"{ids} cannot move unless {names(rpcs, 'or')} is called"

    def _is_of_help(self, rpc: str) -> bool:
        cancels = (c.actor for c in self._prospects.chart.cancellers)
        is_canceller = any(actor.kind is ActorKind.RPC and actor.name == rpc for actor in cancels)
        return is_canceller or bool(self._prospects.chart.starts[rpc])

    # --- Stuck ---

    def _stuck(self) -> str:
        in_cycles = {id for cycle in self._cycles for id in cycle.step_execution_ids}
        clauses: dict[str, list[str]] = {}
        for execution in self._stuck_ones():
            if execution.step_execution_id not in in_cycles:
                clauses.setdefault(self._why_stuck(execution), []).append(execution.step_execution_id)
        others = [
            f"{names(ids)} {'waits' if len(ids) == 1 else 'wait'} {why}" for why, ids in clauses.items()
        ]
        return joined([*(cycle.text for cycle in self._cycles), *others])

    def _stuck_ones(self) -> list[ExplainedExecution]:
        return [each for each in self._active if each.can_move == Outlook.NEVER.word]

    @staticmethod
    def _why_stuck(execution: ExplainedExecution) -> str:
        needs = []
        for condition in execution.wait.conditions if execution.wait is not None else ():
            if condition.can != Outlook.NEVER.word:
                continue
            if condition.channel is None:
                needs.append(f"{condition.text} ({condition.why})")
                continue
            left = int(condition.need or 0) - (condition.have or 0)
            what = counted(left, "more message" if condition.have else "message")
            why = f"but {condition.why}" if condition.why and condition.senders else "which nobody can send"
            needs.append(f"{what} on {queue_name(condition.channel, condition.key)}, {why}")
        return f"for {' and '.join(needs)}" if needs else "for what cannot come"

    def _missing(self) -> Iterator[tuple[ExplainedExecution, ExplainedCondition]]:
        for execution in self._active:
            for condition in execution.wait.conditions if execution.wait is not None else ():
                if not condition.holds:
                    yield execution, condition


def paused_words(ids: Sequence[str], owner: str = "") -> str:
    return f"{names(ids)}{owner} {'is' if len(ids) == 1 else 'are'} paused"


def held_back_words(ids: Sequence[str], reason: str, owner: str = "") -> str:
    return f"{names(ids)}{owner} {'is' if len(ids) == 1 else 'are'} ready, but {reason}"


def _who(kind: str, name: str) -> str:
    return "a client" if kind == ActorKind.CLIENT else f"RPC {name}"


def joined(clauses: list[str]) -> str:
    more = len(clauses) - _CLAUSES_SHOWN
    return "; ".join([*clauses[:_CLAUSES_SHOWN], *([f"and {more} more like this"] if more > 0 else [])])


def closing_words(run: Run, closing_event: str | None) -> str:
    """How a closed run was closed, and why. `closing_event`: the kind of its last event, where known."""
    error = run.error
    if run.status is Status.COMPLETED:
        givers = [output.step_execution_id for output in run.outputs]
        return f"completed, with output of {names(givers)}" if givers else "completed, without output"
    if error is not None:
        at = f" at {error.step_execution_id}" if error.step_execution_id else ""
        return f"{str(run.status).lower()}, {error.type}{at}: {error.message}"
    if run.status is Status.CANCELED:
        by = {"StopRequested": " by a client", "TimerDue": " at its deadline"}.get(closing_event or "", "")
        return f"canceled{by}"
    return "terminated by a client"
