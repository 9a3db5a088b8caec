"""One flow that is open in an editor, also while its text is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from orchestrator.definition.mentions import read_symbols
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse_partly
from orchestrator.definition.problem import Problem, Span, sort_key, split_lines
from orchestrator.definition.source import Source
from orchestrator.definition.symbols import Mention, SymbolTable
from orchestrator.lint.runner import lint_text

Choose: TypeAlias = Callable[[list[Problem], Source], list[Problem]]
"""Which of the problems of a text are to be shown."""


class Document:
    """One version of the text. `previous` lends its symbols where this text is not YAML."""

    def __init__(
        self, path: str, text: str, previous: Document | None = None, choose: Choose | None = None
    ) -> None:
        self.path = path
        self._choose = choose
        self.verified: list[Problem] = []
        """What the verifier has found in this text."""
        self.text = text
        own = read_symbols(text, path)
        self.is_readable = own is not None
        """The symbols are those of this text."""
        self._base: Document = self if own is not None or previous is None else previous._base
        self.table: SymbolTable | None = own if own is not None or previous is None else previous.table
        """Of the last text that could be read; None where none ever could."""
        self._last_flow: Flow | None = (
            previous.flow if previous is not None and previous._has_asked_flow else None
        )
        self._has_asked_flow: bool = False

    @cached_property
    def flow(self) -> Flow | None:
        """What can be understood of this text, else of the last one."""
        self._has_asked_flow = True
        found = parse_partly(self.text, self.path) if self.is_readable else None
        if found is not None:
            return found
        return self._base.flow if self._base is not self else self._last_flow

    @cached_property
    def problems(self) -> list[Problem]:
        return self.chosen(lint_text(self.text, self.path))

    @property
    def all_problems(self) -> list[Problem]:
        """Those of the verifier too; none twice."""
        known = {(problem.code, problem.span) for problem in self.problems}
        more = [problem for problem in self.verified if (problem.code, problem.span) not in known]
        return sorted([*self.problems, *more], key=sort_key)

    def chosen(self, problems: list[Problem]) -> list[Problem]:
        """Those of them that are to be shown."""
        if self._choose is None:
            return problems
        own = self.table.source if self.table is not None and self.is_readable else None
        return self._choose(problems, own or Source(self.path, self.text))

    def mention_at(self, line: int, column: int) -> Mention | None:
        """With its span in this text; None also where the text has changed since it could be read."""
        before = self.line_before(line)
        if self.table is None or before is None:
            return None
        found = self.table.at(before, column)
        return self.moved(found) if found is not None else None

    def moved(self, mention: Mention) -> Mention | None:
        """A mention of the table at its place in this text; None where that has changed."""
        if self.is_readable:
            return mention
        span = mention.span
        line = self._line_after(span.line)
        return None if line is None else replace(mention, span=moved_span(span, line - span.line))

    def line_before(self, line: int) -> int | None:
        """The line of the last readable text that this line was; None for a changed one."""
        if self.is_readable:
            return line
        return self._matched(line, self._lines, self._base._lines)

    def _line_after(self, line: int) -> int | None:
        return self._matched(line, self._base._lines, self._lines)

    def _matched(self, line: int, here: list[str], there: list[str]) -> int | None:
        """The same line counted from the top or, where more has been inserted or removed, from the end."""
        if line <= self._heads:
            return line
        if len(here) - line < self._tails:
            return line + len(there) - len(here)
        for other in (line, line + len(there) - len(here)):
            if 0 < other <= len(there) and line <= len(here) and there[other - 1] == here[line - 1] != "":
                return other
        return None

    @cached_property
    def _lines(self) -> list[str]:
        return split_lines(self.text)

    @cached_property
    def _heads(self) -> int:
        """How many lines at the top are as they were."""
        return _common(self._lines, self._base._lines)

    @cached_property
    def _tails(self) -> int:
        most = min(len(self._lines), len(self._base._lines)) - self._heads
        return min(most, _common(self._lines[::-1], self._base._lines[::-1]))


def moved_span(span: Span, lines: int) -> Span:
    return Span(span.line + lines, span.column, span.end_line + lines, span.end_column)


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
