"""A problem of a definition: what is wrong, where, and what to do; and how it is shown in text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

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


class Span(NamedTuple):
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
    """One event of the way to a problem that only a run shows; `thread`: the step execution it happens to."""

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
        message = " ".join(self.message.splitlines())
        return f"{self.path}:{self.span.line}:{self.span.column}: {self.code} {message}"

    def frame(
        self,
        source: Source | None,
        others: Mapping[str, Source | None] | None = None,
        *,
        has_colour: bool = False,
    ) -> str:
        """The problem over the lines that it speaks of, with carets; plain unless colour is asked.

        `others`: the texts of other files that it speaks of, by path.
        """
        from orchestrator.definition.framing import render_frame

        return render_frame(self, source, others, has_colour=has_colour)


def sort_key(problem: Problem) -> tuple[str, Span, str, str]:
    return (problem.path, problem.span, problem.code, problem.message)
