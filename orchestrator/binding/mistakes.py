"""What a handler can do wrong in one call. It fails the attempt; nothing of the call is committed (rule 48).

HandlerMistake
├── InvalidInput       the input does not convert to the annotated type
├── InvalidResult      the result is no JSON, or does not fit its declared type
├── InvalidWait        the wait is not built of the declared conditions
├── UndeclaredEffect   done through `ctx`, but not allowed by `may`
├── UnknownName        no such attribute, channel, step or condition in the definition
└── NotLoaded          map entries or messages that `loads` does not ask for (rule 102)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from reprlib import Repr
from typing import Any, TypeVar

from orchestrator.definition.nearness import nearest

T = TypeVar("T")
_short = Repr()
_short.maxstring = _short.maxother = 60


class HandlerMistake(Exception):
    """The handler strays from its definition."""


class InvalidInput(HandlerMistake):
    pass


class InvalidResult(HandlerMistake):
    pass


class InvalidWait(HandlerMistake):
    pass


class UndeclaredEffect(HandlerMistake):
    pass


class UnknownName(HandlerMistake, AttributeError, LookupError):
    """Also an AttributeError, since `ctx.wait.approval` and `ctx.wait["approval"]` are the same."""


class NotLoaded(HandlerMistake):
    pass


def shown(value: object) -> str:
    return _short.repr(value)


def demand_name(kind: str, name: object, known: Iterable[str]) -> None:
    if not isinstance(name, str):
        raise UnknownName(f"{kind}s are named by text, not {shown(name)}{hint('', known)}")


def written_by_item(advice: str) -> Callable[[Any, str, Any], None]:
    """A `__setattr__` that refuses all but the object's own slots."""

    def set_own(owner: Any, name: str, value: Any) -> None:
        if name not in type(owner).__slots__:
            raise AttributeError(advice.format(name=name))
        object.__setattr__(owner, name, value)

    return set_own


def declared_as(kind: str, name: str, declared: Mapping[str, T]) -> T:
    """What the definition has by that name. Raises UnknownName."""
    demand_name(kind, name, declared)
    if name not in declared:
        raise UnknownName(f"no {kind} `{name}`{hint(name, declared)}")
    return declared[name]


def hint(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest one, or all there are."""
    names = sorted(known)
    match = nearest(name, names)
    if match is not None:
        return f"; did you mean `{match}`?"
    if not names:
        return "; none is declared"
    return "; there are " + ", ".join(f"`{each}`" for each in names[:8]) + (" …" if len(names) > 8 else "")
