"""The kinds of JSON, each with a check that is quick because most values are right."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from orchestrator.definition.model import Json, Path

Check: TypeAlias = Callable[[Json], Json]
"""Gives the value with defaults filled in (the same object where there were none), or raises Misfit."""

_LIMIT = 2**63
_MADE_PLAIN: tuple[tuple[type, Callable[[Json], Json]], ...] = (
    (int, int),
    (float, float),
    (str, str.__str__),
    (dict, dict),
    (list, list),
)


class Misfit(Exception):
    """A value that does not fit; `at` is built up on the way out."""

    def __init__(self, message: str, at: Path = ()) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


def describe(value: Json) -> str:
    """`integer 5`, `string "abc"`, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean {str(value).lower()}"
    if isinstance(value, int):
        return f"integer {value}" if abs(value) < 10**30 else "an integer of more than 30 digits"
    if isinstance(value, float):
        return f"number {value!r}"
    if isinstance(value, str):
        shown = value if len(value) <= 40 else value[:39] + "…"
        return f'string "{shown}"'
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return (
            "an object with " + ", ".join(f"`{key}`" for key in list(value)[:5])
            if value
            else "an empty object"
        )
    return f"a {type(value).__name__}"


def check_any(value: Json) -> Json:
    """Is it JSON at all, without NaN, Infinity and integers beyond 64 bit?"""
    kind = type(value)
    if kind is str:
        return check_string(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return check_integer(value)
    if kind is float:
        return check_number(value)
    if kind is dict:
        return _check_members(value)
    if kind is list:
        return check_elements(value, check_any)
    return _plain(value, "a JSON value", check_any)


def _plain(value: Json, expected: str, check: Check) -> Json:
    """Subclasses of JSON's types (StrEnum, IntEnum, OrderedDict, …) count as what they are."""
    for kind, made in _MADE_PLAIN:
        if isinstance(value, kind) and type(value) is not kind:
            return check(made(value))
    raise Misfit(f"expected {expected}, got {describe(value)}")


def check_string(value: Json) -> Json:
    if type(value) is not str:
        return plain_as(str, value, "string", check_string)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Misfit("text with half a surrogate pair is not Unicode") from None
    return value


def check_name(value: Json) -> Json:
    """An id or a key: databases keep it in a column of text, and PostgreSQL has no NUL in those."""
    text = check_string(value)
    if "\0" in text:
        raise Misfit("text with a NUL character is no id and no key")
    return text


def check_boolean(value: Json) -> Json:
    if value is True or value is False:
        return value
    raise Misfit(f"expected boolean, got {describe(value)}")


def check_null(value: Json) -> Json:
    if value is None:
        return None
    raise Misfit(f"expected nothing (null), got {describe(value)}")


def check_integer(value: Json) -> Json:
    if type(value) is int:
        if -_LIMIT <= value < _LIMIT:
            return value
        raise Misfit(f"{describe(value)} does not fit into 64 bits")
    if type(value) is float and value.is_integer():
        return check_integer(int(value))
    return plain_as((int, float), value, "integer", check_integer)


def check_number(value: Json) -> Json:
    if type(value) is float:
        if math.isfinite(value):
            return value
        raise Misfit(f"{value} is not a JSON number")
    if type(value) is int:
        return check_integer(value)
    return plain_as((int, float), value, "number", check_number)


def check_object(value: Json) -> Json:
    return _check_members(value) if type(value) is dict else plain_as(dict, value, "object", check_object)


def check_list(value: Json) -> Json:
    if type(value) is list:
        return check_elements(value, check_any)
    return plain_as(list, value, "list", check_list)


def plain_as(kinds: type | tuple[type, ...], value: Json, expected: str, check: Check) -> Json:
    is_exact = type(value) in (bool, int, float, str, dict, list)
    if isinstance(value, kinds) and not is_exact:
        return _plain(value, expected, check)
    raise Misfit(f"expected {expected}, got {describe(value)}")


def _check_members(value: dict[str, Json]) -> Json:
    filled = value
    for key, member in value.items():
        if type(key) is not str and not isinstance(key, str):
            raise Misfit(f"keys of an object are text, but one is {describe(key)}")
        if member is None or type(member) is bool:
            continue
        try:
            check_string(key)
            checked = check_any(member)
        except Misfit as misfit:
            misfit.at = (key, *misfit.at)
            raise
        if checked is not member:
            filled = dict(value) if filled is value else filled
            filled[key] = checked
    return filled


def check_elements(value: list[Json], check: Check) -> Json:
    filled = value
    for index, element in enumerate(value):
        try:
            checked = check(element)
        except Misfit as misfit:
            misfit.at = (index, *misfit.at)
            raise
        if checked is not element:
            filled = list(value) if filled is value else filled
            filled[index] = checked
    return filled


KINDS: Mapping[str, Check] = {
    "string": check_string,
    "integer": check_integer,
    "number": check_number,
    "boolean": check_boolean,
    "object": check_object,
    "array": check_list,
    "null": check_null,
}
