"""Parts of a definition as flat entries of text, so that two can be compared entry by entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import timedelta
from enum import Enum
from typing import Any, NamedTuple

from orchestrator.definition.durations import format_duration
from orchestrator.definition.model import (
    Condition,
    Decision,
    Movement,
    Path,
    Publish,
    Report,
    SetAttribute,
    WaitFor,
)
from orchestrator.definition.type_text import compact
from orchestrator.definition.types import Type
from orchestrator.definition.values import Value
from orchestrator.graph.labels import OUTCOME_NAMES, condition_text, value_text
from orchestrator.graph.query import movements_of, otherwise_of

_SILENT = frozenset({"path", "name", "description", "is_listed", "decisions", "conditions", "hash", "source"})
_KEYS = {"is_external": "external", "is_map": "map", "combinator": "", "proceeds_on_failure": "on_failure"}


class Said(NamedTuple):
    text: str
    path: Path


def entries_of(element: Any) -> dict[str, Said]:
    """By label, such as `execute.retry.maximum_attempts`; what is left at its default is not there."""
    return dict(_walk(element, "", ()))


def _walk(element: Any, label: str, path: Path) -> Iterator[tuple[str, Said]]:
    path = getattr(element, "path", ()) or path
    for each in fields(element):
        value = getattr(element, each.name)
        if each.name in _SILENT or value is None or _is_default(each, value):
            continue
        key = _KEYS.get(each.name, each.name)
        inner = ".".join(part for part in (label, key) if part)
        yield from _say(value, inner, (*path, key) if key else path)
    if isinstance(element, WaitFor):
        for condition in element.conditions:
            yield f"{label} condition {condition.id}", Said(condition_text(condition), condition.path)
            yield from _details(condition, f"{label} condition {condition.id}")


def _details(condition: Condition, label: str) -> Iterator[tuple[str, Said]]:
    """What the short text of a condition leaves out."""
    for each in fields(condition):
        value = getattr(condition, each.name)
        is_told = each.name in ("input", "flow_id", "reuse", "timeout", "config", "if_abandoned")
        if is_told and value is not None and not _is_default(each, value):
            yield from _say(value, f"{label}.{each.name}", condition.path)


def _is_default(each: Field[Any], value: Any) -> bool:
    if each.default is not MISSING:
        return bool(value == each.default)
    return each.default_factory is not MISSING and bool(value == each.default_factory())


def _say(value: Any, label: str, path: Path) -> Iterator[tuple[str, Said]]:
    if isinstance(value, Mapping) and any(is_dataclass(part) for part in value.values()):
        for name, part in value.items():
            yield f"{label}.{name}", Said(_text(part), (*path, name))
    elif is_dataclass(value) and not isinstance(value, type) and type(value).__name__ not in _TEXTS:
        spelled = list(_walk(value, label, path))
        name = getattr(value, "name", None) or getattr(value, "step", None)
        yield label, Said(str(name) if name else "yes", getattr(value, "path", ()) or path)
        yield from (each for each in spelled if each[0] != f"{label}.step")
    else:
        yield label, Said(_text(value), path)


def _text(value: Any) -> str:
    if isinstance(value, Value):
        return value_text(value)
    if isinstance(value, Type):
        return value.text
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple | list):
        return ", ".join(_text(part) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_dataclass(value):
        spell = _TEXTS.get(type(value).__name__)
        return spell(value) if spell is not None else compact_of(value)
    return value if isinstance(value, str) else compact(value)


def compact_of(element: Any) -> str:
    """`attribute total, key a`"""
    said = ((each.name, getattr(element, each.name)) for each in fields(element) if each.name != "path")
    return ", ".join(f"{name} {_text(value)}" for name, value in said if value is not None)


def _may_range(span: Any) -> str:
    most = "any number" if span.maximum is None else str(span.maximum)
    return f"{span.minimum} to {most}"


def _effect_text(effect: SetAttribute | Publish | Report) -> str:
    verb, name = {
        SetAttribute: ("set", getattr(effect, "attribute", "")),
        Publish: ("publish", getattr(effect, "channel", "")),
        Report: ("report", getattr(effect, "join", "")),
    }[type(effect)]
    key = getattr(effect, "key", None)
    rest = [
        f"{word} {value_text(part)}"
        for word, part in (
            ("when", getattr(effect, "when", None)),
            ("for_each", getattr(effect, "for_each", None)),
        )
        if part is not None
    ]
    place = f"{name}[{value_text(key)}]" if key is not None else name
    return " ".join([verb, f"{place} = {value_text(effect.value)}", *rest])


def _movement_text(movement: Movement) -> str:
    parts = [movement.step]
    if movement.for_each is not None:
        parts.append(f"for each {movement.as_name} in {value_text(movement.for_each)}")
    if movement.input is not None:
        parts.append(f"with {value_text(movement.input)}")
    if movement.when is not None:
        parts.append(f"when {value_text(movement.when)}")
    if not movement.branch:
        parts.append("outside of the round")
    if movement.options is not None:
        parts.append(
            f"options ({'; '.join(f'{k}: {v.text}' for k, v in entries_of(movement.options).items())})"
        )
    return " ".join(parts)


_TEXTS: dict[str, Any] = {
    "MayRange": _may_range,
    "SetAttribute": _effect_text,
    "Publish": _effect_text,
    "Report": _effect_text,
    "Movement": _movement_text,
    "Lock": compact_of,
    "Load": compact_of,
}


def decision_text(decision: Decision) -> str:
    """One line: `when x > 1, set total = 2, go_to Pay`."""
    return ", ".join(decision_parts(decision))


def decision_parts(decision: Decision) -> list[str]:
    parts = [f"choice {decision.choice}"] if decision.choice is not None else []
    if decision.when is not None:
        parts.append(f"when {value_text(decision.when)}")
    parts += [_effect_text(effect) for effect in decision.effects]
    for word, names in (("cancel", decision.cancel), ("cancel_siblings", decision.cancel_siblings)):
        if names:
            parts.append(f"{word} {', '.join(names)}")
    if decision.cancel_round is not None:
        parts.append(f"cancel_round {decision.cancel_round}")
    return [*parts, *_outcome_parts(decision)]


def _outcome_parts(decision: Decision) -> Iterator[str]:
    outcome = decision.outcome
    if outcome is not None:
        said = [_movement_text(movement) for movement in movements_of(decision)]
        for name in ("join", "channels", "output", "reason"):
            value = getattr(outcome, name, None)
            if value is not None:
                said.append(f"{name} {_text(value)}" if name in ("join",) else _text(value))
        yield " ".join([OUTCOME_NAMES[type(outcome)], " and ".join(said)]).strip()
    inner = otherwise_of(decision)
    if inner is not None:
        yield f"otherwise {decision_text(inner)}"
    for word, value in (("returns", decision.returns), ("reject", decision.reject)):
        if value is not None:
            yield f"{word} {value_text(value)}"
