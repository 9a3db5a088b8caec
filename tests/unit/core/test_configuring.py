"""Run-time configuration (rules 22, 23, 160, 180)."""

from __future__ import annotations

import pytest

from orchestrator.core.changes import ChildRequested
from orchestrator.core.codec import decode
from orchestrator.core.configuring import effective_config
from orchestrator.core.events import ConfigUpdated
from orchestrator.errors import InvalidValue, NotActive, NotFound
from tests.support.play import Play

FLOW = """
flow: Configured
config: {durability: async}
channels: {never: string}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: never}}, dead_end: true}
"""
PARENT = """
flow: Parent
start: Ask
steps:
  Ask: {wait_for: {all_of: [{subflow: Child}, {subflow: Child, config: {durability: sync}}]}, dead_end: true}
"""


@pytest.mark.rule(23)
@pytest.mark.rule(160)
def test_an_update_merges_the_keys_given_over_the_flows_own() -> None:
    play = Play(FLOW)
    assert effective_config(play.flow, play.run) == {"durability": "async"}
    play.send(ConfigUpdated(at=play.now, config={"durability": "sync"}))
    assert effective_config(play.flow, play.run) == {"durability": "sync"}
    assert play.send(ConfigUpdated(at=play.now, config={})) == []
    assert play.replayed() == play.run


@pytest.mark.rule(22)
def test_a_start_may_override_it() -> None:
    play = Play(FLOW, config={"durability": "sync"})
    assert effective_config(play.flow, play.run) == {"durability": "sync"}


def test_unknown_keys_and_words_are_refused() -> None:
    play = Play(FLOW)
    with pytest.raises(NotFound, match="there is: durability"):
        play.send(ConfigUpdated(at=play.now, config={"speed": "high"}))
    with pytest.raises(InvalidValue, match="one of sync, async"):
        play.send(ConfigUpdated(at=play.now, config={"durability": 1}))
    play.stop()
    with pytest.raises(NotActive):
        play.send(ConfigUpdated(at=play.now, config={"durability": "sync"}))


@pytest.mark.rule(180)
def test_a_child_inherits_it() -> None:
    play = Play(PARENT, config={"durability": "async"})
    play.settle()
    changes = [change for body in play.history for change in decode(body)]
    requests = [change for change in changes if isinstance(change, ChildRequested)]
    assert [request.config for request in requests] == [{"durability": "async"}, {"durability": "sync"}]
