"""How a property reports: violated with the shortest way there, else checked as far as the search went."""

from __future__ import annotations

from orchestrator.definition.codes import CODES
from orchestrator.definition.model import Path
from orchestrator.verify.analysis import Analysis
from orchestrator.verify.report import Counterexample, PropertyReport, Verdict


def violated(
    name: str,
    rule: str,
    message: str,
    path: Path,
    counterexample: Counterexample | None,
    *,
    help: str = "",
    also: tuple[tuple[Path, str], ...] = (),
) -> PropertyReport:
    return PropertyReport(
        name,
        rule,
        Verdict.VIOLATED,
        message,
        path=path,
        also=also,
        help=help,
        counterexample=counterexample,
        severity=_severity(rule),
    )


def kept(analysis: Analysis, name: str, rule: str, message: str) -> PropertyReport:
    """Nothing was found; that says all within the bounds only where the search ended."""
    if not analysis.graph.is_complete:
        message = f"not decided: {message}"
        return PropertyReport(name, rule, Verdict.UNKNOWN, message, severity=_severity(rule))
    return PropertyReport(name, rule, Verdict.CHECKED, message, severity=_severity(rule))


def proved(name: str, rule: str, message: str) -> PropertyReport:
    return PropertyReport(name, rule, Verdict.PROVED, message, severity=_severity(rule))


def _severity(rule: str) -> str:
    return CODES[rule].severity if rule in CODES else "error"
