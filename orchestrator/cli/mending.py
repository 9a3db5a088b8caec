"""`lint --fix` and `--diff`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass

from orchestrator.cli.lint_settings import Selection
from orchestrator.cli.standard_input import read_standard_input
from orchestrator.cli.terminal import note, say_file
from orchestrator.definition.problem import Problem
from orchestrator.errors import UsageError
from orchestrator.lint.fixing import Fixed, fix_files, fix_text
from orchestrator.lint.runner import STANDARD_INPUT, STDIN
from orchestrator.lint.selection import select_problems


@dataclass(frozen=True)
class Mending:
    paths: Sequence[str]
    selection: Selection
    allows_unsafe: bool
    has_handlers: bool = False

    def mend(self) -> str | None:
        """Writes the files; of standard input the mended text goes to stdout, and is given back."""
        fixed = self._fix(writes=True)
        count = sum(each.fix_count for each in fixed)
        if count:
            changed = [each.path for each in fixed if each.is_changed]
            note(f"fixed {count} problem{'s' if count > 1 else ''} in {', '.join(changed)}")
        if STANDARD_INPUT not in self.paths:
            return None
        say_file(fixed[0].after)
        return fixed[0].after

    def show(self) -> int:
        """Prints the differences; the exit code: 1 if there are any."""
        fixed = self._fix(writes=False)
        say_file("".join(each.diff() for each in fixed))
        changed_count = sum(each.is_changed for each in fixed)
        note(f"{changed_count} file{'s' if changed_count != 1 else ''} would change")
        return 1 if changed_count else 0

    def _fix(self, *, writes: bool) -> list[Fixed]:
        if STANDARD_INPUT not in self.paths:
            with redirect_stdout(sys.stderr):  # modules of handlers may print
                return fix_files(self.paths, self._is_wanted, writes=writes, has_handlers=self.has_handlers)
        if len(self.paths) > 1:
            raise UsageError("standard input (-) is fixed alone")
        return [fix_text(read_standard_input(), STDIN, self._is_wanted)]

    def _is_wanted(self, problem: Problem) -> bool:
        is_allowed = problem.fix is not None and (problem.fix.is_safe or self.allows_unsafe)
        return is_allowed and bool(select_problems([problem], *self.selection))
