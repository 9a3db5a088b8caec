"""`${ … }` in text (language.md 6.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<raw>\b[rR][bB]?(?P<rq>'''|\"\"\"|'|"))|(?P<quote>'''|\"\"\"|'|")|(?P<open>\{)|(?P<close>\})"""
)


@dataclass(frozen=True, slots=True)
class Hole:
    """One `${ … }`: the expression's text, and where it begins in the whole."""

    source: str
    at: int


class Unclosed(Exception):
    """A `${` without its `}`."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def split(text: str) -> list[str | Hole]:
    """Literal text, `$${` already resolved, and holes in turn; empty literals are left out."""
    parts: list[str | Hole] = []
    literal = ""
    at = 0
    while (start := text.find("${", at)) >= 0:
        if start > 0 and text[start - 1] == "$" and start - 1 >= at:
            literal += text[at : start - 1] + "${"
            at = start + 2
            continue
        literal += text[at:start]
        end = _end_of(text, start + 2)
        if end is None:
            raise Unclosed(start)
        if literal:
            parts.append(literal)
            literal = ""
        parts.append(Hole(text[start + 2 : end], start + 2))
        at = end + 1
    literal += text[at:]
    return [*parts, literal] if literal else parts


def _end_of(text: str, at: int) -> int | None:
    """The `}` that closes a hole; braces and quotes inside the expression count."""
    depth = 0
    while (token := _TOKEN.search(text, at)) is not None:
        at = token.end()
        if token["open"]:
            depth += 1
        elif token["close"]:
            if depth == 0:
                return token.start()
            depth -= 1
        else:
            quote, is_raw = (token["rq"], True) if token["raw"] else (token["quote"], False)
            end = _end_of_quote(text, at, quote, is_raw)
            if end is None:
                return None
            at = end
    return None


def _end_of_quote(text: str, at: int, quote: str, is_raw: bool) -> int | None:
    while at < len(text):
        if text[at] == "\\" and not is_raw:
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        else:
            at += 1
    return None
