"""Rehearsals and their coverage as text and JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from orchestrator.cli.terminal import paint
from orchestrator.definition.durations import format_duration
from orchestrator.render.overlay import Mark, MarkState, RunOverlay
from orchestrator.simulate.compare import Difference
from orchestrator.simulate.coverage import Coverage, PlaceKind
from orchestrator.simulate.performance import Performance
from orchestrator.simulate.record import SimulatedRun
from orchestrator.simulate.script import RehearsalFile

SCHEMA = 1
_TITLES = {
    PlaceKind.STEP: "steps",
    PlaceKind.DECISION: "decisions",
    PlaceKind.WAIT: "ends of waits",
    PlaceKind.FAILURE: "failure routes",
    PlaceKind.RPC: "RPCs",
    PlaceKind.DEADLINE: "deadline",
}
_PATH_LIMIT = 12


def performance_as_text(file: RehearsalFile, performance: Performance) -> str:
    mark = _paint("ok  ", "green") if performance.is_passed else _paint("FAIL", "red", "bold")
    lines = [f"  {mark} {performance.rehearsal.name}"]
    if not performance.is_passed:
        for difference in performance.differences:
            lines += _difference_lines(file, difference)
        if performance.simulated is not None:
            lines += [f"       {line}" for line in _what_happened(performance.simulated)]
    return "\n".join(lines)


def _difference_lines(file: RehearsalFile, difference: Difference) -> Iterator[str]:
    span = file.source.locate(difference.at).value
    yield f"       {file.source.path}:{span.line}:{span.column}: {difference.message}"
    for line in difference.diff():
        colour = {"-": "green", "+": "red"}.get(line[:1])
        yield f"         {_paint(line, colour) if colour else line}"


def _what_happened(simulated: SimulatedRun) -> Iterator[str]:
    run = simulated.run
    end = run.closed_at or (simulated.commits[-1].at if simulated.commits else run.started_at)
    assert run.started_at is not None and end is not None
    after = format_duration(end - run.started_at)
    if run.error is not None:
        yield f"the run: {run.status} after {after}, {run.error.type}: {run.error.message}"
    else:
        yield f"the run: {run.status} after {after}"
    path = simulated.completed()
    if path:
        more = f", … ({len(path)} in all)" if len(path) > _PATH_LIMIT else ""
        yield f"executed: {', '.join(path[:_PATH_LIMIT])}{more}"
    for execution in list(run.executions.values())[:_PATH_LIMIT]:
        failure = execution.last_failure
        failed = f", last failure {failure.type}: {failure.message}" if failure is not None else ""
        yield f"active: {execution.id} ({execution.phase}, attempt {execution.attempt}{failed})"


def performance_as_json(file: RehearsalFile, performance: Performance) -> dict[str, Any]:
    rehearsal, simulated = performance.rehearsal, performance.simulated
    span = file.source.locate((*rehearsal.path, "name")).value
    run = simulated.run if simulated is not None else None
    took = run.closed_at - run.started_at if run and run.closed_at and run.started_at else None
    return {
        "path": file.source.path,
        "line": span.line,
        "column": span.column,
        "flow": file.flow.name,
        "name": rehearsal.name,
        "passed": performance.is_passed,
        "status": run.status.value if run is not None else None,
        "took": format_duration(took) if took is not None else None,
        "executed": simulated.completed() if simulated is not None else [],
        "differences": [_difference_json(file, difference) for difference in performance.differences],
    }


def _difference_json(file: RehearsalFile, difference: Difference) -> dict[str, Any]:
    span = file.source.locate(difference.at).value
    values = {"expected": difference.expected, "actual": difference.actual} if difference.has_values else {}
    return {
        "what": difference.what,
        "message": difference.message,
        "path": file.source.path,
        "line": span.line,
        "column": span.column,
        **values,
    }


# --- Coverage -----------------------------------------------------------------------------------------------


def coverage_as_text(coverage: Coverage, path: str) -> str:
    total = len(coverage.counts)
    lines = [f"coverage of {coverage.flow.name} ({path}): {coverage.taken_count} of {total} taken"]
    for kind, title in _TITLES.items():
        taken, count = coverage.of_kind(kind)
        if count:
            text = f"  {title.ljust(15)} {taken:>3} of {count:<3} {100 * taken // count:>3} %"
            lines.append(text if taken == count else _paint(text, "yellow"))
    missed = coverage.missed()
    if missed:
        lines.append("  not taken:")
    lines += [f"    {_position(coverage, place.path)}: {place.kind} {place.name}" for place in missed]
    return "\n".join(lines)


def _position(coverage: Coverage, path: Any) -> str:
    source = coverage.flow.source
    assert source is not None
    position = source.locate(path)
    span = position.key or position.value
    return f"{source.path}:{span.line}:{span.column}"


def coverage_as_json(coverage: Coverage) -> dict[str, Any]:
    source = coverage.flow.source
    assert source is not None
    places = []
    for place, count in coverage.counts.items():
        position = source.locate(place.path)
        span = position.key or position.value
        places.append(
            {
                "kind": place.kind.value,
                "name": place.name,
                "line": span.line,
                "column": span.column,
                "count": count,
            }
        )
    return {
        "path": source.path,
        "flow": coverage.flow.name,
        "taken": coverage.taken_count,
        "total": len(places),
        "places": places,
    }


def paint_coverage(coverage: Coverage, performances: Iterable[Performance]) -> RunOverlay:
    """On the diagram: how often each step and decision was taken; what never was is drawn faded or named."""
    count = len(list(performances))
    missed: dict[str, list[str]] = {}
    for place in coverage.missed():
        if place.kind in (PlaceKind.WAIT, PlaceKind.FAILURE):
            step, _, what = place.name.partition(": ")
            missed.setdefault(step, []).append(what)
    marks: dict[str, tuple[Mark, ...]] = {}
    taken: dict[str, int] = {}
    for place, number in coverage.counts.items():
        if place.kind is PlaceKind.STEP and number:
            failed = coverage.failed_counts.get(place.name, 0)
            done = Mark(MarkState.DONE, number, f"{failed} failed" if failed else "")
            never = ", ".join(missed.get(place.name, ()))
            marks[place.name] = (done, *([Mark(MarkState.MISSED, 0, f"never: {never}")] if never else []))
        elif place.kind is PlaceKind.DECISION and number:
            taken[place.name] = number
    percent = 100 * coverage.taken_count // max(len(coverage.counts), 1)
    title = f"{count} rehearsal{'s' if count != 1 else ''}, {percent} % taken"
    return RunOverlay(title=title, marks=marks, taken=taken)


def _paint(text: str, *styles: str) -> str:
    return paint(text, *styles, stream=sys.stdout)
