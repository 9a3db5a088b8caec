"""The types of a flow: JSON Schema underneath, short spellings on top (language.md, section 2)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from orchestrator.definition.json_kinds import Check, Misfit
from orchestrator.definition.model import Json, Path
from orchestrator.definition.schema_check import Compiler
from orchestrator.definition.schema_form import examine
from orchestrator.definition.type_text import REFERENCE, TypeProblem, read_text, spell
from orchestrator.errors import InvalidValue

__all__ = ["ANY", "Type", "TypeProblem", "make_type", "parse_type", "show_place"]


_GIVEN_LIMIT = 64
"""Comparisons that a type remembers."""


class Type:
    """Immutable; equal where the schema, with the named types that it reaches, is the same."""

    __slots__ = ("_check", "_given", "_key", "_or_null", "_text", "names", "schema")

    schema: Mapping[str, Json]
    names: Mapping[str, Json]
    """The table that `$ref: "#/types/…"` refers to."""

    def __init__(
        self, schema: Mapping[str, Json], names: Mapping[str, Json], text: str | None = None
    ) -> None:
        self.schema = schema
        self.names = names
        self._text = text
        self._check: Check | None = None
        self._key: str | None = None
        self._or_null: Type | None = None
        self._given: dict[int, tuple[Mapping[str, Json], Mapping[str, Json], str | None]] = {}
        """By identity of a schema that was given where this was asked: itself, its names, why it misfits."""

    def check(self, value: Json) -> Json:
        """The value with defaults filled in; InvalidValue says where inside it the trouble is."""
        check = self._check
        if check is None:
            check = self._check = Compiler(self.names).compile(self.schema)
        try:
            return check(value)
        except Misfit as misfit:
            place = show_place(misfit.at)
            message = f"at {place}: {misfit.message}" if place else misfit.message
            raise InvalidValue(message, at=list(misfit.at), reason=misfit.message, type=self.text) from None
        except RecursionError:
            raise InvalidValue("the value is nested too deeply, or contains itself", type=self.text) from None

    def fits(self, other: Type) -> str | None:
        """Why some value of this type cannot be given where `other` is asked; None: none, or nobody knows."""
        if self is other or not other.schema:
            return None
        known = other._given.get(id(self.schema))
        if known is not None and known[0] is self.schema and known[1] is self.names:
            return known[2]
        why = self._explain_misfit(other)
        if len(other._given) < _GIVEN_LIMIT:
            other._given[id(self.schema)] = (self.schema, self.names, why)
        return why

    def _explain_misfit(self, other: Type) -> str | None:
        from orchestrator.definition.fitting import explain_misfit

        if self == other:
            return None
        if (
            other.schema.keys() == {"anyOf"}
            and self.names is other.names
            and self.schema in other.schema["anyOf"]
        ):
            return None
        return explain_misfit(self, other)

    @property
    def text(self) -> str:
        """As an author would write it: `list of ContractEdit`."""
        if self._text is None:
            self._text = spell(self.schema)
        return self._text

    @property
    def admits_null(self) -> bool:
        try:
            self.check(None)
        except InvalidValue:
            return False
        return True

    @property
    def or_null(self) -> Type:
        """This type, or null where it does not admit it already."""
        if self._or_null is None:
            parts = {"anyOf": [dict(self.schema), {"type": "null"}]}
            self._or_null = self if self.admits_null else Type(parts, self.names)
        return self._or_null

    @property
    def key(self) -> str:
        """Canonical JSON of the schema and of the named types that it reaches."""
        if self._key is None:
            reached: dict[str, Json] = {}
            _reach(self.schema, self.names, reached)
            whole = [self.schema, {name: reached[name] for name in sorted(reached)}]
            self._key = json.dumps(whole, sort_keys=True, ensure_ascii=False, default=str)
        return self._key

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Type) or self.schema != other.schema:
            return False
        return self.names is other.names or self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Type({self.text!r})"


def _reach(schema: Json, names: Mapping[str, Json], reached: dict[str, Json]) -> None:
    if isinstance(schema, list):
        for part in schema:
            _reach(part, names, reached)
    elif isinstance(schema, dict):
        name = str(schema.get("$ref", ""))[len(REFERENCE) :]
        if name in names and name not in reached:
            reached[name] = names[name]
            _reach(names[name], names, reached)
        for part in schema.values():
            _reach(part, names, reached)


ANY = Type({}, {}, "any")


def parse_type(node: Json, names: Mapping[str, Json]) -> Type:
    """A type as written in a flow: text or an inline JSON Schema. `names` is the flow's `types`."""
    if isinstance(node, str):
        return Type(read_text(node, names), names)
    if node is None:
        raise TypeProblem("a type is missing", "write `none` for nothing, `any` for anything")
    if isinstance(node, list):
        raise TypeProblem("a type is not a list", "write `A or B` for alternatives, `list of T` for a list")
    if node is True:
        return Type({}, names)
    examine(node, names)
    if node is False:
        return Type({"not": {}}, names)
    made = Type(node, names)
    _check_defaults(node, names, ())
    return made


def _check_defaults(schema: Json, names: Mapping[str, Json], at: Path) -> None:
    if isinstance(schema, list):
        for index, part in enumerate(schema):
            _check_defaults(part, names, (*at, index))
        return
    if not isinstance(schema, dict):
        return
    for keyword, part in schema.items():
        if keyword not in ("enum", "const", "default", "examples") and not keyword.startswith("x-"):
            _check_defaults(part, names, (*at, keyword))
    if "default" in schema and at[-1:] != ("properties",):
        try:
            Type(schema, names).check(schema["default"])
        except InvalidValue as error:
            raise TypeProblem(
                f"the default does not fit its own type: {error.message}", at=(*at, "default")
            ) from None


def make_type(schema: Mapping[str, Json], names: Mapping[str, Json]) -> Type:
    """A type out of a schema known to be well formed."""
    return Type(schema, names) if schema else ANY


def show_place(at: Path) -> str:
    """`.edits[2].reviewer`"""
    return "".join(f"[{part}]" if isinstance(part, int) else _member(part) for part in at)


def _member(name: str) -> str:
    return f".{name}" if name.isidentifier() else f"[{json.dumps(name, ensure_ascii=False)}]"
