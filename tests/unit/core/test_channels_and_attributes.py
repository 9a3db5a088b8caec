"""Channels, attributes, starts (rules 8, 36, 37, 92-101; language.md 2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.events import Message, Write
from orchestrator.errors import ChannelFull, InvalidValue, NotExternal, NotFound
from tests.support.play import START, Play

CHANNELS = """
flow: Channels
channels:
  inner: string
  outer: {type: integer, external: true}
  small: {type: integer, external: true, capacity: 2}
  latest: {type: integer, external: true, delivery: latest}
  flash: {type: integer, external: true, delivery: transient}
  keyed: {type: integer, external: true, map: true}
start: A
steps:
  A: {execute: a, go_to: B}
  B:
    wait_for: {until: {channel: flash}}
    execute: b
    graceful_complete: "${wait.flash.message}"
"""


@pytest.mark.rule(93)
def test_a_client_publishes_to_external_channels_only() -> None:
    play = Play(CHANNELS)
    with pytest.raises(NotExternal, match="external: true"):
        play.publish("inner", "x")
    with pytest.raises(NotFound, match="it has: flash"):
        play.publish("outr", 1)
    assert play.run.version == 1


@pytest.mark.rule(101)
def test_a_message_of_the_wrong_type_is_refused() -> None:
    play = Play(CHANNELS)
    with pytest.raises(InvalidValue, match="outer"):
        play.publish("outer", "one")


@pytest.mark.rule(94)
def test_each_instance_of_a_channel_map_is_a_queue_of_its_own() -> None:
    play = Play(CHANNELS)
    play.publish("keyed", 1, key="a")
    play.publish("keyed", 2, key="b")
    assert (play.unread("keyed", "a"), play.unread("keyed", "b")) == ([1], [2])
    with pytest.raises(InvalidValue, match="needs a key"):
        play.publish("keyed", 3)
    with pytest.raises(InvalidValue, match="takes no key"):
        play.publish("outer", 3, key="a")


def test_a_publish_beyond_the_capacity_is_refused_as_a_whole() -> None:
    play = Play(CHANNELS)
    play.publish("small", 1)
    with pytest.raises(ChannelFull, match="at most 2"):
        play.publish("small", 2, 3)
    assert play.unread("small") == [1]


def test_latest_keeps_the_newest_message() -> None:
    play = Play(CHANNELS)
    play.publish("latest", 1, 2)
    play.publish("latest", 3)
    assert play.unread("latest") == [3]
    assert play.run.dropped_count == {"latest": 2}


def test_transient_messages_that_nobody_can_take_are_dropped_and_counted() -> None:
    play = Play(CHANNELS)
    play.publish("flash", 1)
    assert play.run.dropped_count == {"flash": 1}
    play.succeed("A-1")
    play.publish("flash", 2)
    play.succeed("B-1")
    assert play.outputs == [2]


ATTRIBUTES = """
flow: Attributes
input: integer or none
attributes:
  n: {type: integer, initial: 5}
  ratio: number
  status: string
  progress: {type: string, map: true}
start: A
steps:
  A:
    input: integer or none
    execute: {handler: a, may: {set: [n, progress]}}
    set: {n: "${attributes.n + 1}", status: "${'n was ' + string(attributes.n)}"}
    go_to: B
  B:
    input: integer or none
    set: [{attribute: progress, key: "${'k' + string(i)}", value: done, for_each: "${range(2)}", as: i}]
    graceful_complete:
      n: ${attributes.n}
      status: ${attributes.status}
      unset: ${attributes.ratio}
      progress: ${attributes.progress}
"""


@pytest.mark.rule(98)
def test_expressions_of_a_decision_see_one_state_and_their_effects_show_afterwards() -> None:
    play = Play(ATTRIBUTES)
    play.succeed("A-1")
    assert play.outputs == [{"n": 6, "status": "n was 5", "unset": None, "progress": {}}]
    assert play.run.attribute_maps == {"progress": {"k0": "done", "k1": "done"}}


def test_a_decision_sees_what_its_handler_wrote() -> None:
    play = Play(ATTRIBUTES)
    play.succeed("A-1", writes=(Write("n", 40), Write("progress", "begun", "payment")))
    assert play.outputs[0]["n"] == 41
    assert play.outputs[0]["progress"] == {"payment": "begun"}


@pytest.mark.rule(101)
def test_a_handlers_write_of_the_wrong_type_fails_the_attempt() -> None:
    play = Play(ATTRIBUTES)
    play.succeed("A-1", writes=(Write("n", "forty"),))
    assert play.run.executions["A-1"].attempt == 2
    assert play.attributes == {"n": 5}


@pytest.mark.rule(48)
@pytest.mark.rule(101)
def test_a_handlers_write_of_the_wrong_type_leaves_no_trace() -> None:
    play = Play(ATTRIBUTES)
    play.succeed("A-1", writes=(Write("n", 40), Write("progress", "begun", "payment"), Write("n", "forty")))
    assert (play.attributes, play.run.attribute_maps) == ({"n": 5}, {})


@pytest.mark.rule(99)
def test_deleting_a_map_deletes_all_its_entries_and_null_deletes_one() -> None:
    text = """
        flow: F
        attributes: {m: {type: integer, map: true}, x: {type: integer, initial: 1}}
        start: A
        steps:
          A: {set: {m: {a: 1, b: 2}}, go_to: B}
          B: {set: {m: {a: null}, x: null}, go_to: C}
          C: {execute: c, set: {m: null}, graceful_complete: "${attributes.x}"}
        """
    play = Play(text)
    play.settle()
    assert play.run.attribute_maps == {"m": {"b": 2}}
    play.succeed("C-1")
    assert play.run.attribute_maps == {}
    assert play.outputs == [None]


@pytest.mark.rule(37)
def test_initial_attributes_of_a_start_replace_declared_ones_and_must_be_declared() -> None:
    play = Play(ATTRIBUTES, attributes={"n": 7, "progress": {"a": "b"}, "status": None})
    assert play.attributes == {"n": 7}
    assert play.run.attribute_maps == {"progress": {"a": "b"}}
    with pytest.raises(NotFound, match="no attribute m"):
        Play(ATTRIBUTES, attributes={"m": 1})
    with pytest.raises(InvalidValue, match="attribute n"):
        Play(ATTRIBUTES, attributes={"n": "x"})


@pytest.mark.rule(36)
def test_a_delayed_start_is_running_at_once_and_its_step_is_due_later() -> None:
    play = Play(ATTRIBUTES, delay=timedelta(seconds=10))
    assert play.run.status == "RUNNING"
    assert play.run.executions["A-1"].due_at == START + timedelta(seconds=10)
    with pytest.raises(InvalidValue, match="negative"):
        Play(ATTRIBUTES, delay=timedelta(seconds=-1))


@pytest.mark.parametrize(("input", "text"), [("x", "input of Attributes"), (1.5, "input of Attributes")])
def test_a_start_input_of_the_wrong_type_is_refused(input: Any, text: str) -> None:
    with pytest.raises(InvalidValue, match=text):
        Play(ATTRIBUTES, input=input)


@pytest.mark.rule(11)
def test_a_flow_without_start_step_takes_no_input_and_stays_open() -> None:
    text = "flow: F\nchannels: {c: {type: integer, external: true}}\n"
    play = Play(text)
    play.publish("c", 1)
    assert (play.run.status, play.unread("c")) == ("RUNNING", [1])
    with pytest.raises(InvalidValue, match="takes no input"):
        Play(text, input=1)


@pytest.mark.rule(92)
def test_the_order_of_publishes_of_one_call_is_kept() -> None:
    text = """
        flow: F
        channels: {c: {type: integer, leftover: true}}
        start: A
        steps:
          A:
            execute: {handler: a, may: {publish: [c]}}
            publish: {c: 3}
            dead_end: true
        """
    play = Play(text)
    play.succeed("A-1", publishes=(Message("c", 1), Message("c", 2)))
    assert play.unread("c") == [1, 2, 3]
