"""What the types of a flow say of a place inside the author's own values: members, words, kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from orchestrator.definition.fitting import alternatives, resolve
from orchestrator.definition.kinds import Kind, kind_of, member_kind, members_of
from orchestrator.definition.model import Attribute, Channel, Flow, Join, Json, Path
from orchestrator.definition.symbols import SymbolTable
from orchestrator.definition.types import Type


def kind_at(flow: Flow, table: SymbolTable, path: Path) -> Kind | None:
    """Of the value at a path; None outside of values, and where no type is known."""
    for length in range(2, len(path) + 1):
        expected = _expected(flow, table, path[:length])
        if expected is not None:
            return _inside(kind_of(expected.schema, expected.names), path[length:])
    return None


def members_at(flow: Flow, table: SymbolTable, path: Path) -> dict[str, Kind]:
    """The keys that a mapping at a path may have."""
    kind = kind_at(flow, table, path)
    return {} if kind is None else {name: member_kind(kind, name) for name in members_of(kind)[0]}


def words_of(kind: Kind) -> list[Json]:
    """The values of an enum or a boolean."""
    schema = resolve(kind.schema, kind.names)
    found: list[Json] = []
    for part in alternatives(schema, kind.names) or [schema]:
        part = resolve(part, kind.names)
        if isinstance(part, dict):
            found += part.get("enum", [])
            found += [part["const"]] if "const" in part else []
            found += [True, False] if part.get("type") == "boolean" else []
    return found


def description_of(kind: Kind) -> str:
    """What the author has written about a member in its schema."""
    for schema in (kind.schema, resolve(kind.schema, kind.names)):
        if isinstance(schema, dict) and isinstance(schema.get("description"), str):
            return str(schema["description"])
    return ""


def _expected(flow: Flow, table: SymbolTable, path: Path) -> Type | None:
    """The type that a value at `path` itself is to have."""
    match path:
        case (*_, "may", _, _):
            return None
        case (*_, "publish" | "set" | "report" as key, str(name)):
            return _declared(_section(flow, key), name, has_key=False)
        case (*_, "publish" | "set" as key, str(name), str()):
            return _declared(_section(flow, key), name, has_key=True)
        case (*_, "publish", int(), "value"):
            return _declared(flow.channels, _beside(table, path, "channel"), has_key=None)
        case (*_, "set", int(), "value"):
            return _declared(flow.attributes, _beside(table, path, "attribute"), has_key=None)
        case ("attributes", str(name), "initial"):
            return _declared(flow.attributes, name, has_key=None)
        case ("rpcs", str(name), *_, "returns"):
            rpc = flow.rpcs.get(name)
            return rpc.output if rpc is not None else None
        case (*_, "force_complete_if_channels_empty", "output"):
            return flow.output
        case (*_, "graceful_complete" | "force_complete"):
            return flow.output
        case ("steps" | "rpcs" | "on_timeout", _, _, *_, "input"):
            step = flow.steps.get(str(_beside(table, path, "step")))
            return step.input if step is not None else None
        case _:
            return None


_Declared: TypeAlias = Mapping[str, Attribute] | Mapping[str, Channel] | Mapping[str, Join]


def _section(flow: Flow, key: str) -> _Declared:
    if key == "publish":
        return flow.channels
    return flow.attributes if key == "set" else flow.joins


def _declared(declared: _Declared, name: Json, *, has_key: bool | None) -> Type | None:
    """A map has its values one level down; `has_key` None: the key stands elsewhere."""
    found = declared.get(str(name))
    if found is None:
        return None
    is_map = not isinstance(found, Join) and found.is_map
    return found.type if has_key is None or has_key is is_map else None


def _beside(table: SymbolTable, path: Path, key: str) -> Json:
    node = table.node(path[:-1])
    return node.get(key) if isinstance(node, dict) else None


def _inside(kind: Kind, path: Path) -> Kind | None:
    found: Kind | None = kind
    for part in path:
        if found is None:
            return None
        if isinstance(part, int):
            found = found.element
        else:
            found = member_kind(found, part)
    return found
