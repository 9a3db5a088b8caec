"""A handler after a WaitFor failure that proceeds."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator import Context
from orchestrator.binding.check import bind
from orchestrator.binding.context import NO_SERVICES
from orchestrator.binding.method import Method, MethodKind
from orchestrator.core.snapshot import take_snapshot
from tests.support.play import Play

FLOW = """
flow: F
channels: {answer: {type: string, external: true}}
start: A
steps:
  A:
    wait_for:
      handler: wait
      on_failure: proceed
      retry: {maximum_attempts: 1}
      conditions: {answer: {channel: answer}}
    execute: act
    dead_end: true
"""


@pytest.mark.rule(89)
def test_execute_learns_that_its_wait_failed_and_finds_nothing_satisfied() -> None:
    play = Play(FLOW)
    play.fail("A-1", message="no way to ask")
    (execution,) = play.run.executions.values()

    def act(ctx: Context) -> Any:
        assert ctx.failure is not None
        return [ctx.wait_for_failed, ctx.failure.message, ctx.wait.answer.satisfied, ctx.wait.answer.message]

    handler = play.flow.steps["A"].execute
    assert handler is not None
    bound = bind(Method(play.flow, MethodKind.EXECUTE, "A", handler), act)
    returned = bound.invoke(take_snapshot(play.flow, play.run, execution, play.now), NO_SERVICES)
    assert returned.result == [True, "no way to ask", False, None]
