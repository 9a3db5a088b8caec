"""What this release's engine does not execute yet."""

from __future__ import annotations

import pytest

from orchestrator.definition.catalogue import check_executable
from orchestrator.definition.parse import parse

HEAD = "flow: F\nattributes: {n: integer}\nchannels: {c: string}\n"

FEATURES = [
    ("rpcs: {r: {returns: 1}}", "an RPC", (4, 8)),
    ("steps: {A: {execute: {handler: f, heartbeat: 1s}, dead_end: true}}", "a heartbeat", (4, 35)),
    (
        "steps: {A: {execute: {handler: f, transactional: true}, dead_end: true}}",
        "a transactional handler",
        (4, 35),
    ),
]


@pytest.mark.parametrize(("lines", "feature", "place"), FEATURES)
def test_a_feature_that_is_not_executable_yet_is_named_where_it_is(
    lines: str, feature: str, place: tuple[int, int]
) -> None:
    flow, problems = parse(HEAD + lines + "\n", "x.flow.yaml")
    assert flow is not None, problems
    (problem,) = check_executable(flow)
    assert (problem.code, problem.severity) == ("ENG001", "info")
    assert problem.message.startswith(feature)
    assert (problem.span.line, problem.span.column) == place


def test_everything_else_is_executable() -> None:
    flow, problems = parse(
        HEAD
        + "steps: {A: {wait_for: {any_of: [{channel: c}, {timer: 1s}]}, execute: {handler: f, loads: [n]},"
        " on_failure: A, set: {n: 1}, publish: {c: x}, cancel: [A], go_to_many: [A]}}\n",
        "x.flow.yaml",
    )
    assert flow is not None, problems
    assert check_executable(flow) == []
