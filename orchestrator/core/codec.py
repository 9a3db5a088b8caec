"""Changes and executions as bytes: MessagePack of tagged arrays (changes.py, state.py)."""

from __future__ import annotations

import msgspec

from orchestrator.core.changes import Change
from orchestrator.core.events import Event
from orchestrator.core.state import Execution

_ENCODER = msgspec.msgpack.Encoder()
_CHANGES = msgspec.msgpack.Decoder(list[Change])
_EVENT = msgspec.msgpack.Decoder(Event)
_EXECUTION = msgspec.msgpack.Decoder(Execution)


def encode(changes: list[Change]) -> bytes:
    """The changes of one commit, in order."""
    return _ENCODER.encode(changes)


def decode(body: bytes) -> list[Change]:
    return _CHANGES.decode(body)


def encode_execution(execution: Execution) -> bytes:
    return _ENCODER.encode(execution)


def decode_execution(body: bytes) -> Execution:
    return _EXECUTION.decode(body)


def encode_event(event: Event) -> bytes:
    return _ENCODER.encode(event)


def decode_event(body: bytes) -> Event:
    event: Event = _EVENT.decode(body)
    return event
