"""How many: counts of waits and sizes of fan-outs in a form that can be compared, `size(input.edits) + 1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from orchestrator.definition.cel_tree import Call, Const, ListNode, Node, Read, Select
from orchestrator.definition.values import Value


class Length(NamedTuple):
    """A number; with a base, so much more than what the base will be at run time."""

    base: str
    """`size(input)` or `input.count`; empty: the number is known."""
    offset: int

    def __str__(self) -> str:
        if not self.base:
            return str(self.offset)
        sign = "+" if self.offset > 0 else "-"
        return self.base if self.offset == 0 else f"{self.base} {sign} {abs(self.offset)}"

    def plus(self, other: Length) -> Length | None:
        if self.base and other.base:
            return None
        return Length(self.base or other.base, self.offset + other.offset)


def length_of(value: Value, inputs: Mapping[str, Node] | None = None) -> Length | None:
    """Of a count; `inputs`: what names in it stand for. None: not of this form."""
    return _length(_substitute(value.tree[0], inputs or {}))


def length_of_list(elements: Value, inputs: Mapping[str, Node] | None = None) -> Length | None:
    """How many elements a list has."""
    return _size(_substitute(elements.tree[0], inputs or {}))


def _length(node: Node) -> Length | None:
    match node:
        case Const(value=bool()):
            return None
        case Const(value=int(value)):
            return Length("", value)
        case Call(function="size", args=[inner], target=None):
            return _size(inner)
        case Call(function=("_+_" | "_-_") as operator, args=[left, right]):
            one, other = _length(left), _length(right)
            if one is None or other is None:
                return None
            if operator == "_+_":
                return one.plus(other)
            return one.plus(Length("", -other.offset)) if not other.base else None
        case Read() | Select():
            text = _text(node)
            return Length(text, 0) if text else None
        case _:
            return None


def _size(node: Node) -> Length | None:
    match node:
        case ListNode(elements=elements, optional=()):
            return Length("", len(elements))
        case Call(function="range", args=[count], target=None):
            return _length(count)
        case Read() | Select():
            text = _text(node)
            return Length(f"size({text})", 0) if text else None
        case _:
            return None


def _text(node: Node) -> str:
    """A path as written; empty for anything else."""
    match node:
        case Read(path=path, member=None):
            head, *rest = path
            return str(head) + "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in rest)
        case Select(operand=operand, field=field, is_test=False):
            text = _text(operand)
            return f"{text}.{field}" if text else ""
        case _:
            return ""


def _substitute(node: Node, inputs: Mapping[str, Node]) -> Node:
    match node:
        case Read(path=(str(name), *rest), member=None) if name in inputs:
            found = inputs[name]
            for each in rest:
                if isinstance(found, Read) and found.member is None:
                    found = Read(node.at, (*found.path, each))
                else:
                    return Const(node.at, None)
            return found
        case Call(at=at, function=function, args=args, target=target):
            inner = target if target is None else _substitute(target, inputs)
            return Call(at, function, [_substitute(arg, inputs) for arg in args], inner)
        case _:
            return node
