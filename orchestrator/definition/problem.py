"""A problem of a definition: what is wrong, where, and what to do; and how it is shown in text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.definition.codes import CODES

if TYPE_CHECKING:
    from orchestrator.definition.source import Source

_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def split_lines(text: str) -> list[str]:
    """By the breaks that the YAML reader counts."""
    return _LINE_BREAK.split(text)


def line_starts(text: str) -> list[int]:
    """The offset at which each line begins."""
    return [0, *(found.end() for found in _LINE_BREAK.finditer(text))]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Lines and columns count characters from 1; the end is the first character after."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    path: str
    span: Span
    label: str


@dataclass(frozen=True, slots=True)
class Edit:
    """What stands at the span becomes `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """`message` says what it does, in the imperative. Safe: the meaning can only be this one."""

    message: str
    edits: tuple[Edit, ...]
    is_safe: bool


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One event of the way to a problem that only a run shows. `thread` is the step execution it happens to."""

    span: Span
    text: str
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` is the file; the name comes from the code."""

    code: str
    message: str
    path: str
    span: Span
    help: str = ""
    severity: str = "error"
    confidence: str = "proved"
    flow: str | None = None
    spans: tuple[LabelledSpan, ...] = field(default=())
    fix: Fix | None = None
    trace: tuple[TraceStep, ...] = field(default=())
    """In the order of the events."""
    trace_title: str = "trace"
    notes: tuple[str, ...] = field(default=())
    """Further lines of the report, below the trace: who is stuck, how to replay it."""

    @property
    def name(self) -> str:
        return CODES[self.code].name if self.code in CODES else ""

    def concise(self) -> str:
        return f"{self.path}:{self.span.line}:{self.span.column}: {self.code} {self.message}"

    def frame(self, source: Source | None, *, has_colour: bool = False) -> str:
        """The problem over the lines that it speaks of, with carets; plain unless colour is asked."""
        return _render_frame(self, source, has_colour)


def sort_key(problem: Problem) -> tuple[str, Span, str, str]:
    return (problem.path, problem.span, problem.code, problem.message)


_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "info": "\x1b[1;36m", "bar": "\x1b[1;34m"}
_CONTEXT_LINE_COUNT = 4
"""A span over more lines than this shows its first lines only."""


def _render_frame(problem: Problem, source: Source | None, has_colour: bool) -> str:
    def paint(text: str, style: str) -> str:
        return f"{_COLOURS.get(style, '')}{text}\x1b[0m" if has_colour and text else text

    head = paint(f"{problem.severity}[{problem.code}]", problem.severity)
    lines = [f"{head} {problem.name}: {problem.message}"]
    marks = [(problem.span, "^", "")] + [
        (labelled.span, "-", labelled.label) for labelled in problem.spans if labelled.path == problem.path
    ]
    texts = source.lines if source is not None else ()
    shown = _lines_shown(marks, len(texts))
    gutter = max((len(str(number)) for number in shown), default=1)
    bar = paint("|", "bar")
    arrow = paint("-->", "bar")
    lines.append(f"{' ' * gutter}{arrow} {problem.path}:{problem.span.line}:{problem.span.column}")
    if shown:
        lines.append(f"{' ' * gutter} {bar}")
    previous: int | None = None
    for number in shown:
        if previous is not None and number > previous + 1:
            lines.append(paint("...", "bar"))
        previous = number
        text = _printable(texts[number - 1])
        lines.append(f"{paint(str(number).rjust(gutter), 'bar')} {bar} {text}".rstrip())
        for span, mark, label in marks:
            underline = _underline(texts[number - 1], number, span, mark)
            if underline and number == min(span.end_line, span.line + _CONTEXT_LINE_COUNT - 1):
                underline = f"{underline} {label}".rstrip()
            if underline:
                style = problem.severity if mark == "^" else "bar"
                lines.append(f"{' ' * gutter} {bar} {paint(underline, style)}")
    sign = f"{' ' * gutter} {paint('=', 'bar')}"
    if problem.trace:
        lines.append(f"{sign} {problem.trace_title}:")
        lines += [f"{' ' * gutter}{line}" for line in _trace_lines(problem.trace)]
    for note in problem.notes:
        first, *others = note.split("\n")
        lines += [f"{sign} {first}", *(f"{' ' * gutter}     {other}" for other in others)]
    if problem.help:
        lines.append(f"{sign} help: {problem.help}")
    return "\n".join(lines)


def _trace_lines(trace: Sequence[TraceStep]) -> list[str]:
    """Numbered, the threads in a column of their own."""
    digits, width = len(str(len(trace))), max(_cells(step.thread) for step in trace)
    return [
        f"     {number:>{digits}} {step.thread}{' ' * (width - _cells(step.thread))}  {step.text}".rstrip()
        for number, step in enumerate(trace, start=1)
    ]


def _lines_shown(marks: Sequence[tuple[Span, str, str]], line_count: int) -> list[int]:
    shown: set[int] = set()
    for span, _, _ in marks:
        last = min(span.end_line, span.line + _CONTEXT_LINE_COUNT - 1)
        shown.update(number for number in range(span.line, last + 1) if number <= line_count)
    return sorted(shown)


def _underline(text: str, number: int, span: Span, mark: str) -> str:
    if not span.line <= number <= min(span.end_line, span.line + _CONTEXT_LINE_COUNT - 1):
        return ""
    start = span.column - 1 if number == span.line else len(text) - len(text.lstrip())
    end = span.end_column - 1 if number == span.end_line else len(text.rstrip())
    if number != span.line and end <= start:
        return ""
    start = min(start, len(text))
    width = max(1, _cells(text[start:end]))
    return " " * _cells(text[:start]) + mark * width


def _printable(text: str) -> str:
    """Tabs as one space and control characters as `?`, so that carets stand where they should."""
    return "".join(" " if c == "\t" else "?" if unicodedata.category(c) == "Cc" else c for c in text)


def _cells(text: str) -> int:
    """Width on a terminal: wide characters take two cells, combining ones none."""
    width = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
            continue
        width += 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
    return width
