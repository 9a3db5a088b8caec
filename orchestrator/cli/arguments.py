"""Words of the command line that are no text: file names may be of any bytes, all else must be UTF-8."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperOption

from orchestrator.errors import UsageError

FILE_NAMES = {"PATH", "FILE", "DIR", "[DIR]", "URL", "FLOW", "OLD", "NEW"}
VALUES = {"VALUE", "[VALUE]", "[INPUT]", "NAME=VALUE", "NAME=VALUE..."}
"""These may name files; cli/values.py reads them."""


class Command(TyperCommand):
    """Refuses names and ids that are no text, before anything is done with them."""

    def invoke(self, ctx: Any) -> Any:
        for parameter in self.params:
            name = parameter.name
            if name in ctx.params and parameter.metavar not in FILE_NAMES | VALUES:
                ctx.params[name] = _decoded(ctx.params[name], _place(parameter))
        return super().invoke(ctx)


def decode(word: str, place: str) -> str:
    """The text of a word, whatever the locale took it for. Raises UsageError."""
    try:
        return word.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        raise UsageError(f"{place}: `{word}` is not UTF-8 text") from None


def _decoded(value: Any, place: str) -> Any:
    if type(value) is str:
        return value if value.isascii() else decode(value, place)
    return [_decoded(each, place) for each in value] if isinstance(value, (list, tuple)) else value


def _place(parameter: Any) -> str:
    if isinstance(parameter, TyperOption):
        return parameter.opts[0]
    assert isinstance(parameter, TyperArgument)
    name = (parameter.metavar or str(parameter.name).upper()).removesuffix("...")
    return name[1:-1] if name.startswith("[") else name
