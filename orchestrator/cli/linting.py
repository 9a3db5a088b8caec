"""What `lint` does: look at the files, leave out what is not asked for or accepted, report the rest."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field

from orchestrator.cli.lint_settings import LintSettings
from orchestrator.cli.standard_input import read_standard_input
from orchestrator.cli.terminal import has_colours, is_terminal, note, say_report
from orchestrator.definition.parse import read_document
from orchestrator.definition.problem import Problem
from orchestrator.definition.source import Source
from orchestrator.errors import UsageError
from orchestrator.lint.baseline import DEFAULT_FILE, read_baseline, write_baseline
from orchestrator.lint.files import STANDARD_INPUT, STDIN, listed_files, shown_path
from orchestrator.lint.report import render
from orchestrator.lint.runner import Tell, lint_files, lint_text
from orchestrator.lint.selection import select_problems
from orchestrator.lint.suppression import not_looked_for

_SECONDS_BETWEEN_SHOWS = 0.1
_PROGRESS_FROM = 100
"""Files; fewer are done before a bar could be read."""


@dataclass(frozen=True)
class Linting:
    """One look at some files. `text`: standard input, where it has been read before."""

    paths: Sequence[str]
    settings: LintSettings
    has_handlers: bool = False
    has_verifier: bool = False
    """The verifier's problems are among those to select."""
    text: str | None = None
    sources: dict[str, Source] = field(default_factory=dict)

    def find(self) -> list[Problem]:
        """All there are, of any severity, also accepted ones."""
        if STANDARD_INPUT in self.paths:
            if len(self.paths) > 1 or self.has_handlers:
                raise UsageError("standard input (-) is linted alone, without --handlers")
            text = read_standard_input() if self.text is None else self.text
            self.sources[STDIN] = read_document(text, STDIN)[0]
            return lint_text(text, STDIN)
        files = listed_files(self.paths)
        gc.freeze()  # what is loaded for good is not searched again for garbage
        with redirect_stdout(sys.stderr), _progress(len(files)) as tell:
            return lint_files(files, has_handlers=self.has_handlers, tell=tell)

    def select(self, problems: Sequence[Problem]) -> list[Problem]:
        """Those that are asked for and not accepted in the baseline; says which entries are idle."""
        if self.settings.baseline is not None:
            problems = self._compare(problems, self.settings.baseline)
        return select_problems(problems, *self.settings.selection)

    def accept(self, problems: Sequence[Problem]) -> None:
        """Writes those that are asked for into the baseline."""
        path = self.settings.baseline or DEFAULT_FILE
        selected = select_problems(problems, *self.settings.selection)
        write_baseline(path, selected, self.sources)
        how = "" if self.settings.baseline else f"; use it with --baseline {path}"
        note(f"{_count(len(selected), 'problem')} accepted in {path}{how}")

    def report(
        self, problems: Sequence[Problem], format: str, *, fail_on: str, is_text_out: bool = False
    ) -> None:
        """To stdout; to stderr when that has got the mended text."""
        text = render(
            problems,
            format,
            sources=self.sources,
            has_colour=has_colours(sys.stderr if is_text_out else sys.stdout),
            files=self.files,
            fail_on=fail_on,
        )
        if text:
            note(text) if is_text_out else say_report(text, format)
        if not problems:
            note(f"{', '.join(self.paths)}: no problems")

    @property
    def files(self) -> list[str]:
        return [shown_path(file) for file in listed_files(self.paths)]

    def _compare(self, problems: Sequence[Problem], path: str) -> list[Problem]:
        unchecked = not_looked_for(has_handlers=self.has_handlers, has_verifier=self.has_verifier)
        compared = read_baseline(path).compare(
            problems, self.files, unchecked=unchecked, sources=self.sources
        )
        accepted_count = len(problems) - len(compared.new)
        if accepted_count:
            note(f"{_count(accepted_count, 'problem')} accepted in {path}")
        if compared.fixed:
            named = dict.fromkeys(f"{entry.code} in {entry.path}" for entry in compared.fixed)
            entries = "1 entry is" if len(compared.fixed) == 1 else f"{len(compared.fixed)} entries are"
            note(f"{path}: {entries} no longer needed ({', '.join(named)}); --write-baseline drops them")
        return compared.new


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


@contextmanager
def _progress(count: int) -> Iterator[Tell | None]:
    """A bar on a terminal's stderr, where there is enough to do. No thread: workers may be forked."""
    if count < _PROGRESS_FROM or not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("lint"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task("", total=count)
        shown_at = 0.0

        def tell(path: str) -> None:
            nonlocal shown_at
            progress.update(task, advance=1, description=path)
            if time.monotonic() - shown_at > _SECONDS_BETWEEN_SHOWS or progress.finished:
                progress.refresh()
                shown_at = time.monotonic()

        yield tell
