"""Expressions and values of a flow (language.md 6.1): parsed, checked against types, ready to evaluate."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from orchestrator.definition import cel
from orchestrator.definition.expression_problem import ExpressionProblem
from orchestrator.definition.inference import Names, infer
from orchestrator.definition.kinds import Kind, kind_of, schema_of
from orchestrator.definition.lifting import Typed
from orchestrator.definition.model import Json, Path
from orchestrator.definition.template import Hole, Unclosed, split
from orchestrator.definition.types import Type
from orchestrator.definition.values import (
    Expression,
    ExpressionFailed,
    Interpolation,
    ListValue,
    Literal,
    MappingValue,
    Value,
    evaluate_key,
)
from orchestrator.errors import InvalidValue

__all__ = [
    "Environment",
    "Expression",
    "ExpressionFailed",
    "ExpressionProblem",
    "Interpolation",
    "ListValue",
    "Literal",
    "MappingValue",
    "Value",
    "evaluate_key",
    "parse_guard",
    "parse_value",
]


class Seen(NamedTuple):
    """What an expression was found to be."""

    typed: Typed
    kinds: tuple[Kind | None, ...]
    """Of the names in it: kept, or their identities would be given away."""


class Environment:
    """What an expression may see: names with their types, and `let` names. Immutable."""

    def __init__(
        self,
        names: Mapping[str, Type] | None = None,
        *,
        types: Mapping[str, Json] | None = None,
        hidden: Mapping[str, str] | None = None,
    ) -> None:
        self.types: Mapping[str, Json] = types or {}
        kinds = {name: kind_of(each.schema, each.names) for name, each in (names or {}).items()}
        self.names = Names(kinds, {}, hidden or {})
        self.seen: dict[Hashable, Seen] = {}

    @classmethod
    def of_kinds(
        cls,
        kinds: Mapping[str, Kind],
        *,
        types: Mapping[str, Json],
        hidden: Mapping[str, str],
        seen: dict[Hashable, Seen],
    ) -> Environment:
        """With names whose kinds are known already; `seen` is kept for all environments of a flow."""
        made = cls(types=types)
        made.names = Names(kinds, {}, hidden)
        made.seen = seen
        return made

    def with_item(self, name: str, elements: Value) -> Environment:
        """With the `as` name of a `for_each` over `elements`."""
        element = elements.kind.element if elements.kind.name == "list" else None
        schema: Json = {} if element is None else schema_of(element)
        return self._with(name, kind_of(schema, elements.type.names or self.types))

    def with_name(self, name: str, type: Type) -> Environment:
        return self._with(name, kind_of(type.schema, type.names))

    def with_let(self, name: str, value: Value) -> Environment:
        """With a `let` name; one that reads what is not in scope here is known, but cannot be used."""
        missing = sorted({path[0] for path in value.reads} - set(self.names.kinds))
        if missing:
            why = f"`{name}` reads `{missing[0]}`, which is not known yet in a wait"
            return self._made(Names(self.names.kinds, self.names.lets, {**self.names.hidden, name: why}))
        lets = {**self.names.lets, name: value.tree}
        return self._made(Names(self.names.kinds, lets, self.names.hidden))

    def _with(self, name: str, kind: Kind) -> Environment:
        lets = {other: typed for other, typed in self.names.lets.items() if other != name}
        return self._made(Names({**self.names.kinds, name: kind}, lets, self.names.hidden))

    def _made(self, names: Names) -> Environment:
        made = Environment(types=self.types)
        made.names = names
        made.seen = self.seen
        return made


def parse_guard(text: Json, environment: Environment, path: Path = ()) -> Expression:
    """`when:` — a bare expression that gives a boolean; raises ExpressionProblem."""
    if isinstance(text, bool):
        text = "true" if text else "false"
    if not isinstance(text, str):
        raise ExpressionProblem("a guard is an expression that gives true or false", help="write `a == b`")
    stripped = text.strip()
    if stripped.startswith("${"):
        bare = stripped[2:-1].strip() if stripped.endswith("}") else stripped[2:].strip()
        raise ExpressionProblem(
            "a guard is an expression without `${…}`", 0, len(text), f"write `when: {bare}`"
        )
    typed = _typed(text, environment, 0)
    if typed[1].name not in ("bool", "any"):
        raise ExpressionProblem(f"a guard gives true or false, not {typed[1].word}", 0, len(text))
    return Expression(text, typed, path, environment.types, text=text, is_guard=True)


def parse_value(
    node: Json,
    environment: Environment,
    expected: Type | None = None,
    path: Path = (),
    *,
    allows_key_expressions: bool = False,
) -> Value:
    """A value as written, checked against `expected` as far as it is known; raises ExpressionProblem."""
    value = _parse(node, environment, path, (), allows_key_expressions)
    if expected is not None:
        _check_fit(value, expected, len(path))
    return value


def _parse(node: Json, environment: Environment, path: Path, at: Path, has_keys: bool) -> Value:
    """`at` is the part of `path` that lies inside the node first given."""
    try:
        if isinstance(node, str):
            return _parse_text(node, environment, path)
    except ExpressionProblem as problem:
        problem.at = at
        raise
    if isinstance(node, dict):
        entries = []
        for key, member in node.items():
            value = _parse(member, environment, (*path, key), (*at, key), has_keys)
            entries.append((_parse_key(key, environment, path, at) if has_keys else key, value))
        if all(isinstance(key, str) and isinstance(value, Literal) for key, value in entries):
            return Literal({key: value.evaluate({}) for key, value in entries}, path, environment.types)
        return MappingValue(tuple(entries), path, environment.types)
    if isinstance(node, list):
        elements = [
            _parse(element, environment, (*path, index), (*at, index), has_keys)
            for index, element in enumerate(node)
        ]
        if all(isinstance(element, Literal) for element in elements):
            return Literal([element.evaluate({}) for element in elements], path, environment.types)
        return ListValue(tuple(elements), path, environment.types)
    return Literal(node, path, environment.types)


def _parse_key(key: str, environment: Environment, path: Path, at: Path) -> str | Value:
    try:
        value = _parse_text(key, environment, path)
    except ExpressionProblem as problem:
        problem.at = (*at, key)
        raise
    if isinstance(value, Literal):
        return str(value.value)
    if value.kind.name not in ("string", "int", "any"):
        wrong = ExpressionProblem(f"a key is text or an integer, not {value.kind.word}", 0, len(key))
        wrong.at = (*at, key)
        raise wrong
    return value


def _parse_text(text: str, environment: Environment, path: Path) -> Value:
    if "${" not in text:
        return Literal(text, path, environment.types)
    try:
        parts = split(text)
    except Unclosed as unclosed:
        message = "this `${` is not closed"
        raise ExpressionProblem(
            message, unclosed.at, len(text), "close it with `}`, or write `$${`"
        ) from None
    holes = [part for part in parts if isinstance(part, Hole)]
    if not holes:
        return Literal("".join(str(part) for part in parts), path, environment.types, text)
    if len(holes) == 1 and all(isinstance(part, Hole) or not part.strip() for part in parts):
        typed = _typed(holes[0].source, environment, holes[0].at)
        return Expression(holes[0].source, typed, path, environment.types, text=text)
    made = tuple(_parse_hole(part, environment, path) if isinstance(part, Hole) else part for part in parts)
    return Interpolation(text, made, path, environment.types)


def _parse_hole(hole: Hole, environment: Environment, path: Path) -> Expression:
    typed = _typed(hole.source, environment, hole.at)
    if typed[1].name == "null":
        end = hole.at + len(hole.source)
        raise ExpressionProblem("this is always null, which has no text", hole.at, end)
    return Expression(hole.source, typed, path, environment.types, text="${" + hole.source + "}")


def _typed(source: str, environment: Environment, at: int) -> Typed:
    """`at` is where the source stands in the text given to the parser."""
    try:
        node, kind = _inferred(source, environment)
    except cel.SyntaxProblem as found:
        raise ExpressionProblem(found.message, at + found.offset, at + found.end_offset, found.help) from None
    except RecursionError:
        message = "the expression is nested too deeply"
        raise ExpressionProblem(message, at, at + len(source), "split it with `let`") from None
    except ExpressionProblem as found:
        found.offset, found.end_offset = found.offset + at, found.end_offset + at
        raise
    if kind.name in _CANNOT_LEAVE:
        message = f"the result is {kind.word}, which JSON does not have"
        raise ExpressionProblem(message, at, at + len(source), _CANNOT_LEAVE[kind.name])
    return node, kind


def _inferred(source: str, environment: Environment) -> Typed:
    """Flows say the same again and again: where every name has the same kind, so has the whole."""
    tree, names = cel.parse(source), environment.names
    read = cel.names_in(source)
    if not names.lets.keys().isdisjoint(read):
        return _within_limits(infer(tree, names, source), source, reads_lets=True)
    kinds = tuple(names.kinds.get(name) for name in read)
    key = (source, *map(id, kinds))
    found = environment.seen.get(key)
    if found is None:
        typed = _within_limits(infer(tree, names, source), source, reads_lets=False)
        found = environment.seen[key] = Seen(typed, kinds)
    return found.typed


def _within_limits(typed: Typed, source: str, *, reads_lets: bool) -> Typed:
    why = cel.explain_extent(typed[0], reads_lets=reads_lets)
    if why is not None:
        raise ExpressionProblem(why, 0, len(source), "keep a part of it in `local` or in an attribute")
    return typed


_CANNOT_LEAVE = {
    "optional": "give it a value: `.orValue(…)`",
    "bytes": "write `string(…)` around it",
    "type": "",
}


# --- Does it fit? ------------------------------------------------------------------------------------------


def _check_fit(value: Value, expected: Type, depth: int) -> None:
    found = _misfit(value, expected)
    if found is not None:
        culprit, message, inner = found
        problem = ExpressionProblem(message, 0, len(culprit.text))
        problem.at = (*culprit.path[depth:], *inner)
        raise problem


def _misfit(value: Value, expected: Type) -> tuple[Value, str, Path] | None:
    """The innermost value that cannot be given, why, and where inside it."""
    if isinstance(value, Literal):
        try:
            expected.check(value.value)
        except InvalidValue as error:
            reason = str(error.data.get("reason", error.message))
            return value, reason, tuple(error.data.get("at", ()))
        return None
    for part, asked in _parts(value, expected):
        inner = _misfit(part, asked)
        if inner is not None:
            return inner
    message = value.type.fits(expected)
    return None if message is None else (value, message, ())


def _parts(value: Value, expected: Type) -> list[tuple[Value, Type]]:
    """The members of a mapping or elements of a list, with what is expected of each."""
    from orchestrator.definition.fitting import resolve

    schema: Any = resolve(expected.schema, expected.names)
    if isinstance(value, ListValue) and "items" in schema:
        return [(element, Type(_as_schema(schema["items"]), expected.names)) for element in value.elements]
    if not isinstance(value, MappingValue):
        return []
    properties = schema.get("properties", {})
    return [
        (member, Type(_as_schema(properties[key]), expected.names))
        for key, member in value.entries
        if isinstance(key, str) and key in properties
    ]


def _as_schema(schema: Json) -> dict[str, Json]:
    return schema if isinstance(schema, dict) else {} if schema else {"not": {}}
