"""What a forced completion may cut off."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.state import Status
from orchestrator.definition.model import ForceComplete, ForceCompleteIfChannelsEmpty
from orchestrator.graph.query import with_otherwise
from orchestrator.verify.analysis import Analysis
from orchestrator.verify.properties import Check
from orchestrator.verify.properties.findings import kept, violated
from orchestrator.verify.report import EventKind, PropertyReport
from orchestrator.verify.tracing import counterexample


def check_forced_race(analysis: Analysis) -> Iterator[PropertyReport]:
    """A forced completion while another handler is under way; a decision alone takes no time."""
    if not _forces(analysis):
        return
    for number, outcome, target in analysis.edges():
        if outcome.status is not Status.COMPLETED or outcome.kind is EventKind.COMPLETED:
            continue
        left = analysis.executing(analysis.graph.states[target])
        lost = sorted(step for step in left if analysis.flow.steps[step].execute is not None)
        if not lost:
            continue
        trace = counterexample(analysis.graph, number, (outcome, target))
        yield violated(
            "forced_completion_race",
            "FAI008",
            f"the forced completion can cut off {', '.join(f'`{step}`' for step in lost)} at work",
            trace.events[-1].path,
            trace,
            also=tuple((analysis.flow.steps[step].path, "may be at work then") for step in lost[:3]),
            help="complete gracefully, or cancel the others first where that is meant",
        )
        return
    yield kept(analysis, "forced_completion_race", "FAI008", "no forced completion cuts off work under way")


def _forces(analysis: Analysis) -> bool:
    deciders = [*analysis.flow.steps.values()]
    if analysis.flow.on_timeout is not None:
        deciders.append(analysis.flow.on_timeout)
    return any(
        isinstance(decision.outcome, ForceComplete | ForceCompleteIfChannelsEmpty)
        for decider in deciders
        for _, decision, _ in with_otherwise(decider.decisions)
    )


CHECKS: dict[str, Check] = {"forced_completion_race": check_forced_race}
