"""The part of an expression before the cursor, while it is being written."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"\w*\Z", re.ASCII)
_PAIRS = {")": "(", "]": "["}
_MACRO = re.compile(r"\.\s*(?:map|filter|all|exists|exists_one)\s*\(\s*([A-Za-z_]\w*)\s*,", re.ASCII)


class Unfinished(NamedTuple):
    """`before.word`: what stands before the last dot, and the word under way; `before` None without a dot."""

    before: str | None
    word: str


def open_expression(text: str, *, is_guard: bool) -> str | None:
    """The expression that `text`, which ends at the cursor, is in the middle of; None outside of one."""
    if is_guard:
        return text
    start = text.rfind("${")
    while start > 0 and text[start - 1] == "$":
        start = text.rfind("${", 0, start)
    if start < 0:
        return None
    inner = text[start + 2 :]
    return None if _is_closed(inner) else inner


def split_word(expression: str) -> Unfinished:
    word = _WORD.search(expression)
    assert word is not None
    head = expression[: word.start()].rstrip()
    if head.endswith("?"):
        head = head[:-1].rstrip()
    if not head.endswith("."):
        return Unfinished(None, word[0])
    before = head[:-1].rstrip()
    return Unfinished(before[_operand_start(before) :], word[0])


def macro_variables(expression: str) -> list[tuple[str, str]]:
    """Variables of macros that are open at the end, each with the list it runs over, the outermost first."""
    found = []
    for macro in _MACRO.finditer(expression):
        if not _is_closed(expression[macro.end() :], "()"):
            over = expression[: macro.start()]
            found.append((macro[1], over[_operand_start(over) :]))
    return found


def _operand_start(text: str) -> int:
    """Where the names, calls and indexes begin that the text ends with."""
    at = len(text)
    while at > 0:
        character = text[at - 1]
        if character in _PAIRS:
            at = _opening(text, at - 1)
        elif character.isalnum() or character in "_.?":
            at -= 1
        else:
            break
    return at


def _opening(text: str, at: int) -> int:
    closing, depth = text[at], 0
    for index in range(at, -1, -1):
        depth += (text[index] == closing) - (text[index] == _PAIRS[closing])
        if depth == 0:
            return index
    return 0


def _is_closed(text: str, pair: str = "{}") -> bool:
    """More is closed than opened in it, quotes aside."""
    depth, quote = 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in pair:
            depth += 1 if character == pair[0] else -1
            if depth < 0:
                return True
    return False
