"""Rules about the text itself: what other YAML readers read otherwise, what nobody sees (YML003, YML007)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator

from orchestrator.definition.document import resolve_plain
from orchestrator.definition.problem import Edit, Fix, Problem, Span, line_starts
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule

_BOOLEAN = re.compile(r"yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_GROUPED = re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?")
_BINARY = re.compile(r"[-+]?0b[01_]+")
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_FIRST = frozenset("yYnNoO+-0123456789")


def find_ambiguous_scalars(facts: Facts) -> Iterator[Problem]:
    """YML003: unquoted text that is none to readers of YAML 1.1; or a number that they read in octal."""
    for text, span, is_key in facts.source.plain_scalars(_FIRST):
        if (other := other_reading(text)) is None:
            continue
        what = "key" if is_key else "value"
        if isinstance(resolve_plain(text), str):
            help, fix = (
                f"quote it: {_in_quotes(text)}",
                Fix("quote it", (Edit(span, _in_quotes(text)),), is_safe=True),
            )
        else:
            help, fix = f"write `{int(text)}`, or quote it if it is text", None
        yield facts.text_problem(
            "YML003", f"the {what} `{text}` reads as {other} in YAML 1.1", span, help=help, fix=fix
        )


def other_reading(text: str) -> str | None:
    """What YAML 1.1 makes of a plain scalar that YAML 1.2 reads otherwise; None where both agree."""
    if _BOOLEAN.fullmatch(text):
        return "true or false"
    if _SEXAGESIMAL.fullmatch(text):
        return "a number to the base of 60"
    if _GROUPED.fullmatch(text) or _BINARY.fullmatch(text):
        return "a number"
    return "an octal number" if _OCTAL.fullmatch(text) else None


def _in_quotes(text: str) -> str:
    return f'"{text}"'


_UNSEEN = re.compile("[\u0085\u200b\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Breaks that look like none, spaces of no width, and what turns the direction of the text."""


def find_unseen_characters(facts: Facts) -> Iterator[Problem]:
    """YML007: what is shown is not what is written."""
    if facts.source.text.isascii():
        return
    starts = line_starts(facts.source.text)
    for found in _UNSEEN.finditer(facts.source.text):
        line = bisect_right(starts, found.start())
        end_line = bisect_right(starts, found.end())
        column, end_column = found.start() - starts[line - 1] + 1, found.end() - starts[end_line - 1] + 1
        span = Span(line, column, end_line, end_column)
        yield facts.text_problem(
            "YML007",
            f"an invisible character, U+{ord(found.group()):04X}{_name_of(found.group())}",
            span,
            help="remove it; in a text that needs it, write it as an escape in double quotes",
            fix=Fix("remove the character", (Edit(span, ""),), is_safe=False),
        )


def _name_of(character: str) -> str:
    name = unicodedata.name(character, "").lower()
    return f" ({name})" if name else ""


def check_end_of_file(facts: Facts) -> Iterator[Problem]:
    """YML007: the last line has no end."""
    if facts.source.text.endswith(("\n", "\r")) or not facts.source.text:
        return
    line = len(facts.source.lines)
    column = len(facts.source.lines[-1]) + 1
    span = Span(line, column, line, column)
    yield facts.text_problem(
        "YML007",
        "the last line does not end with a line break",
        Span(line, max(1, column - 1), line, column),
        help="end the file with a line break",
        fix=Fix("add a line break", (Edit(span, "\n"),), is_safe=True),
    )


RULES: list[Rule] = [find_ambiguous_scalars, find_unseen_characters, check_end_of_file]
