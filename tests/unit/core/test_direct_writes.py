"""Attributes that clients write directly (rule 194)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.codec import decode_event, encode_event
from orchestrator.core.events import AttributesWritten, Write
from orchestrator.core.travel import REAPPLIED
from orchestrator.errors import InvalidValue, NotActive, NotFound
from tests.support.play import Play

FLOW = """
flow: Written
attributes: {status: {type: string, initial: new}, count: integer, stock: {type: integer, map: true}}
channels: {never: string}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: never}}, dead_end: true}
"""


def write(play: Play, *writes: Write) -> None:
    play.send(AttributesWritten(at=play.now, writes=writes))


def test_a_client_writes_attributes_and_entries_of_maps_in_one_commit() -> None:
    play = Play(FLOW)
    version = play.run.version
    write(play, Write("status", "old"), Write("count", 3), Write("stock", 1, "a"), Write("stock", {"b": 2}))
    assert play.attributes == {"status": "old", "count": 3}
    assert play.run.attribute_maps == {"stock": {"a": 1, "b": 2}}
    assert play.run.version == version + 1


@pytest.mark.rule(98)
def test_a_null_deletes() -> None:
    play = Play(FLOW)
    write(play, Write("stock", {"a": 1, "b": 2}), Write("count", 1))
    write(play, Write("status", None), Write("stock", None, "a"), Write("stock", {"b": None}))
    assert play.attributes == {"count": 1}
    assert not play.run.attribute_maps.get("stock")


@pytest.mark.rule(101)
@pytest.mark.rule(10)
@pytest.mark.parametrize(
    ("bad", "error", "text"),
    [
        (Write("state", "x"), NotFound, "it has: count, status, stock"),
        (Write("count", "three"), InvalidValue, "attribute count"),
        (Write("count", 3, "a"), InvalidValue, "not a map"),
        (Write("stock", 3), InvalidValue, "give its entries by key"),
        (Write("stock", "x", "a"), InvalidValue, "attribute stock"),
        (Write("stock", 1, ""), InvalidValue, "empty key"),
        (Write("stock", {"": 1}), InvalidValue, "by key"),
    ],
)
def test_one_bad_write_refuses_all(bad: Write, error: type[Exception], text: str) -> None:
    play = Play(FLOW)
    with pytest.raises(error, match=text):
        write(play, Write("status", "old"), bad)
    assert play.attributes == {"status": "new"}


def test_a_closed_run_is_not_written() -> None:
    play = Play(FLOW)
    play.stop()
    with pytest.raises(NotActive):
        write(play, Write("status", "old"))


@pytest.mark.rule(194)
def test_direct_writes_are_kept_for_time_travel() -> None:
    event: Any = AttributesWritten(at=Play(FLOW).now, writes=(Write("count", 1),))
    assert isinstance(event, REAPPLIED)
    assert decode_event(encode_event(event)) == event
