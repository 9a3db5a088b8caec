"""What `check` does: the linter's problems and the verifier's, in one report."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.cli.lint_settings import LintSettings
from orchestrator.cli.linting import Linting
from orchestrator.cli.standard_input import read_standard_input
from orchestrator.cli.terminal import painter, say, say_data
from orchestrator.cli.verdicts import flow_json, tables
from orchestrator.cli.verifying import Bounds, Verification, verify_paths
from orchestrator.definition.problem import Problem, sort_key
from orchestrator.lint.files import STANDARD_INPUT
from orchestrator.lint.report import SCHEMA, problem_json


@dataclass(frozen=True)
class Check:
    """One look at some files, by both."""

    paths: Sequence[str]
    settings: LintSettings
    bounds: Bounds
    has_handlers: bool = False

    def find(self, trace_directory: Path | None) -> tuple[Verification, list[Problem]]:
        """The problems that are asked for and not accepted; a file that gives no flow is told of once."""
        text = read_standard_input() if STANDARD_INPUT in self.paths else None
        linting = replace(self._linting, text=text)
        verification = verify_paths(self.paths, self.bounds, trace_directory, text=text)
        of_verifier = [each for verified in verification.verified for each in verified.all_problems]
        found = sorted([*linting.find(), *of_verifier], key=sort_key)
        return verification, linting.select(found)

    def report(
        self, verification: Verification, problems: Sequence[Problem], format: str, least: str
    ) -> None:
        if format == "json":
            document = {
                "schema": SCHEMA,
                "problems": [problem_json(problem) for problem in problems],
                "flows": [flow_json(each) for each in verification.verified],
            }
            say_data(json.dumps(document, ensure_ascii=False, indent=2))
            return
        if format == "text" and verification.verified:
            say(tables(verification, painter(sys.stdout)))
            say()
        self._linting.report(problems, format, fail_on=least)

    @property
    def _linting(self) -> Linting:
        return Linting(self.paths, self.settings, has_handlers=self.has_handlers, has_verifier=True)
