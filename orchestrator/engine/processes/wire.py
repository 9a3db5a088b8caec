"""What a worker and its child processes say to each other, over a pair of pipes.

Messages are pickled, since they are our own structures of plain JSON values; nothing else is accepted, so
reading one never runs or imports code of users.
"""

from __future__ import annotations

import io
import pickle
import struct
import threading
from typing import IO, Any, TypeAlias

from msgspec import Struct

from orchestrator.binding.invoke import Returned
from orchestrator.binding.method import MethodKind
from orchestrator.core.events import Failure
from orchestrator.definition.model import Json

_LENGTH = struct.Struct(">Q")
_SAFE = ("datetime", "builtins", "msgspec", "orchestrator")
_SAFE_BUILTINS = frozenset({"set", "frozenset", "list", "dict", "tuple", "bytearray", "complex"})


class Hello(Struct, frozen=True):
    """The first thing a child is told."""

    search_path: tuple[str, ...]
    store: str | None
    """Database URL for `ctx.client`; None: nothing that it can open, or values are encoded here."""
    attribute_store: str | None
    levels: tuple[tuple[str, int], ...]
    """Of loggers, by name: what is below need not be sent."""


class Lesson(Struct, frozen=True):
    """A definition of which calls will come: its handlers are imported now."""

    hash: str
    text: str
    path: str


class Begin(Struct, frozen=True):
    number: int
    """Of the call; one child has one at a time, but late news of earlier ones may come."""
    definition: str
    kind: MethodKind
    name: str
    """Of the step."""
    snapshot: dict[str, Any]
    """The fields of a Snapshot, but for the flow."""
    trace: dict[str, str] = {}
    """Headers of the span that the call belongs to, where there are traces."""


class Cancelled(Struct, frozen=True):
    """The result of the call will be ignored."""

    number: int


class Stop(Struct, frozen=True):
    """Nothing more will come."""


class Ready(Struct, frozen=True):
    """The child listens."""


class Beaten(Struct, frozen=True):
    number: int
    value: Json


class Logged(Struct, frozen=True):
    """A log record: what `logging.makeLogRecord` takes."""

    fields: dict[str, Any]


class Printed(Struct, frozen=True):
    """A line on stdout."""

    text: str


class Done(Struct, frozen=True):
    number: int
    outcome: Returned | Failure


Message: TypeAlias = Hello | Lesson | Begin | Cancelled | Stop | Ready | Beaten | Logged | Printed | Done


class Broken(Exception):
    """The other end is gone, or does not say what it should."""


class Wire:
    """One end; any thread may send, one receives."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Raises Broken; whatever pickling raises leaves the wire as it is."""
        body = pickle.dumps(message, protocol=5)
        try:
            with self._lock:
                self._outgoing.write(_LENGTH.pack(len(body)))
                self._outgoing.write(body)
                self._outgoing.flush()
        except (OSError, ValueError) as error:
            raise Broken(str(error)) from None

    def receive(self) -> Message | None:
        """None: the other end is gone. Raises Broken."""
        try:
            head = self._incoming.read(_LENGTH.size)
            if len(head) < _LENGTH.size:
                return None
            body = self._incoming.read(*_LENGTH.unpack(head))
            if len(body) < _LENGTH.unpack(head)[0]:
                return None
        except (OSError, ValueError):
            return None
        try:
            message: Message = _Reader(io.BytesIO(body)).load()
        except Exception as error:
            raise Broken(f"{type(error).__name__}: {error}") from error
        return message

    def close(self) -> None:
        for end in (self._outgoing, self._incoming):
            try:
                end.close()
            except OSError:
                continue  # what was still to be sent has nobody to read it


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        package = module.partition(".")[0]
        if package not in _SAFE or (package == "builtins" and name not in _SAFE_BUILTINS):
            raise pickle.UnpicklingError(f"{module}.{name} does not belong here")
        return super().find_class(module, name)
