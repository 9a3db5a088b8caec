"""Values, guards and types of a document, each checked against what its place asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from typing import Any

from orchestrator.definition.durations import parse_duration, parse_time
from orchestrator.definition.expressions import (
    Environment,
    Expression,
    ExpressionProblem,
    Value,
    parse_guard,
    parse_value,
)
from orchestrator.definition.model import Json, Path
from orchestrator.definition.problem import Edit, Fix, Span
from orchestrator.definition.quoting import quoted
from orchestrator.definition.reading import Fields, Reading, shown
from orchestrator.definition.respelling import respell_duration
from orchestrator.definition.type_text import TypeProblem
from orchestrator.definition.types import ANY, Type, parse_type
from orchestrator.errors import InvalidValue

_INTEGER, _STRING, _ARRAY = (parse_type(text, {}) for text in ("integer", "string", "array"))
_STRING_OR_INTEGER = parse_type("string or integer", {})


@dataclass(frozen=True)
class Scope:
    """Where an expression stands: what it sees, and which names new ones must not hide."""

    environment: Environment
    taken: frozenset[str] = frozenset()
    out_of_reach: Mapping[str, str] = field(default_factory=dict)
    """`let` names that cannot be used here, with the reason."""


@dataclass(frozen=True)
class Repetition:
    """`when`, `for_each` and `as` of one entry, and the scope of the rest of it."""

    scope: Scope
    when: Expression | None
    for_each: Value | None
    as_name: str


@dataclass(frozen=True)
class _Instant:
    """A duration or a time: how it may be written, and what an expression may give for it."""

    what: str
    forms: str
    kinds: frozenset[str]
    code: str
    parse: Callable[[Json], object]


_SPAN = _Instant(
    "a duration",
    "a duration, a number of seconds or text",
    frozenset(["any", "int", "double", "string", "duration"]),
    "SCH004",
    parse_duration,
)
_TIME = _Instant(
    "a time",
    "a timestamp, text or epoch seconds",
    frozenset(["any", "int", "double", "string", "timestamp"]),
    "SCH011",
    parse_time,
)


def read_type(reading: Reading, node: Json, path: Path, types: Mapping[str, Json]) -> Type | None:
    """Types of one spelling are one object, which makes comparing them cheap."""
    try:
        if not isinstance(node, str):
            return parse_type(node, types)
        if node not in reading.types:
            reading.types[node] = parse_type(node, types)
        return reading.types[node]
    except TypeProblem as problem:
        reading.report("TYP001", (*path, *problem.at), problem.message, help=problem.help)
        return None


def read_value(
    reading: Reading, node: Json, path: Path, scope: Scope, what: str, expected: Type | None = None
) -> Value | None:
    """A value of language.md 6.1; `what` names it in messages."""
    try:
        value = parse_value(node, scope.environment, None, path)
    except ExpressionProblem as problem:
        _report_expression(reading, problem, (*path, *problem.at), scope)
        return None
    if _report_misfit_leaf(reading, node, path, what):
        return None
    if expected is None or not _is_misfit(value, expected):
        return value
    try:
        parse_value(node, scope.environment, expected, path)
    except ExpressionProblem as problem:
        at = (*path, *problem.at)
        if value.is_literal:
            help = f"its type is {expected.text}{_as_computed(node, problem.at)}"
            reading.report("TYP002", at, f"{what}: {problem.message}", help=help)
        else:
            reading.report("TYP003", at, f"{what} is {expected.text}: {problem.message}")
        return None
    return value


_EXPRESSION = re.compile(r"[$+*/()\[\]{}<>=]|^\w+(\.\w+)+$")


def _as_computed(node: Json, at: Path) -> str:
    """How to write the text at that place if it was meant to be computed."""
    text: Any = node
    try:
        text = reduce(getitem, at, text)
    except (IndexError, KeyError, TypeError):
        return ""
    is_likely = isinstance(text, str) and _EXPRESSION.search(text)
    return "; what is computed is written `${…}`" if is_likely else ""


def _report_misfit_leaf(reading: Reading, node: Json, path: Path, what: str) -> bool:
    """A number that no type admits, wherever it stands."""
    if isinstance(node, dict | list):
        inner = node.items() if isinstance(node, dict) else enumerate(node)
        found = [_report_misfit_leaf(reading, each, (*path, at), what) for at, each in inner]
        return any(found)
    if isinstance(node, str) or node is None:
        return False
    try:
        ANY.check(node)
    except InvalidValue as problem:
        reading.report("TYP002", path, f"{what}: {problem.message}")
        return True
    return False


def _is_misfit(value: Value, expected: Type) -> bool:
    """A value that certainly cannot stand where `expected` is asked."""
    if not value.is_literal:
        return value.type.fits(expected) is not None
    try:
        expected.check(value.evaluate({}))
    except InvalidValue:
        return True
    return False


def read_guard(reading: Reading, node: Json, path: Path, scope: Scope) -> Expression | None:
    """`when`: a bare boolean expression."""
    if isinstance(node, str) and node.strip().startswith("${") and node.strip().endswith("}"):
        bare = node.strip()[2:-1].strip()
        needs_quotes = (
            any(mark in bare for mark in (",", "[", "]", "{", "}", " ? ", ": ", " #")) or bare[:1] in "!\"'&*"
        )
        reading.report(
            "EXP002",
            path,
            "`when` takes a bare expression, without `${…}`",
            help=f"write when: {quoted(bare) if needs_quotes else bare}",
            fix=Fix(
                "remove the braces",
                (Edit(reading.source.locate(path).value, quoted(bare) if needs_quotes else bare),),
                is_safe=True,
            ),
        )
        return None
    if not isinstance(node, str | bool):
        is_cut = isinstance(node, dict | list)
        reading.report(
            "YML017" if is_cut else "SCH003",
            path,
            f"`when` is an expression, not {shown(node)}",
            help='quote this expression: when: "…"' if is_cut else "",
        )
        return None
    try:
        return parse_guard(node, scope.environment, path)
    except ExpressionProblem as problem:
        _report_expression(reading, problem, path, scope)
        return None


def _report_expression(reading: Reading, problem: ExpressionProblem, path: Path, scope: Scope) -> None:
    if reading.report_cut_at_comment(path):
        return
    span = reading.source.locate_within(path, problem.offset, problem.end_offset)
    message, help, fix = problem.message, problem.help, _respelling(reading, problem, span)
    for name, reason in scope.out_of_reach.items():
        if f"`{name}`" in message:
            message, help, fix = reason, "", None
    reading.report_at("EXP001", span, message, help=help or "", fix=fix)


def _respelling(reading: Reading, problem: ExpressionProblem, span: Span) -> Fix | None:
    """Writes the name that must have been meant for the one that is not known."""
    written, instead = reading.source.text_at(span), problem.instead
    if instead is None or not instead.isidentifier() or f"`{written}`" not in problem.message:
        return None
    return Fix(f"write `{instead}` for `{written}`", (Edit(span, instead),), is_safe=False)


# --- Values of a certain kind ------------------------------------------------------------------------------


def read_count(reading: Reading, node: Json, path: Path, scope: Scope, what: str) -> Value | None:
    """A whole number from 0, or an expression giving one."""
    is_number = isinstance(node, int) and not isinstance(node, bool)
    if not is_number and not (isinstance(node, str) and "${" in node):
        reading.read_integer(node, path, what)
        return None
    value = read_value(reading, node, path, scope, what, _INTEGER)
    if value is None or not value.is_literal:
        return value
    return value if reading.read_integer(node, path, what) is not None else None


def read_key(reading: Reading, node: Json, path: Path, scope: Scope, what: str) -> Value | None:
    """A key of a map: text or a whole number."""
    return read_value(reading, node, path, scope, what, _STRING_OR_INTEGER)


def read_string(reading: Reading, node: Json, path: Path, scope: Scope, what: str) -> Value | None:
    return read_value(reading, node, path, scope, what, _STRING)


def read_span(reading: Reading, node: Json, path: Path, scope: Scope, what: str) -> Value | None:
    """A duration, or an expression giving one."""
    return _read_instant(reading, node, path, scope, what, _SPAN)


def read_time(reading: Reading, node: Json, path: Path, scope: Scope, what: str) -> Value | None:
    return _read_instant(reading, node, path, scope, what, _TIME)


def _read_instant(
    reading: Reading, node: Json, path: Path, scope: Scope, what: str, asked: _Instant
) -> Value | None:
    value = read_value(reading, node, path, scope, what)
    if value is None:
        return None
    if not value.is_literal:
        if value.kind.name in asked.kinds:
            return value
        message = f"{what} is {asked.what}: {value.kind.word} is given where {asked.forms} is asked"
        reading.report("TYP003", path, message)
        return None
    try:
        asked.parse(value.evaluate({}))
    except ValueError as error:
        is_misspelt = asked is _SPAN and isinstance(node, str)
        fix = reading.rewriting(path, respell_duration(node)) if is_misspelt else None
        reading.report(asked.code, path, f"{what}: {error}", fix=fix)
        return None
    return value


def read_repetition(fields: Fields, scope: Scope) -> Repetition:
    """`for_each` is evaluated first, then `when` for each element (language.md 6.1)."""
    reading = fields.reading
    for_each: Value | None = None
    as_name = "item"
    if "for_each" not in fields:
        fields.refuse(("as",), "names the element of a `for_each`, and there is none")
    else:
        path = fields.at("for_each")
        for_each = read_value(reading, fields["for_each"], path, scope, "`for_each`", _ARRAY)
        if "as" in fields:
            as_name = reading.read_scope_name(fields["as"], fields.at("as"), "`as`", scope.taken) or "item"
        elif as_name in scope.taken:
            message = "`item`, the default name of an element, is already a name in this scope"
            reading.report("NAM001", path, message, help="name the element: as: …", is_about_key=True)
        environment = scope.environment
        if for_each is not None:
            environment = environment.with_item(as_name, for_each)
        else:
            environment = environment.with_name(as_name, ANY)
        scope = Scope(environment, scope.taken, scope.out_of_reach)
    when = read_guard(reading, fields["when"], fields.at("when"), scope) if "when" in fields else None
    return Repetition(scope, when, for_each, as_name)


def check_input(
    reading: Reading,
    target: str,
    asked: Type | None,
    given: Type | None,
    path: Path,
    *,
    what: str,
    help: str = "",
) -> None:
    """A movement or route without `input`: what is handed on must fit the step that takes one."""
    if asked is None:
        return
    if given is None:
        if not asked.admits_null:
            reading.report("TYP004", path, f"`{target}` takes an input ({asked.text}), and {what}", help=help)
        return
    why_not = given.fits(asked)
    if why_not is not None:
        reading.report(
            "TYP003", path, f"`{target}` takes {asked.text}, and gets {given.text}: {why_not}", help=help
        )
