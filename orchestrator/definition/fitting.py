"""Can every value of one type be given where another is asked? Known before anything runs, or left open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from orchestrator.definition.json_kinds import Misfit, describe
from orchestrator.definition.model import Json
from orchestrator.definition.schema_check import Compiler
from orchestrator.definition.type_text import REFERENCE, spell

if TYPE_CHECKING:
    from orchestrator.definition.types import Type

_Pair = tuple[int, int]


def explain_misfit(given: Type, asked: Type) -> str | None:
    return _Comparison(given.names, asked.names).explain(given.schema, asked.schema)


def resolve(schema: Json, names: Mapping[str, Json]) -> Json:
    """The schema behind a reference that has nothing else beside it."""
    while isinstance(schema, dict) and "$ref" in schema:
        schema = names.get(str(schema["$ref"])[len(REFERENCE) :], True)
    return schema


def alternatives(schema: Json, names: Mapping[str, Json], seen: set[int] | None = None) -> list[Json] | None:
    """The parts of `A or B`, flattened, each named type once; None where the schema is something else."""
    if isinstance(schema, dict) and "$ref" in schema:
        schema = resolve(schema, names)
    if not isinstance(schema, dict):
        return None
    kinds = schema.get("type")
    if kinds.__class__ is list:
        return [{**schema, "type": kind} for kind in kinds]
    if "anyOf" not in schema and "oneOf" not in schema:
        return None
    parts = schema.get("anyOf", schema.get("oneOf"))
    if parts is None or not set(schema) <= {"anyOf", "oneOf", "title", "description", "default"}:
        return None
    seen = {id(schema)} if seen is None else seen
    flat: list[Json] = []
    for part in parts:
        if isinstance(part, dict) and "$ref" in part:
            target = id(resolve(part, names))
            if target in seen:
                continue
            seen.add(target)
        inner = alternatives(part, names, seen)
        flat += [part] if inner is None else inner
    return flat


class _Comparison:
    def __init__(self, given_names: Mapping[str, Json], asked_names: Mapping[str, Json]) -> None:
        self._given_names = given_names
        self._asked_names = asked_names
        self._known: dict[_Pair, str | None] = {}
        """None also while a comparison is under way: recursive types are assumed to fit."""
        self._kept: list[Json] = []

    def explain(self, given: Json, asked: Json) -> str | None:
        given_at, asked_at = resolve(given, self._given_names), resolve(asked, self._asked_names)
        if not _says_something(given_at) or not _says_something(asked_at):
            return None
        pair = (id(given_at), id(asked_at))
        if pair not in self._known:
            self._kept += (given_at, asked_at)  # or their ids would be given away
            self._known[pair] = None
            self._known[pair] = self._explain_new(given, given_at, asked, asked_at)
        return self._known[pair]

    def _explain_new(self, given: Json, given_at: Json, asked: Json, asked_at: Json) -> str | None:
        given_parts = alternatives(given_at, self._given_names)
        if given_parts is not None:
            return next((why for part in given_parts if (why := self.explain(part, asked)) is not None), None)
        asked_parts = alternatives(asked_at, self._asked_names)
        if asked_parts is None:
            return self._explain_plain(given, given_at, asked, asked_at)
        reasons = [self.explain(given, part) for part in asked_parts]
        if None in reasons:
            return None
        pairs = zip(reasons, asked_parts, strict=True)
        same = [reason for reason, part in pairs if self._is_same_kind(given_at, part)]
        return same[0] if len(same) == 1 else f"{spell(given)} is given where {spell(asked)} is asked"

    def _is_same_kind(self, given: Json, asked: Json) -> bool:
        asked = resolve(asked, self._asked_names)
        return isinstance(asked, dict) and _kind(given) == _kind(asked)

    def _explain_plain(self, given: Json, given_at: Json, asked: Json, asked_at: Json) -> str | None:
        values = _values(given_at)
        if values is not None:
            return self._explain_values(values, asked)
        given_kind, asked_kind = _kind(given_at), _kind(asked_at)
        if given_kind is None or asked_kind is None:
            return None
        if given_kind != asked_kind and (given_kind, asked_kind) != ("integer", "number"):
            why = ", which may have a fraction" if (given_kind, asked_kind) == ("number", "integer") else ""
            return f"{spell(given)} is given where {spell(asked)} is asked{why}"
        allowed = _values(asked_at)
        if allowed is not None and given_kind in ("string", "integer", "number"):
            shown = ", ".join(describe(value).partition(" ")[2] or describe(value) for value in allowed)
            return f"any {spell(given)} is given where only {shown} is allowed"
        if given_kind == "array":
            why_not = self.explain(given_at.get("items", True), asked_at.get("items", True))
            return None if why_not is None else f"in the list: {why_not}"
        return self._explain_object(given_at, asked_at) if given_kind == "object" else None

    def _explain_values(self, values: list[Json], asked: Json) -> str | None:
        check = Compiler(self._asked_names).compile(asked)
        for value in values:
            try:
                check(value)
            except Misfit as misfit:
                return misfit.message
        return None

    def _explain_object(self, given: Mapping[str, Json], asked: Mapping[str, Json]) -> str | None:
        has = given.get("properties", {})
        wants = asked.get("properties", {})
        if not has:
            return None
        for name in asked.get("required", ()):
            is_open = given.get("additionalProperties", False) is not False
            if name not in has and not _has_default(wants.get(name)) and not is_open:
                return f"`{name}` is missing"
            is_sure = name in given.get("required", ()) or _has_default(has.get(name))
            if name in has and not is_sure and not _has_default(wants.get(name)):
                return f"`{name}` may be missing"
        for name, schema in has.items():
            if name in wants:
                why = self.explain(schema, wants[name])
                if why is not None:
                    return f"`{name}`: {why}"
            elif asked.get("additionalProperties") is False:
                return f"`{name}` is not a property there"
        return None


def _says_something(schema: Json) -> bool:
    return isinstance(schema, dict) and bool(schema)


def _has_default(schema: Json) -> bool:
    return isinstance(schema, dict) and "default" in schema


def _values(schema: Mapping[str, Json]) -> list[Json] | None:
    if "const" in schema:
        return [schema["const"]]
    found = schema.get("enum")
    return list(found) if isinstance(found, list) else None


def _kind(schema: Mapping[str, Json]) -> str | None:
    """The one JSON type of a schema, if it says one."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    values = _values(schema)
    if values:
        kinds = {_kind_of_value(value) for value in values}
        return kinds.pop() if len(kinds) == 1 else None
    return "object" if "properties" in schema else None


def _kind_of_value(value: Json) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return names.get(type(value), "object")
