"""How values of users are kept: as they are, encoded (compressed, encrypted), or beside the database.

Everything here is about bytes, between what the engine encodes and what a column holds. A body that is not
kept as it is begins with a byte with which neither JSON nor MessagePack begins, so that old and new ones may
stand side by side:

    0xC1, kind, length of the key id, key id, the rest

Kind 1: the rest was encoded by the codec that knows the key id. Kind 2: the rest is the name of an object.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from orchestrator.errors import BodyUnreadable, StoreError, UsageError
from orchestrator.store.objects import ObjectMissing, ObjectStore
from orchestrator.store.sql import COLUMNS

if TYPE_CHECKING:
    from orchestrator.store.writes import Statement, Writes

log = logging.getLogger("orchestrator.store")
Row = tuple[Any, ...]
_MARK = 0xC1
_ENCODED, _OBJECT = 1, 2
DEFAULT_LIMIT = 256 * 1024
"""Bytes; larger bodies are kept as objects, if there is a place for them."""


class Codec(Protocol):
    """Bytes into bytes and back. Every body says which key id it was encoded with."""

    key_id: str
    """Of what is encoded from now on."""
    is_secret: bool
    """What it encodes is not for everybody who can read logs."""

    def encode(self, body: bytes) -> bytes | None:
        """None: it is kept as it is."""
        ...

    def decode(self, body: bytes, key_id: str) -> bytes:
        """Raises LookupError for a key id of another codec, ValueError for a body that is broken."""
        ...


class Indexed(bytes):
    """The value of an indexed attribute: kept as it is."""

    __slots__ = ()


class Bodies:
    """`codecs`: each encodes what the one before it made."""

    def __init__(
        self,
        codecs: Sequence[Codec] = (),
        objects: ObjectStore | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> None:
        if not isinstance(codecs, Sequence) or not all(hasattr(codec, "is_secret") for codec in codecs):
            raise UsageError("codecs is a list of codecs, such as [Compression()]")
        if objects is not None and not hasattr(objects, "put"):
            raise UsageError("objects is a place for large values, such as FileObjects(directory)")
        self._codecs = tuple(codecs)
        self._objects = objects
        self._limit = limit
        self._told: set[str] = set()
        self.is_secret = any(codec.is_secret for codec in codecs)

    # --- Writing ---

    def seal(self, writes: Writes) -> None:
        """All bodies of one transaction, in place; objects are there before it commits."""
        if not self._codecs and self._objects is None:
            return
        for name, (run_at, positions, may_offload) in _SEALED.items():
            if rows := writes.get(name):
                rows[:] = [self._sealed(row, row[run_at], positions, may_offload) for row in rows]

    def seal_imported(self, table: str, rows: list[Row]) -> list[Row]:
        """Rows of a table, the run's number first."""
        positions = tuple(1 + position for position in _POSITIONS[table])
        return [self._sealed(row, row[0], positions, table != "runs") for row in rows]

    def _sealed(self, row: Row, run: int, positions: Iterable[int], may_offload: bool) -> Row:
        sealed = list(row)
        for position in positions:
            body = sealed[position]
            if isinstance(body, Indexed):
                self._tell_indexed(row[1])
            elif body is not None:
                sealed[position] = self._sealed_body(body, run if may_offload else None)
        return tuple(sealed)

    def _sealed_body(self, body: bytes, run: int | None) -> bytes:
        for codec in self._codecs:
            encoded = codec.encode(body)
            if encoded is not None:
                body = _framed(_ENCODED, codec.key_id, encoded)
        if self._objects is None or run is None or len(body) <= self._limit:
            return body
        name = f"{run}/{sha256(body).hexdigest()}"
        try:
            self._objects.put(name, body)
        except OSError as error:
            raise StoreError(f"the object {name} cannot be kept: {error}") from error
        return _framed(_OBJECT, "", name.encode())

    def _tell_indexed(self, attribute: str) -> None:
        if self.is_secret and attribute not in self._told:
            self._told.add(attribute)
            log.warning("attribute %s is indexed: its values are not encrypted in the index", attribute)

    # --- Reading ---

    def open_rows(self, statement: str, rows: list[Row]) -> list[Row]:
        if not rows:
            return rows
        positions = _OPENED[statement]
        return [self._opened(row, positions) for row in rows]

    def _opened(self, row: Row, positions: Sequence[int]) -> Row:
        for position in positions:
            body = row[position]
            if body and body[0] == _MARK:
                row = (*row[:position], self.open(body), *row[position + 1 :])
        return row

    def open(self, body: bytes) -> bytes:
        """Raises BodyUnreadable."""
        while body and body[0] == _MARK:
            kind, key_id, rest = _unframed(body)
            body = self._fetched(rest.decode()) if kind == _OBJECT else self._decoded(rest, key_id)
        return body

    def _decoded(self, rest: bytes, key_id: str) -> bytes:
        for codec in self._codecs:
            try:
                return codec.decode(rest, key_id)
            except LookupError:
                continue
            except ValueError as error:
                raise BodyUnreadable(f"a value encoded with {key_id} cannot be decoded: {error}") from None
        known = "has none" if not self._codecs else "does not know it"
        raise BodyUnreadable(
            f"a value was encoded with {key_id}, and the codec configured here {known}; "
            "see `codec` under [tool.orchestrator]",
            key_id=key_id,
        )

    def _fetched(self, name: str) -> bytes:
        if self._objects is None:
            raise BodyUnreadable(
                f"a value is kept as the object {name}, and no place for objects is configured here; "
                "see `objects` under [tool.orchestrator]",
                object=name,
            )
        try:
            return self._objects.get(name)
        except ObjectMissing:
            raise BodyUnreadable(f"the object {name}, a value, is missing", object=name) from None
        except OSError as error:
            raise StoreError(f"the object {name} cannot be read: {error}") from error

    # --- Upkeep ---

    @property
    def may_be_objects(self) -> bool:
        return self._objects is not None

    def forget(self, runs: Iterable[int]) -> list[int]:
        """Delete the objects of runs that are no more; of which of them none is left."""
        gone: list[int] = []
        if self._objects is None:
            return gone
        try:
            for run in runs:
                for name in list(self._objects.list(f"{run}/")):
                    self._objects.delete(name)
                gone.append(run)
        except OSError as error:
            log.warning("objects of pruned runs stay until the next pruning: %s", error)
        return gone


PLAIN = Bodies()


def _framed(kind: int, key_id: str, rest: bytes) -> bytes:
    key = key_id.encode()
    return bytes((_MARK, kind, len(key))) + key + rest


def _unframed(body: bytes) -> tuple[int, str, bytes]:
    kind, size = body[1], body[2]
    return kind, body[3 : 3 + size].decode(), body[3 + size :]


_BODIES = {
    "runs": ("input", "state", "error"),
    "steps": ("body",),
    "messages": ("value",),
    "attributes": ("value",),
    "outputs": ("body",),
    "reports": ("value",),
    "history": ("body", "event"),
}
"""Columns that hold values of users, by table."""
_POSITIONS = {
    table: tuple(columns.index(name) for name in _BODIES.get(table, ())) for table, columns in COLUMNS.items()
}
_OPENED = {
    "rows_of_run": (5, 6, 7),
    "reports_of": (2,),
    "history_of": (4, 5),
    "claim_projections": (4,),
    **{f"export_{table}": positions for table, positions in _POSITIONS.items()},
}
"""Where bodies stand in the rows of statements that read."""
_SEALED: dict[Statement, tuple[int, tuple[int, ...], bool]] = {
    "insert_run": (0, (12, 13, 14), False),
    "update_run": (2, (1,), False),
    "close_run": (6, (4, 5), False),
    "insert_step": (0, (7,), True),
    "insert_queued_step": (0, (7,), True),
    "update_step": (5, (4,), True),
    "update_queued_step": (7, (4,), True),
    "insert_message": (0, (4,), True),
    "set_attribute": (0, (4,), True),
    "insert_output": (0, (2,), True),
    "insert_report": (0, (4,), True),
    "insert_projection": (0, (3,), False),
    "insert_history": (0, (5, 6), True),
}
"""Where run and bodies stand in the rows of statements that write, and whether large ones may be objects.

What is rewritten with every commit (`runs.state`) would leave an object behind each time; a projection may
outlive its run.
"""
