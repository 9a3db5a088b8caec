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

from collections.abc import Iterable

from orchestrator.definition.nearness import nearest


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


def hint(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest one, or all there are."""
    names = sorted(known)
    match = nearest(name, names)
    if match is not None:
        return f"; did you mean `{match}`?"
    if not names:
        return "; none is declared"
    return "; there are " + ", ".join(f"`{each}`" for each in names[:8]) + (" …" if len(names) > 8 else "")
