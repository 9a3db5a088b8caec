"""One notion of what can move a run, for `explain` and for the end of `run`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from orchestrator.core.pauses import Pauses
from orchestrator.core.state import Phase, Run, Status
from orchestrator.definition.model import Flow
from orchestrator.engine.explain.outlook import VERDICTS, Outlook, Verdict
from orchestrator.engine.explain.prospects import Prospects


def paused_executions(flow: Flow, run: Run, leased: Iterable[str], pauses: Pauses) -> frozenset[str]:
    """Ids of those that are not begun before a client resumes their type."""
    if not pauses:
        return frozenset()
    covered = {each.id for each in run.executions.values() if pauses.covers(flow.name, each.step)}
    return frozenset(covered - set(leased))


def find_verdict(flow: Flow, run: Run, now: datetime, paused: frozenset[str] = frozenset()) -> Verdict:
    """At little cost while something is ready, in flight or backing off."""
    if run.status is not Status.RUNNING:
        return Verdict.CLOSED
    is_later = False
    for each in run.executions.values():
        if each.due_at is None or each.phase is Phase.WAITING or each.id in paused:
            continue
        if each.due_at <= now:
            return Verdict.PROGRESSING
        is_later = True
    if is_later:
        return Verdict.TIMER
    return verdict_of(Prospects(flow, run, now, paused=paused))


def verdict_of(prospects: Prospects) -> Verdict:
    """What comes soonest: an execution moves, is cancelled, or the run is closed."""
    if prospects.run.status is not Status.RUNNING:
        return Verdict.CLOSED
    return VERDICTS[min(outlook_of_moving(prospects), outlook_of_ending(prospects), prospects.of_deadline())]


def outlook_of_moving(prospects: Prospects) -> Outlook:
    """Of the execution that moves first."""
    return min(prospects.moves.values(), default=Outlook.NEVER)


def outlook_of_ending(prospects: Prospects) -> Outlook:
    """That something else ends an execution, or the run; without any, that an RPC starts one."""
    if not prospects.active:
        return Outlook.OUTSIDE if any(prospects.chart.starts.values()) else Outlook.NEVER
    endings = [prospects.of_ending(execution) for execution in prospects.active]
    return min([*endings, prospects.of_closing()])


def is_blocked(verdict: Verdict, *, has_active: bool, until_blocked: bool) -> bool:
    """Whether a worker waits in vain. `until_blocked`: also when only the outside can help.

    A run without active step counts as blocked even if RPCs may start one.
    """
    if verdict is Verdict.STUCK:
        return True
    return verdict is Verdict.OUTSIDE and (until_blocked or not has_active)
