"""What synced attributes are projected to (rules 115, 116): one row per flow id, one column per attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from orchestrator.definition.fitting import alternatives, resolve
from orchestrator.definition.model import Attribute, Json


class ColumnKind(StrEnum):
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    JSON = "json"
    """Everything else: objects, lists, maps, values of several types."""


_KINDS = {
    "string": ColumnKind.TEXT,
    "integer": ColumnKind.INTEGER,
    "number": ColumnKind.NUMBER,
    "boolean": ColumnKind.BOOLEAN,
}


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """What the row of a flow id becomes; columns that are not named stay as they are."""

    flow: str
    flow_id: str
    seq: int
    """Of two rows the one with the higher number is the newer one."""
    values: Mapping[str, Json]
    """By attribute; null: it is not set."""
    kinds: Mapping[str, ColumnKind]
    """Of every synced attribute of the flow."""


class AttributeStoreDown(Exception):
    """It cannot be reached just now: the same rows may do later."""


class AttributeStore(Protocol):
    def apply(self, rows: Sequence[AttributeRow]) -> None:
        """All or none. A row that came before, or that a newer one has overtaken, changes nothing.

        Raises AttributeStoreDown; anything else says that it will not take these rows.
        """
        ...

    def close(self) -> None: ...


def kind_of(attribute: Attribute) -> ColumnKind:
    if attribute.is_map:
        return ColumnKind.JSON
    type_ = attribute.type
    parts = alternatives(type_.schema, type_.names) or [type_.schema]
    kinds = {_kind_of(resolve(part, type_.names)) for part in parts} - {None}
    if kinds == {ColumnKind.INTEGER, ColumnKind.NUMBER}:
        return ColumnKind.NUMBER
    return (kinds.pop() or ColumnKind.JSON) if len(kinds) == 1 else ColumnKind.JSON


def _kind_of(schema: Json) -> ColumnKind | None:
    """None: null."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind is None and isinstance(schema, dict) and isinstance(schema.get("enum"), list):
        is_text = all(isinstance(value, str) for value in schema["enum"])
        return ColumnKind.TEXT if is_text else ColumnKind.JSON
    return None if kind == "null" else _KINDS.get(str(kind), ColumnKind.JSON)
