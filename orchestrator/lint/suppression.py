"""`# lint: ignore[CODE] reason`: problems that the author has looked at and wants no more word of.

At the end of a line it speaks of that line, on a line of its own of the next one with content;
`# lint: ignore-file[CODE]` speaks of the whole file. Codes or names, several with commas between.
The problems of `verify` are suppressed in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from orchestrator.definition.codes import CODES
from orchestrator.definition.finders import finders
from orchestrator.definition.nearness import did_you_mean
from orchestrator.definition.parse import read_document
from orchestrator.definition.problem import Edit, Fix, Problem, Span, split_lines
from orchestrator.definition.source import Source

UNUSED = "MET001"
WITHOUT_REASON = "MET002"
_ELSEWHERE = frozenset(["NAM008", "REF010"])
"""Depends on which other files are looked at."""
_COMMENT = re.compile(
    r"(?:^|(?<=\s))#\s*lint:\s*ignore(?P<file>-file)?\b(?:\[(?P<codes>[^\]]*)\](?P<reason>[^#]*))?"
)
_WORD = re.compile(r"[^\s,]+")


@dataclass
class Suppression:
    """One code of a comment. `line` is the one it speaks of; None: the whole file."""

    word: str
    span: Span
    line: int | None
    comment: Comment
    is_used: bool = False

    @property
    def code(self) -> str | None:
        """None: there is no such problem."""
        if self.word.upper() in CODES:
            return self.word.upper()
        return next((code for code, about in CODES.items() if about.name == self.word.lower()), None)

    @property
    def is_firm(self) -> bool:
        return self.code is not None and is_firm(self.code)

    def covers(self, problem: Problem) -> bool:
        return problem.code == self.code and not self.is_firm and self.line in (None, problem.span.line)


@dataclass(eq=False)
class Comment:
    span: Span
    removal: Span
    """With the space before it, or its whole line."""
    has_reason: bool = True
    suppressions: list[Suppression] = field(default_factory=list)


def is_firm(code: str) -> bool:
    """What no comment makes go away: the YAML text, unknown names, and suppressions themselves."""
    if code.startswith("MET"):
        return True
    is_unknown_name = code.startswith("REF") and CODES[code].name.startswith("unknown-")
    return is_unknown_name or (code.startswith("YML") and finders(code) == {"loader"})


@cache
def not_looked_for(
    *, has_rules: bool = True, has_handlers: bool = False, has_verifier: bool = False
) -> frozenset[str]:
    """Codes whose absence says nothing, because not all who can find them were asked."""
    asked = {"loader", "suppression", "rule"} if has_rules else set()
    asked |= {"handlers"} if has_handlers else set()
    asked |= {"verifier"} if has_verifier else set()
    return frozenset(code for code in CODES if not finders(code) <= asked)


def suppress(
    problems: Sequence[Problem], text: str, path: str, *, unchecked: Collection[str] | None = None
) -> list[Problem]:
    """What is left of one file's problems; MET001 and MET002 for suppressions that have no use or reason.

    Nothing is said of the use of `unchecked` codes (see `not_looked_for`; by default what `lint` alone does
    not find), nor of any while the file cannot be read whole. `verify` and `check` call this too.
    """
    unchecked = not_looked_for() if unchecked is None else unchecked
    comments = list(_find_comments(text, path))
    if not comments:
        return list(problems)
    suppressions = [each for comment in comments for each in comment.suppressions]
    left = []
    for problem in problems:
        covering = [each for each in suppressions if each.covers(problem)]
        for each in covering:
            each.is_used = True
        if not covering:
            left.append(problem)
    silent = {*unchecked, *_ELSEWHERE}
    if any(problem.severity == "error" for problem in problems):
        silent.add("ENG001")
    if any(problem.severity == "error" and "loader" in finders(problem.code) for problem in left):
        silent.update(CODES)
    return [*left, *_complaints(comments, path, silent)]


def _complaints(comments: Sequence[Comment], path: str, silent: Collection[str]) -> Iterator[Problem]:
    for comment in comments:
        yield from _form_complaints(comment, path, silent)
        unused = [
            each for each in comment.suppressions if not each.is_used and (each.code or UNUSED) not in silent
        ]
        is_idle = len(unused) == len(comment.suppressions)
        fix = Fix("remove the comment", (Edit(comment.removal, ""),), is_safe=True) if is_idle else None
        for each in unused:
            message, help = _complain(each)
            own_fix = None if each.is_firm else fix
            yield Problem(UNUSED, message, path, each.span, help=help, severity="warning", fix=own_fix)


def _form_complaints(comment: Comment, path: str, silent: Collection[str]) -> Iterator[Problem]:
    """Of a comment without codes, or without a reason."""
    if not comment.suppressions and UNUSED not in silent:
        message, help = "a suppression names its codes", "write # lint: ignore[CODE] reason"
        yield Problem(UNUSED, message, path, comment.span, help=help, severity="warning")
    elif comment.suppressions and not comment.has_reason and WITHOUT_REASON not in silent:
        message, help = "this suppression says no reason", "write it behind: # lint: ignore[CODE] reason"
        yield Problem(WITHOUT_REASON, message, path, comment.span, help=help, severity="info")


def _complain(unused: Suppression) -> tuple[str, str]:
    if unused.code is None:
        words = [*CODES, *(about.name for about in CODES.values())]
        return f"there is no problem `{unused.word}`", did_you_mean(unused.word, words)
    if unused.is_firm:
        return f"`{unused.word}` cannot be suppressed", "remove the comment, and what it is about"
    where = "in this file" if unused.line is None else f"in line {unused.line}"
    return f"there is no `{unused.word}` {where} to suppress", "remove the comment"


def _find_comments(text: str, path: str) -> Iterator[Comment]:
    if "lint:" not in text:
        return
    lines = split_lines(text)
    found = [
        (number, match) for number, line in enumerate(lines, start=1) for match in _COMMENT.finditer(line)
    ]
    if not found:
        return
    source, _, _ = read_document(text, path)
    for number, match in found:
        if not source.is_in_text(number, match.start() + 1):
            yield _read_comment(source, lines, number, match)


def _read_comment(source: Source, lines: Sequence[str], number: int, match: re.Match[str]) -> Comment:
    line = lines[number - 1]
    before = line[: match.start()].rstrip()
    end = match.start("reason") if match["reason"] is not None else match.end()
    span = Span(number, match.start() + 1, number, end + 1)
    if before:
        removal = Span(number, len(before) + 1, number, len(line) + 1)
    else:
        removal = Span(number, 1, number + 1, 1)
    comment = Comment(span, removal, has_reason=bool((match["reason"] or "").strip()))
    about: int | None = number if before else _next_line(lines, number)
    about = None if match["file"] else about
    if match["codes"] is not None:
        for word in _WORD.finditer(match["codes"]):
            start = match.start("codes") + word.start() + 1
            at = Span(number, start, number, start + len(word.group()))
            comment.suppressions.append(Suppression(word.group(), at, about, comment))
    return comment


def _next_line(lines: Sequence[str], number: int) -> int:
    """The next one with content."""
    for following in range(number + 1, len(lines) + 1):
        content = lines[following - 1].strip()
        if content and not content.startswith("#"):
            return following
    return number
