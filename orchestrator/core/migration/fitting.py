"""Does everything of one type fit another, for certain? And does one value?

`Type.fits` leaves open what nobody knows; here that counts as a misfit, since a run is at stake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from orchestrator.definition.fitting import alternatives, resolve
from orchestrator.definition.model import Json
from orchestrator.definition.types import Type
from orchestrator.errors import InvalidValue

_NOTES = frozenset({"title", "description", "default", "examples", "$comment"})
_UNDERSTOOD = frozenset({"type", "properties", "required", "additionalProperties", "items", "enum", "const"})


class Holding(Struct, frozen=True):
    """What a run holds: a value, or statically any value of `type` (None: null)."""

    type: Type | None = None
    value: Json = None
    is_known: bool = False


def known(value: Json) -> Holding:
    return Holding(value=value, is_known=True)


def misfit(held: Holding, asked: Type | None) -> str | None:
    """Why it does not fit where `asked` is declared; None: it does. Nothing asked takes anything."""
    if asked is None:
        return None
    if held.is_known or held.type is None:
        try:
            asked.check(held.value)
        except InvalidValue as error:
            return error.message
        return None
    if held.type == asked or _Certainty(held.type.names, asked.names).fits(held.type.schema, asked.schema):
        return None
    why = held.type.fits(asked)
    return why or f"{held.type.text} may hold what {asked.text} does not take"


def leaves_unfilled(held: Holding, asked: Type) -> bool:
    """It fits only because defaults are filled in."""
    if held.is_known or held.type is None:
        return bool(asked.check(held.value) != held.value)
    certainty = _Certainty(held.type.names, asked.names, fills=False)
    return held.type != asked and not certainty.fits(held.type.schema, asked.schema)


def filled(value: Json, asked: Type | None) -> Json:
    """The value with the defaults of its new type; it has been found to fit."""
    return value if asked is None else asked.check(value)


class _Certainty:
    """Properties that a type does not name are taken as absent; `migrate` looks at the values themselves."""

    def __init__(
        self, given_names: Mapping[str, Json], asked_names: Mapping[str, Json], *, fills: bool = True
    ) -> None:
        self._fills = fills
        self._given_names = given_names
        self._asked_names = asked_names
        self._open: set[tuple[int, int]] = set()
        self._kept: list[Json] = []

    def fits(self, given: Json, asked: Json) -> bool:
        given, asked = resolve(given, self._given_names), resolve(asked, self._asked_names)
        if asked is True or (isinstance(asked, dict) and not set(asked) - _NOTES):
            return True
        if not isinstance(given, dict) or not isinstance(asked, dict):
            return False
        pair = (id(given), id(asked))
        if pair in self._open:
            return True  # recursive types are assumed to fit
        self._open.add(pair)
        self._kept += (given, asked)  # or their ids would be given away
        try:
            return self._fits_new(given, asked)
        finally:
            self._open.discard(pair)

    def _fits_new(self, given: dict[str, Any], asked: dict[str, Any]) -> bool:
        given_parts = alternatives(given, self._given_names)
        if given_parts is not None:
            return all(self.fits(part, asked) for part in given_parts)
        asked_parts = alternatives(asked, self._asked_names)
        if asked_parts is not None:
            return any(self.fits(given, part) for part in asked_parts)
        values = given["enum"] if "enum" in given else [given["const"]] if "const" in given else None
        if values is not None:
            return all(misfit(known(value), Type(asked, self._asked_names)) is None for value in values)
        if "enum" in asked or "const" in asked:
            return False
        rest = set(asked) - _NOTES - _UNDERSTOOD
        if any(key not in given or given[key] != asked[key] for key in rest):
            return False
        return self._is_of_kind(given, asked) and self._has_parts(given, asked)

    def _is_of_kind(self, given: dict[str, Any], asked: dict[str, Any]) -> bool:
        asked_kind = asked.get("type", "object" if "properties" in asked else None)
        given_kind = given.get("type", "object" if "properties" in given else None)
        return (
            asked_kind is None
            or (given_kind, asked_kind) == ("integer", "number")
            or given_kind == asked_kind
        )

    def _has_parts(self, given: dict[str, Any], asked: dict[str, Any]) -> bool:
        if "items" in asked and not self.fits(given.get("items", True), asked["items"]):
            return False
        has, wants = given.get("properties", {}), asked.get("properties", {})
        for name in asked.get("required", ()):
            is_filled = self._fills and isinstance(wants.get(name), dict) and "default" in wants[name]
            if name not in given.get("required", ()) and not is_filled:
                return False
        if not self._fills and any("default" in part for part in wants.values() if isinstance(part, dict)):
            return False
        for name, schema in has.items():
            if name in wants:
                if not self.fits(schema, wants[name]):
                    return False
            elif not self._admits(asked, schema):
                return False
        others = given.get("additionalProperties", True)
        if others is False or "additionalProperties" not in asked:
            return True
        return self.fits({} if others is True else others, asked["additionalProperties"])

    def _admits(self, asked: dict[str, Any], schema: Json) -> bool:
        others = asked.get("additionalProperties", True)
        return others is True or (others is not False and self.fits(schema, others))
