"""Applies the fixes that problems carry, to the text itself: comments and layout stay as they are."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from orchestrator.definition.finders import finders
from orchestrator.definition.problem import Fix, Problem, Span, line_starts
from orchestrator.errors import UsageError
from orchestrator.lint.runner import STANDARD_INPUT, lint_text, listed_files, shown_path, start_survey

_ROUND_LIMIT = 50
"""Each round may bring to light what the fixes of the one before had hidden."""
Wanted = Callable[[Problem], bool]
"""May this problem be fixed?"""
Lint = Callable[[str, str], list[Problem]]
"""The problems of a text, by the path that they are shown with."""


@dataclass(frozen=True)
class Fixed:
    """One file, before and after."""

    path: str
    before: str
    after: str
    fix_count: int

    @property
    def is_changed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """Unified; empty without changes."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{self.path}",
            f"b/{self.path}",
        )
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )


def fix_text(text: str, path: str, is_wanted: Wanted, lint: Lint = lint_text) -> Fixed:
    """Fixes until nothing is left that can be; never a text that is read worse than before."""
    before, count, refused = text, 0, set[Fix]()
    for _ in range(_ROUND_LIMIT):
        problems = lint(text, path)
        fixes = [p.fix for p in problems if p.fix is not None and is_wanted(p) and p.fix not in refused]
        chosen = _apart(fixes)
        if not chosen:
            break
        mended = apply_fixes(text, chosen)
        if _is_worse(lint(mended, path), problems):
            chosen = chosen[:1]
            mended = apply_fixes(text, chosen)
            if _is_worse(lint(mended, path), problems):
                refused.update(chosen)
                continue
        text, count, refused = mended, count + len(chosen), set()
    return Fixed(path, before, text, count)


def fix_files(
    paths: Iterable[str | Path], is_wanted: Wanted, *, writes: bool, has_handlers: bool = False
) -> list[Fixed]:
    """Every file that can be read; those that change are written, unless `writes` is False.

    With `has_handlers` the handlers are imported, and their problems fixed too.
    """
    found = []
    files = listed_files(paths)
    lint = partial(lint_text, survey=start_survey(files)) if has_handlers else lint_text
    for file in files:
        if str(file) == STANDARD_INPUT:
            raise UsageError("standard input (-) is fixed alone")
        try:
            raw = file.read_bytes()
            text = raw.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            continue  # a problem of its own, YML013
        fixed = fix_text(text, shown_path(file), is_wanted, lint)
        if fixed.is_changed and writes:
            mark = raw[:3] if raw.startswith(b"\xef\xbb\xbf") else b""
            _write(file, mark + fixed.after.encode("utf-8"))
        found.append(fixed)
    return found


def apply_fixes(text: str, fixes: Iterable[Fix]) -> str:
    """The text with these fixes, whose edits lie apart."""
    starts = line_starts(text)
    edits = {(*_range(starts, edit.span, len(text)), edit.text) for fix in fixes for edit in fix.edits}
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _apart(fixes: Sequence[Fix]) -> list[Fix]:
    """Those that do not touch what an earlier one edits; the same edit twice counts as one."""
    chosen: list[Fix] = []
    for fix in fixes:
        if fix in chosen:
            continue
        taken = [edit.span for other in chosen for edit in other.edits]
        if not any(_overlap(edit.span, span) for edit in fix.edits for span in taken):
            chosen.append(fix)
    return chosen


def _overlap(one: Span, other: Span) -> bool:
    return (one.line, one.column) <= (other.end_line, other.end_column) and (other.line, other.column) <= (
        one.end_line,
        one.end_column,
    )


def _is_worse(after: Sequence[Problem], before: Sequence[Problem]) -> bool:
    """Is there more that YAML cannot read, or is a flow refused that was none before?

    Otherwise problems may come to light, and should.
    """
    if _unread_count(after) > _unread_count(before):
        return True
    return _is_refused(after) and not _is_refused(before)


def _is_refused(problems: Sequence[Problem]) -> bool:
    """By the loader, so that no rule has seen the flow."""
    return any(problem.severity == "error" and "loader" in finders(problem.code) for problem in problems)


def _unread_count(problems: Sequence[Problem]) -> int:
    """Warnings about the text (YML003, YML007) show only once the definition is read; they stop nobody."""
    return sum(problem.code.startswith("YML") and problem.severity == "error" for problem in problems)


def _range(starts: Sequence[int], span: Span, length: int) -> tuple[int, int]:
    def offset(line: int, column: int) -> int:
        return min(starts[line - 1] + column - 1, length) if line <= len(starts) else length

    return offset(span.line, span.column), offset(span.end_line, span.end_column)


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}") from None
