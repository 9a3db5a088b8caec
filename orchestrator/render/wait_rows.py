"""What a step waits for, in lines."""

from __future__ import annotations

from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Condition,
    JoinCondition,
    SubflowCondition,
    WaitFor,
)
from orchestrator.graph.labels import condition_text, id_prefix
from orchestrator.render.cards import Entry, Tap
from orchestrator.render.effect_rows import attempts_text, lock_entries
from orchestrator.render.metrics import text_width, wrap
from orchestrator.render.style import SMALL_SIZE, TEXT_SIZE, WRAP_WIDTH

LEAST_ROOM = 120.0
"""What is awaited stands below its id where the id leaves less."""

_HEADS = {
    Combinator.UNTIL: "waits for",
    Combinator.ANY_OF: "waits for any of",
    Combinator.ALL_OF: "waits for all of",
    Combinator.ANY_COMBINATION_OF: "waits for one of these combinations",
    Combinator.NONE: "commits first, waits for nothing",
}


def wait_entries(wait: WaitFor, has_channels: bool) -> list[Entry]:
    head = _HEADS.get(wait.combinator, "")
    if wait.combinator is Combinator.HANDLER and wait.handler is not None:
        head = f"waits for what ƒ {wait.handler.name} chooses:"
        if not wait.conditions:
            head = f"first ƒ {wait.handler.name}, then waits for nothing"
    if len(wait.conditions) == 1 and wait.combinator is not Combinator.HANDLER:
        return _condition_entries(wait.conditions[0], "waits for ", has_channels)
    entries = [Entry(line, "wait", SMALL_SIZE) for line in wrap(head, WRAP_WIDTH, SMALL_SIZE)]
    groups = [" + ".join(group) for group in wait.groups]
    entries += [Entry(group, "wait", TEXT_SIZE, 600, indent=8, prefix="• ") for group in groups]
    for condition in wait.conditions:
        prefix = f"{condition.id}: " if wait.groups else id_prefix(condition)
        entries += _condition_entries(condition, prefix, has_channels)
    return entries + _method_entries(wait)


def _method_entries(wait: WaitFor) -> list[Entry]:
    """Attempts and locks of the handler that chooses, and what its failure means (rule 89)."""
    if wait.handler is None:
        return []
    notes = [attempts_text(wait.handler.retry)] if wait.handler.retry.maximum_attempts else []
    if wait.proceeds_on_failure:
        notes.append("goes on when it fails")
    entries = [Entry(line, "muted", SMALL_SIZE) for line in wrap(" · ".join(notes), WRAP_WIDTH, SMALL_SIZE)]
    return entries + lock_entries(wait.handler.locks)


def _condition_entries(condition: Condition, prefix: str, has_channels: bool) -> list[Entry]:
    icon, tap = "clock", None
    match condition:
        case ChannelCondition(channel=channel):
            icon = "channel"
            if has_channels:
                tap = Tap(f"channel:{channel}", True, "wait_condition", condition_text(condition))
        case JoinCondition(join=join):
            icon = "join"
            tap = Tap(f"join:{join}", True, "wait_condition", condition_text(condition))
        case SubflowCondition():
            icon = "subflow"
        case _:
            pass
    text = condition_text(condition)
    room = WRAP_WIDTH - text_width(prefix, TEXT_SIZE)
    if room <= LEAST_ROOM:
        head, *others = wrap(prefix, WRAP_WIDTH, TEXT_SIZE)
        names = [Entry(head, "wait", TEXT_SIZE, 400, icon, tap=tap)]
        names += [Entry(line, "wait", TEXT_SIZE, indent=17) for line in others]
        return names + _indented(wrap(text, WRAP_WIDTH, TEXT_SIZE, 600, max_lines=4))
    first, *others = wrap(text, room, TEXT_SIZE, 600, max_lines=4)
    return [Entry(first, "wait", TEXT_SIZE, 600, icon, prefix, tap=tap), *_indented(others)]


def _indented(lines: list[str]) -> list[Entry]:
    return [Entry(line, "wait", TEXT_SIZE, 600, indent=17) for line in lines]
