"""Changes and executions as bytes: MessagePack of tagged arrays (changes.py, state.py).

Tags of changes are numbers. Until schema version 3 they were words; such bodies are read as they are.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from orchestrator.core.changes import ENDS, WORDS, Change
from orchestrator.core.events import Event
from orchestrator.core.state import Execution

_SHORT_KINDS = {
    "RunStarted": "start",
    "WaitForSucceeded": "wait",
    "ExecuteSucceeded": "done",
    "TimerDue": "timer",
    "MessagesPublished": "publish",
}
"""What the commits of most events are called in a store."""
_KINDS = {short: name for name, short in _SHORT_KINDS.items()}
_ENCODER = msgspec.msgpack.Encoder()
_CHANGES = msgspec.msgpack.Decoder(list[Change])
_EVENT = msgspec.msgpack.Decoder(Event)
_TAGS = {word: kind.__struct_config__.tag for kind, word in WORDS.items()}
_EXECUTION = msgspec.msgpack.Decoder(Execution)


def short_kind(event: str) -> str:
    """Of the name of an event's class."""
    return _SHORT_KINDS.get(event, event)


def kind_of(short: str) -> str:
    return _KINDS.get(short, short)


def encode(changes: list[Change]) -> bytes:
    """The changes of one commit, in order."""
    return _ENCODER.encode(changes)


def decode(body: bytes) -> list[Change]:
    try:
        return _CHANGES.decode(body)
    except msgspec.ValidationError:
        return _decode_words(body)


def _decode_words(body: bytes) -> list[Change]:
    """Raises ValidationError when it is neither form."""
    changes = msgspec.msgpack.decode(body, type=list[list[Any]])
    return msgspec.convert([_numbered(change) for change in changes], list[Change])


def _numbered(change: list[Any]) -> list[Any]:
    if not change:
        return change
    word, *fields = change
    if word == "step_ended" and len(fields) > 1 and fields[1] in ENDS:
        fields[1] = ENDS.index(fields[1])
    return [_TAGS.get(str(word)), *fields]


def encode_execution(execution: Execution) -> bytes:
    return _ENCODER.encode(execution)


def decode_execution(body: bytes) -> Execution:
    return _EXECUTION.decode(body)


def encode_event(event: Struct) -> bytes:
    return _ENCODER.encode(event)


def decode_event(body: bytes) -> Event:
    event: Event = _EVENT.decode(body)
    return event
