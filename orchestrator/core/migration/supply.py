"""Messages that a wait cannot do without: does anything publish them from here on, in the new version?"""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.migration.comparison import Comparison, Stand
from orchestrator.core.migration.outlook import Outlook
from orchestrator.core.migration.verdicts import Obstacle
from orchestrator.core.state import TIMEOUT_STEP, Phase, Run
from orchestrator.definition.model import ChannelCondition, Step


def check_supply(
    case: Comparison, stand: Stand, source: Step, target: Step, run: Run | None
) -> Iterator[Obstacle]:
    """Told is what the new definition takes away: what nothing published under the old one either is not."""
    accepted = _accepted(case, stand, source)
    wanted = case.new_outlook.starved(target.name, is_past_wait=stand.phase is not Phase.WAIT_FOR)
    if stand.phase is Phase.WAITING and target.wait_for is not None:
        wanted |= case.new_outlook.indispensable(target.wait_for) & accepted
    old_names = {case.renaming.channel(name): name for name in case.old.channels}
    old_wanted = case.old_outlook.starved(stand.step, is_past_wait=False)
    for channel in sorted(wanted):
        before = old_names.get(channel)
        if _is_supplied(case, case.new_outlook, channel, stand, target.name, accepted, run):
            continue
        if before is not None and before in old_wanted:
            if run is None and not _loses_supplier(case, before, channel):
                continue
            if run is not None and not _is_supplied(
                case, case.old_outlook, before, stand, stand.step, accepted, run
            ):
                continue
        yield Obstacle(
            stand.place, f"a wait needs channel {channel}, to which nothing publishes that is still to come"
        )


def _loses_supplier(case: Comparison, before: str, after: str) -> bool:
    """Whether some step, which a run may be at besides, led to a message once and does so no more."""
    for step in case.old.steps:
        for is_past in (False, True):
            if not case.old_outlook.supplies(before, step, is_past_wait=is_past):
                continue
            target = case.target(step)
            if target is None or not case.new_outlook.supplies(after, target.name, is_past_wait=is_past):
                return True
    return False


def _accepted(case: Comparison, stand: Stand, source: Step) -> frozenset[str]:
    """Channels that the accepted wait waits on, by new names."""
    if stand.phase is not Phase.WAITING:
        return frozenset()
    if stand.execution is not None:
        pending = stand.execution.wait.conditions if stand.execution.wait is not None else ()
        return frozenset(case.renaming.channel(c.channel) for c in pending if c.channel is not None)
    declared = source.wait_for.conditions if source.wait_for is not None else ()
    return frozenset(case.renaming.channel(c.channel) for c in declared if isinstance(c, ChannelCondition))


def _is_supplied(
    case: Comparison,
    outlook: Outlook,
    channel: str,
    stand: Stand,
    step: str,
    accepted: frozenset[str],
    run: Run | None,
) -> bool:
    """By steps ahead, by what lies there unread, or by what else is active in the run.

    `channel` and `step` are names of the outlook's definition.
    """
    is_new = outlook is case.new_outlook
    name = channel if is_new else case.renaming.channel(channel)
    is_past = stand.phase is not Phase.WAIT_FOR and name not in accepted
    if outlook.supplies(channel, step, is_past_wait=is_past):
        return True
    if run is None:
        return False
    if any(case.renaming.channel(queue) == name for queue, _ in run.queues):
        return True
    for execution in run.executions.values():
        if execution.step == TIMEOUT_STEP:
            continue
        other = case.target(execution.step)
        if other is None:
            continue
        waits = execution.wait.conditions if execution.wait is not None else ()
        is_held_up = execution.phase is Phase.WAITING and any(
            c.channel is not None and case.renaming.channel(c.channel) == name for c in waits
        )
        is_past = execution.phase is not Phase.WAIT_FOR and not is_held_up
        if outlook.supplies(channel, other.name if is_new else execution.step, is_past_wait=is_past):
            return True
    return False
