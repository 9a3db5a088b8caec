"""Small flows, their states and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.verify.report import FlowReport, PropertyReport, Verdict
from orchestrator.verify.search import Graph, explore
from orchestrator.verify.sources import external_of
from orchestrator.verify.transitions import Transitions
from orchestrator.verify.verifying import verify_flow
from tests.support.play import flow_of

FAN_OUT = (0, 1, 2, 3)


def states_of(text: str, fan_out: Sequence[int] = FAN_OUT, max_states: int = 20_000) -> Graph:
    flow = flow_of(text)
    return explore(Transitions(flow, fan_out, external_of(flow)), max_states)


def verified(text: str, fan_out: Sequence[int] = FAN_OUT) -> FlowReport:
    return verify_flow(flow_of(text), fan_out=fan_out)


def violated(report: FlowReport) -> set[str]:
    return {each.name for each in report.properties if each.verdict is Verdict.VIOLATED}


def report_of(report: FlowReport, name: str) -> PropertyReport:
    return next(each for each in report.properties if each.name == name)


def length_of(report: FlowReport, name: str) -> int:
    counterexample = report_of(report, name).counterexample
    assert counterexample is not None
    return counterexample.length
