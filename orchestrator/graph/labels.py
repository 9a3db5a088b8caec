"""Parts of a flow in words: the labels of edges, and what the diagrams write on cards."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.definition.model import (
    ChannelCondition,
    Condition,
    DeadEnd,
    Decision,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    ForceFail,
    GoTo,
    GoToMany,
    GracefulComplete,
    JoinCondition,
    Movement,
    Outcome,
    SubflowCondition,
    TimerCondition,
)
from orchestrator.definition.values import Value

OUTCOME_NAMES: dict[type[Outcome], str] = {
    GoTo: "go_to",
    GoToMany: "go_to_many",
    GracefulComplete: "graceful_complete",
    ForceComplete: "force_complete",
    ForceFail: "force_fail",
    DeadEnd: "dead_end",
    ForceCompleteIfChannelsEmpty: "force_complete_if_channels_empty",
}
"""The keys of language.md, section 5."""


def value_text(value: Value) -> str:
    """A value as written, without the `${…}` around a lone expression."""
    text = value.text.strip()
    if text.startswith("${") and text.endswith("}") and text.find("${", 2) < 0:
        return text[2:-1].strip()
    return text


def condition_text(condition: Condition) -> str:
    """`contractEditToken.for 1`, `timer 30m`, `subflow Billing`, `join reviews (all)`."""
    text = _bare_condition_text(condition)
    if condition.for_each is not None:
        text += f" × each {condition.as_name} in {value_text(condition.for_each)}"
    if condition.when is not None:
        text += f" when {condition.when.text.strip()}"
    return text


def id_prefix(condition: Condition) -> str:
    """`deadline: ` where the condition has an id of its own, which expressions use."""
    match condition:
        case ChannelCondition(channel=default) | JoinCondition(join=default) | SubflowCondition(flow=default):
            return f"{condition.id}: " if condition.id != default else ""
        case _:
            return f"{condition.id}: " if condition.id != "timer" else ""


def _bare_condition_text(condition: Condition) -> str:
    match condition:
        case ChannelCondition():
            return _channel_text(condition)
        case TimerCondition(after=None, at=at) if at is not None:
            return f"timer at {value_text(at)}"
        case TimerCondition(after=after) if after is not None:
            return f"timer {value_text(after)}"
        case SubflowCondition():
            return f"subflow {condition.flow}"
        case JoinCondition(need=need):
            return f"join {condition.join} ({need if isinstance(need, str) else value_text(need)})"
        case _:
            return condition.id


def _channel_text(condition: ChannelCondition) -> str:
    name = condition.channel
    if condition.key is not None:
        name += f"[{value_text(condition.key)}]"
    bounds = [
        f"{word} {value_text(bound)}"
        for word, bound in (
            ("for", condition.exactly),
            ("at_least", condition.at_least),
            ("at_most", condition.at_most),
        )
        if bound is not None
    ]
    return f"{name}.{', '.join(bounds) or 'for 1'}"


def empty_words(channels: Sequence[str]) -> str:
    return f"{' and '.join(channels)} {'is' if len(channels) == 1 else 'are'} empty"


def is_compound(guard: str) -> bool:
    """True when `&&` before or after `guard` would read it otherwise."""
    return "||" in guard or "?" in guard


def remaining_guard(decisions: Sequence[Decision], index: int) -> str:
    """When decision `index` is taken: the earlier ones of the same choice failed, and its own guard holds.

    A handler that chose a word considers only decisions of that word (language.md, section 5).
    """
    decision = decisions[index]
    rivals = [rival for rival in decisions[:index] if rival.choice == decision.choice]
    parts = ["false" if rival.when is None else f"!({rival.when.text.strip()})" for rival in rivals]
    if decision.when is not None:
        own = decision.when.text.strip()
        parts.append(f"({own})" if parts and is_compound(own) else own)
    return "false" if "false" in parts else " && ".join(parts)


def movement_label(guard: str, choice: str | None, movement: Movement) -> str:
    """What stands on a movement's edge: the choice, the guards, the multiplicity."""
    parts = [f"choice {choice}"] if choice is not None else []
    parts += [guard] if guard else []
    if movement.for_each is not None:
        parts.append(f"for each {movement.as_name} in {value_text(movement.for_each)}")
    if movement.when is not None:
        parts.append(f"when {movement.when.text.strip()}")
    return ", ".join(parts)
