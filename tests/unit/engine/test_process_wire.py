"""The pipes between a worker and its child processes."""

from __future__ import annotations

import io
import pickle
import struct
from datetime import timedelta
from fractions import Fraction

import pytest

from orchestrator.binding.invoke import Returned
from orchestrator.core.events import Failure, HandlerEffects, Message, Write
from orchestrator.engine.processes.wire import Broken, Cancelled, Done, Wire


def sent(*messages: Cancelled | Done) -> bytes:
    out = io.BytesIO()
    wire = Wire(io.BytesIO(), out)
    for message in messages:
        wire.send(message)
    return out.getvalue()


def received(text: bytes) -> Wire:
    return Wire(io.BytesIO(text), io.BytesIO())


def test_messages_arrive_as_they_were_and_in_order() -> None:
    effects = HandlerEffects((Write("a", {"x": [1, None, "é"]}),), (Message("c", 2**62, "k"),), ("Step",))
    messages: list[Cancelled | Done] = [
        Done(1, Returned({"deep": [[]]}, "word", None, effects)),
        Done(2, Failure("Odd", "no", ("Odd",), retry_after=timedelta(seconds=3))),
        Cancelled(3),
    ]
    wire = received(sent(*messages))
    assert [wire.receive() for _ in messages] == messages
    assert wire.receive() is None


def test_half_a_message_is_the_end() -> None:
    text = sent(Done(1, Returned("x" * 1000)))
    assert [received(text[:size]).receive() for size in (0, 3, 8, len(text) - 1)] == [None] * 4


@pytest.mark.parametrize("stranger", [Fraction(1, 2), print, eval], ids=["class", "function", "eval"])
def test_what_is_not_ours_is_not_even_imported(stranger: object) -> None:
    body = pickle.dumps(stranger)
    with pytest.raises(Broken, match="does not belong here"):
        received(struct.pack(">Q", len(body)) + body).receive()


def test_sending_to_nobody_says_so() -> None:
    closed = io.BytesIO()
    closed.close()
    with pytest.raises(Broken):
        Wire(io.BytesIO(), closed).send(Cancelled(1))
