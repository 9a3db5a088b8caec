"""An expression's tree as text again: for messages about a part of it."""

from __future__ import annotations

import re

from orchestrator.definition.cel_tree import Call, Const, Fold, Ident, ListNode, MapNode, Node, Read, Select
from orchestrator.definition.type_text import compact

_OPERATOR = re.compile(r"^_(.+)_$")


def spell(node: Node) -> str:
    match node:
        case Const(value=value):
            return compact(value)
        case Ident(name=name):
            return name
        case Read(path=path, member=member):
            steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
            return steps.lstrip(".") + ("" if member is None else f".?{member}")
        case Select(operand=operand, field=field, is_test=is_test):
            inner = f"{spell(operand)}.{field}"
            return f"has({inner})" if is_test else inner
        case ListNode(elements=elements):
            return "[" + ", ".join(map(spell, elements)) + "]"
        case MapNode():
            return "{…}"
        case Fold(over=over):
            return f"{spell(over)}.…"
        case Call():
            return _spell_call(node)


def _spell_call(call: Call) -> str:
    parts = [spell(argument) for argument in call.args]
    if call.function == "_?_:_":
        return f"{parts[0]} ? {parts[1]} : {parts[2]}"
    if call.function == "@in":
        return f"{parts[0]} in {parts[1]}"
    if call.function in ("!_", "-_"):
        return (
            f"{call.function[0]}{parts[0]}" if _is_simple(call.args[0]) else f"{call.function[0]}({parts[0]})"
        )
    if call.function == "_[_]":
        return f"{parts[0]}[{parts[1]}]"
    infix = _OPERATOR.match(call.function)
    if infix is not None and len(parts) == 2 and call.target is None:
        return f"{parts[0]} {infix[1]} {parts[1]}"
    target = "" if call.target is None else f"{spell(call.target)}."
    return f"{target}{call.function.lstrip('@')}({', '.join(parts)})"


def _is_simple(node: Node) -> bool:
    return isinstance(node, Read | Ident | Const | Select) or (
        isinstance(node, Call) and "_" not in node.function
    )
