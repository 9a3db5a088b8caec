"""Verifies a definition: explores its states, checks every property, and says within what bounds."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence

from orchestrator.definition.model import Flow
from orchestrator.verify.analysis import Analysis
from orchestrator.verify.properties import all_checks
from orchestrator.verify.report import FlowReport, PropertyReport, Verdict
from orchestrator.verify.search import DEFAULT_DEPTH, Progress
from orchestrator.verify.transitions import Transitions
from orchestrator.verify.widening import explore_widely

DEFAULT_FAN_OUT = (0, 1, 2, 3)
DEFAULT_MAX_STATES = 200_000
_WORST_LAST = (Verdict.PROVED, Verdict.CHECKED, Verdict.UNKNOWN, Verdict.VIOLATED)


def verify_flow(
    flow: Flow,
    *,
    fan_out: Sequence[int] | None = None,
    max_states: int = DEFAULT_MAX_STATES,
    properties: Collection[str] | None = None,
    progress: Progress | None = None,
) -> FlowReport:
    """Every property, or those named; sizes of fan-out as given, as the flow says, or 0 to 3."""
    started = time.perf_counter()
    sizes = tuple(fan_out or flow.verify.get("fan_out", DEFAULT_FAN_OUT))
    depth = flow.verify.get("depth", DEFAULT_DEPTH)
    graph, external = explore_widely(flow, sizes, max_states, progress, depth)
    analysis = Analysis(graph)
    found = tuple(_check(analysis, properties))
    worst = max((report.verdict for report in found), key=_WORST_LAST.index, default=Verdict.CHECKED)
    bounds = {name: external[name] for name in _outside(graph.transitions)}
    return FlowReport(flow, worst, len(graph.states), time.perf_counter() - started, sizes, bounds, found)


def _check(analysis: Analysis, properties: Collection[str] | None) -> Iterator[PropertyReport]:
    for name, check in all_checks():
        if properties is None or name in properties or name == "authored":
            for report in check(analysis):
                if properties is None or report.name in properties or name in properties:
                    yield report


def _outside(transitions: Transitions) -> Iterator[str]:
    for source in transitions.sources:
        yield source.channel or source.rpc or ""
