"""Which operands an operator takes, and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.definition.cel_tree import Const, Node
from orchestrator.definition.fitting import resolve
from orchestrator.definition.kinds import ANY_KIND, BOOL, Kind, join
from orchestrator.definition.nearness import nearest

_ARITHMETIC: Mapping[str, Mapping[tuple[str, str], str]] = {
    "+": {
        ("int", "int"): "int",
        ("double", "double"): "double",
        ("string", "string"): "string",
        ("bytes", "bytes"): "bytes",
        ("list", "list"): "list",
        ("timestamp", "duration"): "timestamp",
        ("duration", "timestamp"): "timestamp",
        ("duration", "duration"): "duration",
    },
    "-": {
        ("int", "int"): "int",
        ("double", "double"): "double",
        ("timestamp", "timestamp"): "duration",
        ("timestamp", "duration"): "timestamp",
        ("duration", "duration"): "duration",
    },
    "*": {("int", "int"): "int", ("double", "double"): "double"},
    "/": {("int", "int"): "int", ("double", "double"): "double"},
    "%": {("int", "int"): "int"},
}
_ORDERED = {"int", "double", "string", "bytes", "bool", "timestamp", "duration"}
_NUMBERS = {"int", "double"}


class Mismatch(Exception):
    """Operands that an operator does not take."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def arithmetic_kind(operator: str, kinds: tuple[Kind, Kind], nodes: tuple[Node, Node]) -> Kind:
    left, right = kinds
    results = {
        result
        for (one, other), result in _ARITHMETIC[operator].items()
        if left.name in (one, "any") and right.name in (other, "any")
    }
    if not results:
        raise Mismatch(
            f"`{operator}` does not take {left.word} and {right.word}", _help_with(operator, kinds, nodes)
        )
    if results == {"list"}:
        return Kind("list", join(left.element, right.element))
    return (
        Kind(results.pop()) if (len(results) == 1 and left.name != "any") or right.name != "any" else ANY_KIND
    )


def _help_with(operator: str, kinds: tuple[Kind, Kind], nodes: tuple[Node, Node]) -> str:
    names = tuple(kind.name for kind in kinds)
    if set(names) == _NUMBERS:
        integer = nodes[names.index("int")]
        return (
            f"write `{integer.value}.0`"
            if isinstance(integer, Const)
            else "write `double(…)` around the integer"
        )
    if operator == "+" and "string" in names:
        return "write `string(…)` around the other one"
    if operator in "+-" and "timestamp" in names and not _NUMBERS.isdisjoint(names):
        return "write `seconds(…)` around the number"
    if "timestamp" in names and "string" in names:
        return 'write `timestamp("…")` or `duration("…")` around the text'
    if operator == "%" and "double" in names:
        return "`%` is for integers"
    return ""


def check_order(operator: str, left: Kind, right: Kind) -> None:
    """`<`, `<=`, `>`, `>=`"""
    names = {left.name, right.name} - {"any"}
    if not names <= _ORDERED or (len(names) == 2 and names != _NUMBERS):
        raise Mismatch(
            f"`{operator}` does not take {left.word} and {right.word}", _comparison_help(left, right)
        )


def check_equality(operator: str, kinds: tuple[Kind, Kind], nodes: tuple[Node, Node]) -> None:
    """`==`, `!=`: what can never be equal is a mistake; null may be compared with everything."""
    left, right = kinds
    names = {left.name, right.name}
    if "any" not in names and "null" not in names and len(names) == 2 and names != _NUMBERS:
        raise Mismatch(f"{left.word} and {right.word} are never equal", _comparison_help(left, right))
    for kind, node in ((left, nodes[1]), (right, nodes[0])):
        words = words_of(kind)
        if (
            words is not None
            and isinstance(node, Const)
            and isinstance(node.value, str)
            and node.value not in words
        ):
            near = nearest(node.value, words)
            known = ", ".join(f"`{word}`" for word in words)
            raise Mismatch(
                f'it is never "{node.value}"', f"did you mean `{near}`?" if near else f"it is one of {known}"
            )


def words_of(kind: Kind) -> list[str] | None:
    """The only texts that a value may be, if its type lists them."""
    schema = resolve(kind.schema, kind.names)
    found = schema.get("enum") if isinstance(schema, dict) else None
    return found if isinstance(found, list) and all(isinstance(word, str) for word in found) else None


def _comparison_help(left: Kind, right: Kind) -> str:
    names = {left.name, right.name}
    if "timestamp" in names and "string" in names:
        return 'write `timestamp("…")` around the text'
    if "duration" in names and not _NUMBERS.isdisjoint(names):
        return "write `seconds(…)` around the number"
    if "duration" in names and "string" in names:
        return 'write `duration("…")` around the text'
    if "optional" in names:
        return "give the optional a value: `.orValue(…)`"
    if "string" in names and not _NUMBERS.isdisjoint(names):
        return "write `string(…)` around the number"
    return ""


def check_membership(left: Kind, right: Kind) -> Kind:
    """`in`"""
    if right.name == "list" and right.element is not None:
        names = {left.name, right.element.name}
        if "any" not in names and "null" not in names and len(names) == 2 and names != _NUMBERS:
            raise Mismatch(f"{left.word} is never in a {right.word}", _comparison_help(left, right.element))
    elif right.name == "map" and left.name not in ("string", "any") and right.members is None:
        raise Mismatch(f"keys of an object are text, not {left.word}")
    elif right.name == "string":
        raise Mismatch("`in` looks into lists and objects, not into text", "write `text.contains(part)`")
    elif right.name not in ("list", "map", "any"):
        raise Mismatch(f"`in` looks into lists and objects, not into {right.word}")
    return BOOL
