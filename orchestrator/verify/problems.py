"""What verification finds, as problems: the same diagnostics, formats and suppressions as the linter's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.definition.model import Flow
from orchestrator.definition.problem import LabelledSpan, Problem, Span
from orchestrator.verify.report import Counterexample, FlowReport, PropertyReport, Verdict
from orchestrator.verify.wording import span_of, tell, tell_stuck

STATE_LIMIT = "VER005"


@dataclass(frozen=True, slots=True)
class Replay:
    """Whether a counterexample was played with real data. `path`: the rehearsal that does it again."""

    is_played: bool
    path: str | None = None
    reason: str = ""
    """Why it could not be played."""


def violations(report: FlowReport, replays: Mapping[int, Replay] | None = None) -> dict[int, Problem]:
    """By the property's position in the report; `replays` likewise."""
    return {
        index: violation(report, each, (replays or {}).get(index))
        for index, each in enumerate(report.properties)
        if each.verdict is Verdict.VIOLATED
    }


def undecided(report: FlowReport) -> Problem | None:
    """One problem for all properties on which the budget was spent."""
    names = [each.name for each in report.properties if each.verdict is Verdict.UNKNOWN]
    return _state_limit(report, names) if names else None


def violation(report: FlowReport, found: PropertyReport, replay: Replay | None = None) -> Problem:
    """`replay` None: nobody tried to play it."""
    flow, counterexample = report.flow, found.counterexample
    path, span = _place(flow, found)
    return Problem(
        found.rule,
        found.message,
        path,
        span,
        help=found.help,
        severity=found.severity,
        confidence=_confidence(found, replay),
        flow=flow.name,
        spans=tuple(LabelledSpan(path, span_of(flow, at), label) for at, label in found.also),
        trace=tell(flow, counterexample, found.name) if counterexample is not None else (),
        trace_title=trace_title(report, counterexample) if counterexample is not None else "trace",
        notes=tuple(_notes(report, found, replay)),
    )


def _place(flow: Flow, found: PropertyReport) -> tuple[str, Span]:
    path = flow.source.path if flow.source is not None else ""
    return path, span_of(flow, found.path)


def _confidence(found: PropertyReport, replay: Replay | None) -> str:
    """A way that was played is certain; one that was only searched may need data that do not exist."""
    if found.counterexample is None or replay is None:
        return "checked"
    return "proved" if replay.is_played else "checked"


def trace_title(report: FlowReport, counterexample: Counterexample) -> str:
    repeats = f", then {_count(len(counterexample.cycle), 'event')} for ever" if counterexample.cycle else ""
    return (
        f"trace (shortest, {_count(counterexample.length, 'event')}{repeats}; "
        f"{_count(report.states, 'state')} searched)"
    )


def _notes(report: FlowReport, found: PropertyReport, replay: Replay | None) -> list[str]:
    notes = []
    if found.counterexample is None:
        notes.append(f"{_count(report.states, 'state')} searched, {bounds_text(report)}")
    elif stuck := tell_stuck(report.flow, found.counterexample):
        notes.append("\n".join(["at the end:", *stuck]))
    if replay is None or found.counterexample is None:
        return notes
    if replay.path is not None:
        notes.append(f"replay: orchestrator rehearse {replay.path}")
    elif replay.is_played:
        notes.append("replayed with real data; keep the rehearsal: --trace-dir .orchestrator/traces")
    else:
        notes.append(f"not replayed: {replay.reason}; it may need data or an order that no run has")
    return notes


def _state_limit(report: FlowReport, undecided: list[str]) -> Problem:
    flow = report.flow
    path = flow.source.path if flow.source is not None else ""
    return Problem(
        STATE_LIMIT,
        f"not decided after {_count(report.states, 'state')}: {', '.join(undecided)}",
        path,
        span_of(flow, ("flow",)),
        help="allow more with --max-states, or narrow `verify:` (`fan_out`, `external`)",
        severity="warning",
        confidence="checked",
        flow=flow.name,
    )


def bounds_text(report: FlowReport) -> str:
    """`fan-out 0, 1, 2, 3; approval 0 to 2`"""
    parts = [f"fan-out {', '.join(map(str, report.fan_out))}"] if report.fan_out else []
    parts += [
        f"{channel} {least}" if least == most else f"{channel} {least} to {most}"
        for channel, (least, most) in report.external.items()
    ]
    return "; ".join(parts) or "no bounds"


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
