"""Messages: enough for every join, none left over, never without bound."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.rounds import DraftRound, is_starved
from orchestrator.core.state import PendingCondition, Phase, Round
from orchestrator.definition.expressions import Literal
from orchestrator.definition.model import ChannelCondition, Delivery, JoinCondition, Path
from orchestrator.verify.analysis import Analysis
from orchestrator.verify.places import Place
from orchestrator.verify.properties import Check
from orchestrator.verify.properties.findings import kept, violated
from orchestrator.verify.report import EventKind, PropertyReport
from orchestrator.verify.search import first_growth
from orchestrator.verify.state import RoundCount, State
from orchestrator.verify.tracing import counterexample


def check_unsatisfiable_join(analysis: Analysis) -> Iterator[PropertyReport]:
    """A counting wait, or a join, for which too few reports can come."""
    if not _counted_channels(analysis) and not analysis.flow.joins:
        return
    for number in analysis.dead:
        found = _short_join(analysis, analysis.graph.states[number])
        if found is None:
            continue
        step, have, need, what, path = found
        trace = counterexample(analysis.graph, number)
        rule = "JON006" if any(event.cancels for event in trace.events) else "JON001"
        yield violated(
            "unsatisfiable_join",
            rule,
            f"`{step}` waits for {need} of `{what}`, and only {have} can come",
            path,
            trace,
            help="let every branch report once on each of its ways out, failures and cancels too",
        )
        return
    yield kept(analysis, "unsatisfiable_join", "JON001", "every join gets as many reports as it waits for")


def check_early_join(analysis: Analysis) -> Iterator[PropertyReport]:
    """A counting wait that ends before all reports have come: some are left at the end."""
    counted = _counted_channels(analysis)
    if not counted:
        return
    for number, state in analysis.completed:
        unread = {name: analysis.unread(state.queues, name) for name in counted}
        late = [name for name, left in unread.items() if left and not _may_be_left(analysis, name)]
        if not late:
            continue
        trace = counterexample(analysis.graph, number)
        left = unread[late[0]]
        yield violated(
            "early_join",
            "JON002",
            f"the wait for `{late[0]}` can end too early: {left} of its messages are never read",
            counted[late[0]],
            trace,
            help="count as many messages as there are branches that send one",
        )
        return
    yield kept(analysis, "early_join", "JON002", "no counting wait ends before its last report")


def check_orphan_message(analysis: Analysis) -> Iterator[PropertyReport]:
    """Messages that nobody has read when the run completes, by itself or by force."""
    tokens = {section.channel: section.capacity for section in analysis.sections}
    for name, channel in analysis.flow.channels.items():
        if _may_be_left(analysis, name):
            continue
        for number, state in analysis.completed:
            left = analysis.unread(state.queues, name) - tokens.get(name, 0)
            if left > 0:
                yield _orphans(
                    f"{left} message{'' if left == 1 else 's'} of `{name}`", channel.path, analysis, number
                )
                return
    yield kept(analysis, "orphan_message", "CHN002", "nothing is left unread when a run completes")


def _orphans(what: str, path: Path, analysis: Analysis, number: int) -> PropertyReport:
    trace = counterexample(analysis.graph, number)
    last = trace.events[-1]
    if last.kind is EventKind.COMPLETED:
        return violated(
            "orphan_message",
            "CHN002",
            f"{what} can be left unread when the run completes",
            path,
            trace,
            help="read them before completing, or say `leftover: true`",
        )
    return violated(
        "orphan_message",
        "CHN003",
        f"the forced completion can drop {what} unread",
        path,
        trace,
        also=((last.path, "completes by force"),),
        help="complete with `force_complete_if_channels_empty`, or say `leftover: true`",
    )


def check_unbounded_channel(analysis: Analysis) -> Iterator[PropertyReport]:
    """Messages or executions that pile up."""
    for last, _ in analysis.graph.pumped:
        before, number = first_growth(analysis.graph, last)
        state, ancestor = analysis.graph.states[number], analysis.graph.states[before]
        grown = [
            name
            for name in analysis.flow.channels
            if analysis.unread(state.queues, name) > analysis.unread(ancestor.queues, name)
        ]
        way = analysis.graph.path_to(number)
        length = len(analysis.graph.path_to(before))
        trace = counterexample(analysis.graph, before, cycle=way[length:])
        what = f"messages of `{grown[0]}`" if grown else "executions"
        path = analysis.flow.channels[grown[0]].path if grown else trace.cycle[0].path
        yield violated(
            "unbounded_channel",
            "CHN001",
            f"{what} pile up without bound: a cycle makes more than is used up",
            path,
            trace,
            also=tuple((event.path, "and again") for event in trace.cycle[:3]),
            help="wait in the cycle for what it sends, or give the channel a `capacity`",
        )
        return
    yield kept(analysis, "unbounded_channel", "CHN001", "no channel grows without bound")


def _counted_channels(analysis: Analysis) -> dict[str, tuple[str | int, ...]]:
    """Channels of which a wait takes a number of messages, and where it says so."""
    found: dict[str, tuple[str | int, ...]] = {}
    for step in analysis.flow.steps.values():
        for condition in step.wait_for.conditions if step.wait_for is not None else ():
            if not isinstance(condition, ChannelCondition) or condition.exactly is None:
                continue
            is_one = isinstance(condition.exactly, Literal) and condition.exactly.value == 1
            if not is_one:
                found.setdefault(condition.channel, condition.path)
    return found


def _may_be_left(analysis: Analysis, name: str) -> bool:
    channel = analysis.flow.channels[name]
    is_queue = channel.delivery is Delivery.QUEUED
    return channel.leftover or not is_queue or name in analysis.fed_from_outside


def _short_join(
    analysis: Analysis, state: State
) -> tuple[str, int, int | str, str, tuple[str | int, ...]] | None:
    """(step, what has come, what it needs, channel or join, where)"""
    counted = _counted_channels(analysis)
    rounds = {round.name: round for round in state.rounds}
    for place, _ in analysis.active(state):
        if place.phase is not Phase.WAITING or place.wait is None:
            continue
        for pending in place.wait.conditions:
            path = _declared_path(analysis, place, pending)
            if pending.channel in counted and pending.minimum > 1:
                have = analysis.unread(state.queues, pending.channel or "")
                if have < pending.minimum:
                    return place.step, have, pending.minimum, pending.channel or "", path
            if pending.channel in counted and pending.minimum == 1 and path == counted[pending.channel]:
                return place.step, 0, 1, pending.channel, path
            if pending.round is not None and _is_short(pending, rounds[pending.round]):
                round = rounds[pending.round]
                need = round.branch_count if pending.need == "all" else pending.need
                return place.step, round.report_count, need or 0, pending.round.partition("/")[0], path
    return None


def _is_short(pending: PendingCondition, round: RoundCount) -> bool:
    draft = DraftRound(Round(round.name.partition("/")[0], *round[1:6]))
    return is_starved(pending, draft) or (isinstance(pending.need, int) and round.report_count < pending.need)


def _declared_path(analysis: Analysis, place: Place, pending: PendingCondition) -> tuple[str | int, ...]:
    wait_for = analysis.flow.steps[place.step].wait_for
    assert wait_for is not None
    declared = next(each for each in wait_for.conditions if each.id == pending.id)
    assert isinstance(declared, ChannelCondition | JoinCondition) or declared.path
    return declared.path


CHECKS: dict[str, Check] = {
    "unsatisfiable_join": check_unsatisfiable_join,
    "early_join": check_early_join,
    "unbounded_channel": check_unbounded_channel,
    "orphan_message": check_orphan_message,
}
