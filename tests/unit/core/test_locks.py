"""Attribute locks (rules 103-108)."""

from __future__ import annotations

import pytest

from orchestrator.errors import LockConflict
from tests.support.play import Play

FLOW = """
flow: Locks
attributes: {n: {type: integer, initial: 0}, m: {type: integer, map: true}}
start: Split
steps:
  Split:
    go_to_many:
      - {for_each: "${range(3)}", as: i, step: Add, input: "${i}"}
      - {step: Both, input: "${9}"}
  Add:
    input: integer
    execute: {handler: add, locks: [n, n], retry: {maximum_attempts: 3}}
    set: {n: "${attributes.n + 1}"}
    dead_end: true
  Both:
    input: integer
    execute: {handler: both, locks: [n, {m: "${'k' + string(input)}"}]}
    dead_end: true
  Other:
    execute: {handler: both, locks: [{m: other}]}
    dead_end: true
rpcs:
  bump: {locks: [n], set: {n: "${attributes.n + 10}"}, returns: "${attributes.n}"}
"""


def started() -> Play:
    play = Play(FLOW)
    play.settle()
    return play


def holders(play: Play) -> dict[str, str]:
    return dict(play.run.locks)


@pytest.mark.rule(108)
@pytest.mark.rule(103)
@pytest.mark.rule(104)
def test_locks_are_taken_in_the_order_asked_and_released_when_the_call_ends() -> None:
    play = started()
    assert holders(play) == {"n": "Add-1"}
    assert play.run.executions["Add-2"].due_at is None
    play.succeed("Add-1")
    assert holders(play) == {"n": "Add-2"}
    play.succeed("Add-2")
    play.succeed("Add-3")
    assert holders(play) == {"n": "Both-1", "m/k9": "Both-1"}
    assert play.attributes == {"n": 3}
    play.succeed("Both-1")
    assert holders(play) == {}


@pytest.mark.rule(52)
@pytest.mark.rule(104)
def test_a_failed_attempt_releases_its_locks_and_asks_again() -> None:
    play = started()
    play.fail("Add-1")
    assert holders(play) == {"n": "Add-2"}
    play.succeed("Add-2")
    play.succeed("Add-3")
    play.advance(1)
    play.settle()
    assert holders(play)["n"] == "Both-1"
    play.succeed("Both-1")
    assert holders(play) == {"n": "Add-1"}


@pytest.mark.rule(110)
def test_a_cancelled_execution_releases_its_locks() -> None:
    text = FLOW.replace("      - {step: Both", "      - Stop\n      - {step: Both").replace(
        "  Other:", "  Stop: {execute: stop, cancel: [Add], dead_end: true}\n  Other:"
    )
    play = Play(text)
    play.settle()
    play.succeed("Stop-1")
    assert holders(play) == {"n": "Both-1", "m/k9": "Both-1"}


@pytest.mark.rule(107)
def test_an_rpc_fails_at_once_when_its_lock_is_held() -> None:
    play = started()
    with pytest.raises(LockConflict, match="attribute n is locked by Add-1"):
        play.rpc("bump")
    assert play.attributes == {"n": 0}
    for id in ("Add-1", "Add-2", "Add-3", "Both-1"):
        play.succeed(id)
    assert play.rpc("bump") == 3
    assert play.attributes == {"n": 13}
