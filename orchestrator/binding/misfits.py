"""Two types that do not go together: whether no value fits at all, or only some do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from orchestrator.definition.fitting import alternatives, resolve
from orchestrator.definition.json_kinds import Misfit as ValueMisfit
from orchestrator.definition.model import Json
from orchestrator.definition.schema_check import Compiler
from orchestrator.definition.types import Type

_Pair = tuple[int, int]


class Misfit(NamedTuple):
    reason: str
    is_certain: bool
    """No value of the one is a value of the other: every call goes wrong."""


def find_misfit(given: Type, asked: Type) -> Misfit | None:
    """Why some value of `given` cannot be given where `asked` is; None also where nobody knows."""
    reason = given.fits(asked)
    if reason is None:
        return None
    return Misfit(reason, _Comparison(given.names, asked.names).is_disjoint(given.schema, asked.schema))


class _Comparison:
    def __init__(self, given_names: Mapping[str, Json], asked_names: Mapping[str, Json]) -> None:
        self._given_names = given_names
        self._asked_names = asked_names
        self._open: set[_Pair] = set()
        """Compared at the moment: types that contain themselves count as overlapping there."""

    def is_disjoint(self, given: Json, asked: Json) -> bool:
        given_at, asked_at = resolve(given, self._given_names), resolve(asked, self._asked_names)
        pair = (id(given_at), id(asked_at))
        if not isinstance(given_at, dict) or not isinstance(asked_at, dict) or pair in self._open:
            return False
        self._open.add(pair)
        try:
            return self._compare(given_at, asked_at)
        finally:
            self._open.discard(pair)

    def _compare(self, given: Mapping[str, Json], asked: Mapping[str, Json]) -> bool:
        given_parts = alternatives(given, self._given_names) or [given]
        asked_parts = alternatives(asked, self._asked_names) or [asked]
        if len(given_parts) > 1 or len(asked_parts) > 1:
            return all(self.is_disjoint(one, other) for one in given_parts for other in asked_parts)
        values = _values(given)
        if values is not None:
            return not any(_admits(asked, self._asked_names, value) for value in values)
        values = _values(asked)
        if values is not None:
            return not any(_admits(given, self._given_names, value) for value in values)
        return self._compare_kinds(given, asked)

    def _compare_kinds(self, given: Mapping[str, Json], asked: Mapping[str, Json]) -> bool:
        given_kind, asked_kind = given.get("type"), asked.get("type")
        if not isinstance(given_kind, str) or not isinstance(asked_kind, str):
            return False
        if given_kind != asked_kind:
            return {given_kind, asked_kind} != {"integer", "number"}
        if given_kind == "array":
            return self.is_disjoint(given.get("items", True), asked.get("items", True))
        return given_kind == "object" and self._are_objects_disjoint(given, asked)

    def _are_objects_disjoint(self, given: Mapping[str, Json], asked: Mapping[str, Json]) -> bool:
        """Something is asked that is never there, or is there as something else."""
        has, wants = given.get("properties") or {}, asked.get("properties") or {}
        if not has or given.get("additionalProperties", False) is not False:
            return False
        for name in asked.get("required", ()):
            if name not in has:
                if not (isinstance(wants.get(name), dict) and "default" in wants[name]):
                    return True
            elif name in given.get("required", ()) and self.is_disjoint(has[name], wants.get(name, True)):
                return True
        return False


def _values(schema: Mapping[str, Json]) -> list[Json] | None:
    if "const" in schema:
        return [schema["const"]]
    found = schema.get("enum")
    return list(found) if isinstance(found, list) else None


def _admits(schema: Mapping[str, Json], names: Mapping[str, Json], value: Json) -> bool:
    try:
        Compiler(names).compile(schema)(value)
    except ValueMisfit:
        return False
    return True
