"""What programs give to clients and workers: refused where it is not of the type that it is said to be.

Once written, a number in the place of a text could not be read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from reprlib import Repr
from typing import Any

from orchestrator.definition.json_kinds import Misfit, check_any, check_name
from orchestrator.errors import UsageError

Span = timedelta | float
"""A float is in seconds."""
_short = Repr()
_short.maxstring = _short.maxother = 60


def text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise another(name, "text", value)
    try:
        return str(check_name(value))
    except Misfit as problem:
        raise UsageError(f"{name}: {problem.message}") from None


def optional_text(value: object, name: str) -> str | None:
    return None if value is None else text(value, name)


def whole(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise another(name, "a whole number", value)
    return value


def positive(value: object, name: str) -> int:
    if whole(value, name) < 1:
        raise UsageError(f"{name} is at least 1, not {value}")
    return whole(value, name)


def instance_key(value: object, owner: str) -> str | None:
    """The key of an entry of a map, or None; as in handlers it may be an integer."""
    if value is None or isinstance(value, str):
        return optional_text(value, f"the key of {owner}")
    if isinstance(value, bool) or not isinstance(value, int):
        raise another(f"the key of {owner}", "text or an integer", value)
    return str(value)


def span(value: Span | None, name: str) -> timedelta | None:
    return None if value is None else demanded_span(value, name)


def demanded_span(value: Span, name: str) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise another(name, "a timedelta or a number of seconds", value)
    try:
        return timedelta(seconds=value)
    except (ValueError, OverflowError):
        raise another(name, "a timedelta or a number of seconds", value) from None


def json(value: Any, name: str) -> Any:
    try:
        return check_any(value)
    except Misfit as problem:
        raise UsageError(f"{name}: {problem.message}") from None


def mapping(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise another(name, "a mapping of names to values", value)
    return dict(value)


def names(value: object, name: str) -> tuple[str, ...]:
    """One name may stand without a list."""
    return tuple(text(each, f"a name in {name}") for each in _several(value, name, "names"))


def paths(value: object, name: str) -> tuple[str | Path, ...]:
    """One path may stand without a list."""
    found = _several(value, name, "paths")
    for each in found:
        if not isinstance(each, str | Path):
            raise another(f"a path in {name}", "text or a Path", each)
    return found


def _several(value: object, name: str, what: str) -> tuple[Any, ...]:
    if isinstance(value, str | Path):
        return (value,)
    if not isinstance(value, Iterable):
        raise another(name, f"a list of {what}", value)
    return tuple(value)


def another(name: str, kind: str, value: object) -> UsageError:
    """The value is of another kind."""
    return UsageError(f"{name} is {kind}, not {_short.repr(value)}")
