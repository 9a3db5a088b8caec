"""A problem as text: the lines that it speaks of with carets, its trace, and what to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.definition.problem import Problem, Span
    from orchestrator.definition.source import Source

_COLOURS = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "info": "\x1b[1;36m",
    "bar": "\x1b[1;34m",
    "message": "\x1b[1m",
}
_CONTEXT_LINE_COUNT = 4
"""A span over more lines than this shows its first lines only."""
_STATION_PARTS = {"steps": 2, "rpcs": 2, "channels": 2, "attributes": 2, "joins": 2, "on_timeout": 1}
"""How much of a path names what a place belongs to."""

Paint = Callable[[str, str], str]


@dataclass(frozen=True)
class _Mark:
    span: Span
    sign: str
    label: str

    @property
    def last_line(self) -> int:
        return min(self.span.end_line, self.span.line + _CONTEXT_LINE_COUNT - 1)


def render_frame(
    problem: Problem,
    source: Source | None,
    others: Mapping[str, Source | None] | None = None,
    *,
    has_colour: bool = False,
) -> str:
    """`others`: the texts of other files that the problem speaks of, by path."""
    paint = _painted if has_colour else _plain
    head = paint(f"{problem.severity}[{problem.code}]", problem.severity)
    about = paint(one_line(problem.message), "message")
    marks = [_Mark(problem.span, "^", "")]
    marks += [_Mark(each.span, "-", each.label) for each in problem.spans if each.path == problem.path]
    blocks = {problem.path: (source, marks)}
    for each in problem.spans:
        if each.path != problem.path:
            other = (others or {}).get(each.path)
            blocks.setdefault(each.path, (other, []))[1].append(_Mark(each.span, "-", each.label))
    shown = {path: _lines_shown(*block) for path, block in blocks.items()}
    gutter = max((len(str(number)) for numbers in shown.values() for number in numbers), default=1)
    lines = [f"{head} {problem.name}: {about}"]
    for path, (text, block_marks) in blocks.items():
        arrow = paint("-->" if path == problem.path else ":::", "bar")
        first = block_marks[0].span
        lines.append(f"{' ' * gutter}{arrow} {path}:{first.line}:{first.column}")
        if shown[path] and text is not None:
            style = problem.severity
            lines += _quote(text, block_marks, shown[path], gutter, style, paint)
        elif path != problem.path:
            lines += [f"{' ' * gutter} {paint('|', 'bar')} {mark.label}".rstrip() for mark in block_marks]
    return "\n".join([*lines, *_footer(problem, gutter, paint)])


def _quote(
    source: Source, marks: Sequence[_Mark], shown: Sequence[int], gutter: int, style: str, paint: Paint
) -> Iterator[str]:
    bar = paint("|", "bar")
    yield f"{' ' * gutter} {bar}"
    previous = shown[0] - 1
    for number in shown:
        if number > previous + 1:
            yield paint("...", "bar")
        previous = number
        text = source.lines[number - 1]
        yield f"{paint(str(number).rjust(gutter), 'bar')} {bar} {_printable(text)}".rstrip()
        for mark in marks:
            underline = _underline(text, number, mark)
            if underline and number == mark.last_line:
                underline = f"{underline} {one_line(mark.label)}".rstrip()
            if underline:
                yield f"{' ' * gutter} {bar} {paint(underline, style if mark.sign == '^' else 'bar')}"


def _footer(problem: Problem, gutter: int, paint: Paint) -> Iterator[str]:
    lead = f"{' ' * gutter} {paint('=', 'bar')}"
    if problem.trace:
        yield f"{lead} {problem.trace_title}:"
        yield from _numbered(problem, gutter)
    for note in problem.notes:
        first, *rest = note.split("\n")
        yield f"{lead} {_printable(first)}"
        yield from (f"{' ' * (gutter + 3)}{_printable(line)}".rstrip() for line in rest)
    if problem.help:
        yield f"{lead} help: {one_line(problem.help)}"
    if problem.fix is not None:
        how = "--fix" if problem.fix.is_safe else "--fix --unsafe-fixes"
        yield f"{lead} fix: {one_line(problem.fix.message)} [{how}]"


def _numbered(problem: Problem, gutter: int) -> Iterator[str]:
    """One line an event: its number, the step execution that it happens to, what happens."""
    width = max(_cells(step.thread) for step in problem.trace)
    digits = len(str(len(problem.trace)))
    for number, step in enumerate(problem.trace, start=1):
        thread = step.thread + " " * (width - _cells(step.thread))
        first, *rest = step.text.split("\n")
        lead = f"{' ' * (gutter + 5)}{number:>{digits}} {thread}{'  ' if width else ''}"
        yield f"{lead}{_printable(first)}".rstrip()
        yield from (f"{' ' * _cells(lead)}{_printable(line)}".rstrip() for line in rest)


def _lines_shown(source: Source | None, marks: Sequence[_Mark]) -> list[int]:
    """The lines of all marks; of several, also the line that names what each belongs to."""
    if source is None:
        return []
    shown: set[int] = set()
    for mark in marks:
        shown.update(range(mark.span.line, mark.last_line + 1))
        if len(marks) > 1:
            shown.update(_station_line(source, mark))
    shown.update({number + 1 for number in shown if number + 2 in shown})  # a line is as short as `...`
    return sorted(number for number in shown if number <= len(source.lines))


def _station_line(source: Source, mark: _Mark) -> Iterator[int]:
    """Where the step, channel, … begins that a mark stands in."""
    found = source.path_at(mark.span.line, mark.span.column)
    path = found[0] if found is not None else ()
    count = _STATION_PARTS.get(str(path[0]), 0) if path else 0
    if len(path) > count > 0 and (key := source.locate(path[:count]).key) is not None:
        yield key.line


def _underline(text: str, number: int, mark: _Mark) -> str:
    span = mark.span
    if not span.line <= number <= mark.last_line:
        return ""
    start = span.column - 1 if number == span.line else len(text) - len(text.lstrip())
    end = span.end_column - 1 if number == span.end_line else len(text.rstrip())
    if number != span.line and end <= start:
        return ""
    start = min(start, len(text))
    width = max(1, _cells(text[start:end]))
    return " " * _cells(text[:start]) + mark.sign * width


def one_line(text: str) -> str:
    """For messages: names from a file may hold anything."""
    return _printable(" ".join(text.splitlines()) if "\n" in text or "\r" in text else text)


def _printable(text: str) -> str:
    """Tabs as one space and control characters as `?`, so that carets stand where they should."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if c == "\t" else "?" if unicodedata.category(c) == "Cc" else c for c in text)


def _cells(text: str) -> int:
    """Width on a terminal: wide characters take two cells, combining ones none."""
    if text.isascii():
        return len(text)
    width = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
            continue
        width += 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
    return width


def _painted(text: str, style: str) -> str:
    return f"{_COLOURS[style]}{text}\x1b[0m" if text else text


def _plain(text: str, style: str) -> str:
    return text
