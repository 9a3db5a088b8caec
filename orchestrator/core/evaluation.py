"""Evaluate the values of a definition; whatever goes wrong is a failing expression."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orchestrator.core.failing import MethodFails, expression_failed
from orchestrator.core.frame import Frame
from orchestrator.definition.expressions import ExpressionFailed
from orchestrator.definition.json_kinds import describe
from orchestrator.definition.model import Json
from orchestrator.errors import InvalidValue

if TYPE_CHECKING:
    from orchestrator.definition.expressions import Expression, Value
    from orchestrator.definition.types import Type


def evaluate(value: Value, frame: Frame) -> Json:
    try:
        return value.evaluate(frame)
    except ExpressionFailed as error:
        raise expression_failed(str(error)) from None


def holds(guard: Expression | None, frame: Frame) -> bool:
    """A guard that is absent holds; one that gives no boolean fails."""
    if guard is None:
        return True
    result = evaluate(guard, frame)
    if not isinstance(result, bool):
        raise expression_failed(f"`{guard.text}` must give true or false, not {describe(result)}")
    return result


def checked(value: Json, type: Type, what: str) -> Json:
    """`value` as `type` has it, defaults filled in."""
    try:
        return type.check(value)
    except InvalidValue as error:
        raise expression_failed(f"{what}: {error.message}") from None


def elements(
    for_each: Value | None, as_name: str, when: Expression | None, frame: Frame
) -> Iterable[tuple[Frame, Json]]:
    """A frame for each element whose `when` holds; without `for_each` the frame itself (element null).

    The list is evaluated first, then `when` for each element; where `when` is false nothing else is.
    """
    if for_each is None:
        return ((frame, None),) if holds(when, frame) else ()
    return _each(for_each, as_name, when, frame)


def _each(
    for_each: Value, as_name: str, when: Expression | None, frame: Frame
) -> Iterator[tuple[Frame, Json]]:
    for element in listed(for_each, frame):
        inner = frame.with_name(as_name, element)
        if holds(when, inner):
            yield inner, element


def listed(for_each: Value, frame: Frame) -> list[Json]:
    values = evaluate(for_each, frame)
    if not isinstance(values, list):
        raise expression_failed(f"`for_each: {for_each.text}` must give a list, not {describe(values)}")
    return values


def map_key(value: Value | None, frame: Frame) -> str | None:
    """The key of a map entry: a string, or an integer written as one."""
    if value is None:
        return None
    key = evaluate(value, frame)
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise expression_failed(f"key `{value.text}` must give a string or an integer, not {describe(key)}")
    if key == "":
        raise expression_failed(f"key `{value.text}` must not be empty")
    if isinstance(key, str) and "\0" in key:
        raise expression_failed(f"key `{value.text}` must not have a NUL character in it")
    return str(key)


def count(value: Value, frame: Frame, what: str) -> int:
    """A bound of a channel condition (rule 74)."""
    number = evaluate(value, frame)
    if isinstance(number, bool) or not isinstance(number, int):
        raise expression_failed(f"`{what}: {value.text}` must give an integer, not {describe(number)}")
    if number < 0:
        raise expression_failed(f"`{what}: {value.text}` must not be negative, but is {number}")
    return number


__all__ = ["MethodFails", "checked", "count", "elements", "evaluate", "holds", "listed", "map_key"]
