"""What verification found, as text and as JSON (cli.md)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from orchestrator.cli.layout import cut
from orchestrator.cli.verifying import Verification, Verified
from orchestrator.definition.problem import Problem
from orchestrator.lint.report import problem_json, render_text
from orchestrator.verify.problems import bounds_text
from orchestrator.verify.report import Event, PropertyReport, Verdict
from orchestrator.verify.wording import describe, span_of

SCHEMA = 1
_STYLES = {
    Verdict.PROVED: ("green",),
    Verdict.CHECKED: ("green",),
    Verdict.UNKNOWN: ("yellow",),
    Verdict.VIOLATED: ("red", "bold"),
}
_MESSAGE_WIDTH = 100
_MOST_TABLES = 3
Paint = Callable[..., str]


def verification_as_text(
    verification: Verification, problems: Sequence[Problem], paint: Paint, *, has_colour: bool
) -> str:
    """For each flow its table, then what is wrong, framed."""
    parts = [tables(verification, paint)] if verification.verified else []
    if problems:
        sources = {
            each.path: each.report.flow.source
            for each in verification.verified
            if each.report.flow.source is not None
        }
        parts.append(render_text(problems, sources=sources, has_colour=has_colour))
    return "\n\n".join(parts)


def tables(verification: Verification, paint: Paint) -> str:
    """A table a flow; of many flows a line each, and tables of those that are not well."""
    verified = verification.verified
    if len(verified) <= _MOST_TABLES:
        return "\n\n".join("\n".join(_table(each, paint)) for each in verified)
    lines = [_line(each, paint) for each in verified]
    tables = ["\n".join(_table(each, paint)) for each in verified if not _is_well(each)]
    return "\n\n".join(["\n".join(lines), *tables])


def _is_well(verified: Verified) -> bool:
    return all(
        each.verdict in (Verdict.PROVED, Verdict.CHECKED) or index in verified.accepted
        for index, each in enumerate(verified.report.properties)
    )


def _line(verified: Verified, paint: Paint) -> str:
    report = verified.report
    verdict = paint(report.verdict.value, *_STYLES[report.verdict])
    counts = Counter(each.verdict for each in report.properties)
    said = [f"{counts[each]} {each.value}" for each in Verdict if counts[each]]
    if verified.accepted:
        said.append(f"{len(verified.accepted)} accepted by a comment")
    states = f"{report.states:,} state{'' if report.states == 1 else 's'}"
    summary = paint(f"{', '.join(said)}; {states}", "dim")
    return f"{verified.path}: {report.flow.name}: {verdict}  {summary}"


def _table(verified: Verified, paint: Paint) -> Iterator[str]:
    report = verified.report
    verdict = paint(report.verdict.value, *_STYLES[report.verdict])
    yield f"{verified.path}: {report.flow.name}: {verdict}"
    states = f"{report.states:,} state{'' if report.states == 1 else 's'}"
    yield paint(f"  {bounds_text(report)}; {states} in {_seconds(report.seconds)}", "dim")
    width = max((len(each.name) for each in report.properties), default=0)
    for index, each in enumerate(report.properties):
        word = each.verdict.value.ljust(len(Verdict.VIOLATED.value))
        accepted = " (accepted by a comment)" if index in verified.accepted else ""
        said = _said(each, paint)
        line = f"  {each.name.ljust(width)}  {paint(word, *_STYLES[each.verdict])}  {said}{accepted}"
        yield line.rstrip()


def _said(each: PropertyReport, paint: Paint) -> str:
    text = cut(f"{each.rule} {each.message}", _MESSAGE_WIDTH)
    return text if each.verdict is Verdict.VIOLATED else paint(text, "dim")


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


# --- JSON ---------------------------------------------------------------------------------------------------


def verification_as_json(verification: Verification, problems: Sequence[Problem]) -> dict[str, Any]:
    """`problems`: those of files that cannot be loaded, and of the verification, that are not left out."""
    return {
        "schema": SCHEMA,
        "flows": [flow_json(each) for each in verification.verified],
        "problems": [problem_json(each) for each in problems],
    }


def verification_as_jsonl(verification: Verification) -> str:
    """A flow a line."""
    lines = [json.dumps(flow_json(each), ensure_ascii=False) for each in verification.verified]
    return "\n".join(lines)


def flow_json(verified: Verified) -> dict[str, Any]:
    report = verified.report
    return {
        "path": verified.path,
        "flow": report.flow.name,
        "verdict": report.verdict.value,
        "states": report.states,
        "seconds": round(report.seconds, 6),
        "bounds": {
            "fan_out": list(report.fan_out),
            "external": {channel: list(bounds) for channel, bounds in report.external.items()},
        },
        "properties": [_property_json(verified, index) for index in range(len(report.properties))],
    }


def _property_json(verified: Verified, index: int) -> dict[str, Any]:
    each = verified.report.properties[index]
    span = span_of(verified.report.flow, each.path)
    found: dict[str, Any] = {
        "property": each.name,
        "rule": each.rule,
        "verdict": each.verdict.value,
        "message": each.message,
        "line": span.line,
        "column": span.column,
    }
    if each.verdict is Verdict.VIOLATED:
        found["severity"] = each.severity
        found["accepted"] = index in verified.accepted
    if each.counterexample is not None:
        found |= _counterexample_json(verified, index)
    return found


def _counterexample_json(verified: Verified, index: int) -> dict[str, Any]:
    flow, counterexample = verified.report.flow, verified.report.properties[index].counterexample
    assert counterexample is not None
    replay = verified.replays.get(index)
    return {
        "length": counterexample.length,
        "trace": [event_json(verified, event) for event in counterexample.events],
        "cycle": [event_json(verified, event) for event in counterexample.cycle],
        "end": {
            "status": counterexample.status,
            "active": list(counterexample.active),
            "channels": dict(counterexample.channels),
            "stuck": [
                {
                    "step": stuck.step,
                    "step_execution_id": stuck.step_execution_id,
                    "reason": stuck.reason,
                    "line": span_of(flow, stuck.path).line,
                }
                for stuck in counterexample.stuck
            ],
        },
        "replayed": replay.is_played if replay is not None else None,
        "rehearsal": replay.path if replay is not None else None,
    }


def event_json(verified: Verified, event: Event) -> dict[str, Any]:
    flow = verified.report.flow
    span = span_of(flow, event.path)
    return {
        "event": event.kind.value,
        "step": event.step,
        "step_execution_id": event.step_execution_id,
        "line": span.line,
        "column": span.column,
        "text": " ".join(describe(flow, event).split()),
        "decision": event.decision,
        "conditions": list(event.conditions),
        "channel": event.channel,
        "guesses": [{"what": guess.what, "value": guess.value} for guess in event.guesses],
        "starts": list(event.starts),
        "cancels": list(event.cancels),
        "channels": {name: list(counts) for name, counts in event.channels.items()},
        "closes": event.closes,
    }
