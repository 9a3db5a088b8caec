"""What a guard gives where a part of the scope is known: true, false, or None for "it depends"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.definition.cel_tree import Call, Const, ListNode, Node, PathStep, Read, Select
from orchestrator.definition.values import Expression

Known = Mapping[tuple[PathStep, ...], Any]
"""Values of paths into the scope; a path that is not there is unknown."""


class Unknown:
    """Stands for a value that is not known."""


UNKNOWN = Unknown()
_NEGATED = {"_!=_": "_==_", "_>=_": "_<_", "_>_": "_<=_"}


def truth(guard: Expression | None, known: Known) -> bool | None:
    """None: the guard may hold and may not. No guard holds."""
    if guard is None:
        return True
    found = value_of(guard.tree[0], known)
    return found if isinstance(found, bool) else None


def value_of(node: Node, known: Known) -> Any:
    """The value of an expression's tree as far as `known` settles it, else UNKNOWN."""
    match node:
        case Const(value=value):
            return value
        case Read(path=path, member=None):
            return known.get(path, UNKNOWN)
        case Select(operand=operand, field=field, is_test=False):
            whole = value_of(operand, known)
            return whole.get(field, UNKNOWN) if isinstance(whole, dict) else UNKNOWN
        case ListNode(elements=elements, optional=()):
            found = [value_of(element, known) for element in elements]
            return UNKNOWN if UNKNOWN in found else found
        case Call():
            return _called(node, known)
        case _:
            return UNKNOWN


def _called(call: Call, known: Known) -> Any:
    args = [value_of(arg, known) for arg in ([call.target] if call.target else []) + call.args]
    match call.function, args:
        case (("_&&_" | "_||_"), _):
            return _joined(args, is_all=call.function == "_&&_")
        case "!_", [bool(value)]:
            return not value
        case "_?_:_", [bool(condition), then, otherwise]:
            return then if condition else otherwise
        case "size", [value] if isinstance(value, str | list | dict):
            return len(value)
        case (("_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_"), [left, right]):
            return _compared(call.function, left, right)
        case _:
            return UNKNOWN


def _joined(args: list[Any], *, is_all: bool) -> Any:
    """One side settles it when it is false (true), whatever the other gives."""
    if any(arg is (not is_all) for arg in args):
        return not is_all
    return is_all if all(arg is is_all for arg in args) else UNKNOWN


def _compared(operator: str, left: Any, right: Any) -> Any:
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return UNKNOWN
    if operator in _NEGATED:
        found = _compared(_NEGATED[operator], left, right)
        return found if isinstance(found, Unknown) else not found
    if _has_unknown(left) or _has_unknown(right):
        is_settled = isinstance(left, list) and isinstance(right, list) and len(left) != len(right)
        return False if is_settled and operator == "_==_" else UNKNOWN
    are_numbers = _is_number(left) and _is_number(right)
    if operator == "_==_":
        is_comparable = are_numbers or type(left) is type(right) or left is None or right is None
        return left == right if is_comparable else UNKNOWN
    if not are_numbers:
        return UNKNOWN
    return bool(left < right if operator == "_<_" else left <= right)


def _has_unknown(value: Any) -> bool:
    return isinstance(value, list) and UNKNOWN in value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
