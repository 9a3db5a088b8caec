"""What this release's engine does not execute yet."""

from __future__ import annotations

from orchestrator.definition.catalogue import check_executable
from orchestrator.definition.parse import parse

HEAD = "flow: F\nattributes: {n: integer}\nchannels: {c: string}\n"


def test_everything_is_executable() -> None:
    flow, problems = parse(
        HEAD
        + "steps: {A: {wait_for: {any_of: [{channel: c}, {timer: 1s}]}, execute: {handler: f, loads: [n]},"
        " on_failure: A, set: {n: 1}, publish: {c: x}, cancel: [A], go_to_many: [A]}}\n",
        "x.flow.yaml",
    )
    assert flow is not None, problems
    assert check_executable(flow) == []
