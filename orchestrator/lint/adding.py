"""Edits that add an effect or key to a definition's text. Comments and layout stay."""

from __future__ import annotations

from orchestrator.definition.model import Path
from orchestrator.definition.problem import Edit, Span
from orchestrator.definition.source import Source
from orchestrator.lint.editing import added_item, entry_span, is_flow_style


def added_key(source: Source, path: Path, text: str, after: str = "") -> Edit | None:
    """Adds `key: value`, on one line, before the first key of the mapping at `path`, or behind `after`.

    Where `after` is the last one, before it.
    """
    keys = source.parts(path)
    if not keys:
        return None
    index = keys.index(after) if after in keys else -1
    place = entry_span(source, (*path, keys[min(index + 1, len(keys) - 1)]))
    return _before(place, text, is_flow=is_flow_style(source, path))


def added_publish(source: Source, decision: Path, outcome: str, channel: str, value: str) -> Edit | None:
    """Adds a message to what the decision at this path publishes, else a `publish` before its outcome."""
    return added_effect(source, decision, outcome, "publish", channel, value)


def added_effect(
    source: Source, decision: Path, outcome: str, key: str, name: str, value: str
) -> Edit | None:
    """Adds `name: value` under the `publish` or `report` of a decision, or that key before its outcome."""
    place = (*decision, key)
    if key not in source.parts(decision):
        if outcome not in source.parts(decision):
            return None
        before = entry_span(source, (*decision, outcome))
        return _before(before, f"{key}: {{{name}: {value}}}", is_flow=is_flow_style(source, decision))
    keys = source.parts(place)
    if not keys or name in keys:
        return None
    if isinstance(keys[0], int):
        return added_item(source, place, f"{{channel: {name}, value: {value}}}")
    return _before(
        entry_span(source, (*place, keys[0])), f"{name}: {value}", is_flow=is_flow_style(source, place)
    )


def _before(place: Span, text: str, *, is_flow: bool) -> Edit:
    here = Span(place.line, place.column, place.line, place.column)
    return Edit(here, f"{text}, " if is_flow else f"{text}\n{' ' * (place.column - 1)}")
