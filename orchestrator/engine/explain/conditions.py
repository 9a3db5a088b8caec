"""One wait, condition by condition: what it has, what it needs, who can still give it."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core.rounds import DraftRound, is_starved
from orchestrator.core.state import Execution, PendingCondition, Status, Wait
from orchestrator.engine.explain.explanation import Advice, ExplainedCondition, ExplainedWait, Explanation
from orchestrator.engine.explain.outlook import Outlook
from orchestrator.engine.explain.prospects import Prospects
from orchestrator.engine.explain.senders import Senders
from orchestrator.engine.explain.words import command, counted, names, queue_name, time_words


class Conditions:
    """Explains the waits of one run; `children`: what is known of the runs it waits for, by flow id."""

    def __init__(self, prospects: Prospects, senders: Senders, children: Mapping[str, Explanation]) -> None:
        self._prospects = prospects
        self._senders = senders
        self._children = children
        self._run = prospects.run

    def explain(self, execution: Execution, wait: Wait) -> ExplainedWait:
        kept = [index for index, condition in enumerate(wait.conditions) if not condition.is_left_out]
        places = {index: place for place, index in enumerate(kept)}
        return ExplainedWait(
            wait.combinator,
            tuple(tuple(places[index] for index in group) for group in wait.groups),
            tuple(self._explain(execution, wait.conditions[index]) for index in kept),
        )

    def _explain(self, execution: Execution, condition: PendingCondition) -> ExplainedCondition:
        if condition.channel is not None:
            return self._channel(condition, condition.channel)
        if condition.round is not None:
            return self._join(condition, condition.round)
        if condition.child is not None:
            return self._subflow(condition)
        return self._timer(execution, condition)

    def _channel(self, condition: PendingCondition, channel: str) -> ExplainedCondition:
        have, need = self._prospects.size((channel, condition.key)), condition.minimum
        name = queue_name(channel, condition.key)
        holds = have >= need
        declared = self._prospects.flow.channels[channel]
        why = None
        if not holds and not self._prospects.can_hold(channel, need):
            limit = 1 if declared.capacity is None else declared.capacity
            why = f"the channel never holds more than {counted(limit, 'message')}"
        elif not holds and not self._prospects.chart.senders_of(channel, condition.key):
            why = f"nothing in the definition publishes to {name}"
        return ExplainedCondition(
            id=condition.id,
            kind=condition.kind,
            holds=holds,
            can=self._prospects.of_condition(condition).word,
            text=f"{have} of {counted(need, 'message')} on {name}",
            channel=channel,
            key=condition.key,
            have=have,
            need=need,
            why=why,
            senders=() if holds else self._senders.explain(channel, condition.key),
        )

    def _timer(self, execution: Execution, condition: PendingCondition) -> ExplainedCondition:
        fires_at, now = condition.fires_at, self._prospects.now
        assert fires_at is not None
        text, help = "timer, has fired", tuple[Advice, ...]()
        if not condition.has_fired:
            text = f"timer, fires {time_words(fires_at, now)}"
            help = (Advice("fire it at once", self._skip_command(execution, condition)),)
        return ExplainedCondition(
            id=condition.id,
            kind=condition.kind,
            holds=condition.has_fired,
            can=self._prospects.of_condition(condition).word,
            text=text,
            fires_at=fires_at,
            help=help,
        )

    def _skip_command(self, execution: Execution, condition: PendingCondition) -> str:
        """The condition is named where there are several timers (rule 86)."""
        assert execution.wait is not None
        timers = [each for each in execution.wait.conditions if each.kind == "timer"]
        selector = () if len(timers) == 1 else (condition.id,)
        return command("skip-timer", self._run.flow_id, execution.id, *selector)

    def _join(self, condition: PendingCondition, name: str) -> ExplainedCondition:
        round = DraftRound(self._run.rounds[name])
        counting = tuple(each.id for each in self._prospects.counting.get(name, ()))
        starved = is_starved(condition, round)
        outlook, need = self._prospects.of_condition(condition), condition.need
        wanted = counted(need, "report") if isinstance(need, int) else f"`need: {need}`"
        text = f"{wanted} of join {round.join}: {_reports_text(round)}"
        text += f", {names(counting)} can still report" if counting else ", nothing can still report"
        why = _why_starved(condition, round) if starved else None
        if why is None and outlook is Outlook.NEVER:
            moves = self._prospects.moves
            why = f"{names([id for id in counting if moves[id] is Outlook.NEVER])} cannot move"
        return ExplainedCondition(
            id=condition.id,
            kind=condition.kind,
            holds=round.holds(need),
            can=outlook.word,
            text=text,
            round=name,
            have=round.report_count,
            need=need,
            branches=round.branch_count,
            counting=counting,
            missed=round.missed,
            is_starved=starved,
            why=why,
        )

    def _subflow(self, condition: PendingCondition) -> ExplainedCondition:
        child = condition.child
        assert child is not None
        is_over = child.status != Status.RUNNING
        known = self._children.get(child.flow_id)
        return ExplainedCondition(
            id=condition.id,
            kind=condition.kind,
            holds=is_over,
            can=self._prospects.of_condition(condition).word,
            text=f"run {child.flow_id} is {child.status}",
            subflow=child.flow_id,
            status=child.status,
            why=None if known is None or is_over else f"{known.verdict.replace('_', ' ')}: {known.summary}",
            help=() if is_over else (Advice("why it is where it is", command("explain", child.flow_id)),),
        )


def _reports_text(round: DraftRound) -> str:
    branches = counted(round.branch_count, "branch", "branches")
    reports = f"{counted(round.report_count, 'report')} from {branches}"
    if round.is_cancelled:
        return f"{reports}, cancelled"
    return f"{reports}, {counted(round.missed, 'miss', 'misses')}" if round.missed else reports


def _why_starved(condition: PendingCondition, round: DraftRound) -> str:
    """Language.md 5.1: it can no longer hold, and is recorded as starved."""
    need = condition.need
    if isinstance(need, int) and need > round.branch_count:
        return f"starved: it needs {counted(need, 'report')}, and the round has only {round.branch_count}"
    if isinstance(need, int):
        return "starved: nothing can report any more"
    if round.is_cancelled:
        return "starved: the round was cancelled while something counted in it"
    return f"starved: {round.missed} ended or were cancelled without a report"
