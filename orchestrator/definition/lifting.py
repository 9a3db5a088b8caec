"""Trees that we add to an author's: what turns JSON into CEL's own numbers and times."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.definition.cel_tree import Call, Const, Entry, Fold, Ident, ListNode, MapNode, Node, Read
from orchestrator.definition.kinds import TIMESTAMP, Kind, list_of
from orchestrator.definition.model import Json

Typed = tuple[Node, Kind]
NOTHING = Const(0, None)


def lift(node: Node, kind: Kind) -> Typed:
    """JSON as CEL needs it: numbers as doubles, times as timestamps."""
    if not kind.is_raw:
        return node, kind
    if kind.name == "double":
        if isinstance(node, Read):
            return replace(node, is_lifted=True), kind.native()
        return unless_null(node, "double"), kind.native()
    if kind.name == "timestamp":
        return unless_null(node, "timestamp"), kind.native()
    if kind.name == "list" and kind.element is not None and kind.element.name == "timestamp":
        return each_time(node), list_of(TIMESTAMP)
    return node, kind


def each_time(node: Node) -> Node:
    """`node.map(each, timestamp(each))`, or null."""
    element, total = Ident(node.at, "@each"), Ident(node.at, "@times")
    step = Call(node.at, "_+_", [total, ListNode(node.at, [unless_null(element, "timestamp")])])
    bound = Ident(node.at, "@list")
    times = Fold(node.at, "@each", bound, "@times", ListNode(node.at, []), Const(node.at, True), step, total)
    return bind("@list", node, conditional(Call(node.at, "_==_", [bound, NOTHING]), NOTHING, times))


def unless_null(node: Node, function: str) -> Node:
    if isinstance(node, Read | Ident):
        return conditional(Call(node.at, "_==_", [node, NOTHING]), NOTHING, Call(node.at, function, [node]))
    bound = Ident(node.at, "@value")
    return bind("@value", node, unless_null(bound, function))


def conditional(condition: Node, one: Node, other: Node) -> Node:
    return Call(condition.at, "_?_:_", [condition, one, other])


def bind(name: str, value: Node, result: Node) -> Node:
    start, empty = value, ListNode(value.at, [])
    return Fold(
        value.at, "#unused", empty, name, start, Const(value.at, False), Ident(value.at, name), result
    )


def in_order(over: Node, kind: Kind) -> Node:
    """CEL goes over a map in an order that differs from process to process; we go by key."""
    if kind.name == "map":
        return Call(over.at, "@keys", [over])
    if kind.name == "any":
        bound = Ident(over.at, "@over")
        is_map = Call(over.at, "_==_", [Call(over.at, "type", [bound]), Ident(over.at, "map")])
        return bind("@over", over, conditional(is_map, Call(over.at, "@keys", [bound]), bound))
    return over


def node_of(value: Json) -> Node:
    """A constant as a tree."""
    if isinstance(value, list):
        return ListNode(0, [node_of(element) for element in value])
    if isinstance(value, dict):
        return MapNode(0, [Entry(Const(0, key), node_of(member)) for key, member in value.items()])
    return Const(0, value)
