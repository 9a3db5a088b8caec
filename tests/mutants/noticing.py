"""Who notices a mutant: the loader, rules of the linter, properties of the verifier."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from orchestrator.definition.codes import CODES
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse
from orchestrator.lint.runner import check_flow
from orchestrator.verify.report import PropertyReport, Verdict
from orchestrator.verify.verifying import verify_flow
from tests.mutants.mutating import Document, Mutant, mutants_of, text_of

FAN_OUT = (0, 1, 2, 3)
MAX_STATES = 8_000
"""More than any flow here has; a mutant that has more grows without end."""


class Noticing:
    """What is said of a mutant, and was not said of the flow that it was made from."""

    def __init__(self, document: Document, path: Path) -> None:
        self._path = path
        self.mutants = tuple(mutants_of(document))
        flow, problems = parse(text_of(document), str(path))
        assert flow is not None, [problem.concise() for problem in problems]
        self._linted = self._lint(flow)
        self._verified = {*_violations(flow)}

    def notices(self, mutant: Mutant) -> list[str]:
        """`load TYP003`, `lint TOK002 error`, `verify deadlock 4 events`; empty: nobody notices."""
        flow, problems = parse(mutant.text, str(self._path))
        if flow is None:
            return sorted({f"load {problem.code}" for problem in problems})
        linted = sorted(self._lint(flow) - self._linted)
        violated = {name: found for name, found in _violations(flow).items() if name not in self._verified}
        return [*(f"lint {code}" for code in linted), *(_shown(found) for found in violated.values())]

    def _lint(self, flow: Flow) -> Counter[str]:
        """Errors and warnings; infos are no notice of a mistake."""
        found: Counter[str] = Counter()
        for problem in check_flow(flow):
            severity = problem.severity or CODES[problem.code].severity
            if severity != "info":
                found[f"{problem.code} {severity}"] += 1
        return found


def _violations(flow: Flow) -> dict[str, PropertyReport]:
    """By property and code: the first of each."""
    found: dict[str, PropertyReport] = {}
    for each in verify_flow(flow, fan_out=FAN_OUT, max_states=MAX_STATES).properties:
        if each.verdict is Verdict.UNKNOWN:
            found.setdefault("undecided", each)
        if each.verdict is Verdict.VIOLATED and each.severity != "info":
            found.setdefault(f"{each.name} {each.rule}", each)
    return found


def _shown(found: PropertyReport) -> str:
    if found.verdict is Verdict.UNKNOWN:
        return f"verify VER005 undecided after {MAX_STATES} states"
    trace = found.counterexample
    length = f", {trace.length} events" if trace is not None else ""
    return f"verify {found.rule} {found.name}{length}"
