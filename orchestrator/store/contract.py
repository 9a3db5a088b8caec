"""What the engine asks of a database, in its own words; one conformance suite runs on every store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from orchestrator.core.pauses import Pauses
from orchestrator.core.state import Run
from orchestrator.store.rows import Writes


class Head(NamedTuple):
    """One run without its contents; times in microseconds (times.py)."""

    run: int
    flow_id: str
    run_id: str
    flow: str
    definition: str
    request_id: str | None
    status: str
    version: int
    attempt: int
    started_at: int
    closed_at: int | None


class Claimed(NamedTuple):
    run: int
    execution_id: str
    is_lost: bool
    """A worker that had it died: its handler may have run (rule 156)."""


class Version(NamedTuple):
    version: int
    is_latest: bool


class WorkerRow(NamedTuple):
    worker: int
    alive_until: int
    host: str
    pid: int
    process_started: str


class HistoryRow(NamedTuple):
    version: int
    at: int
    kind: str
    execution_id: str | None
    body: bytes
    event: bytes | None = None
    """What a client did (codec.py), for time travel."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as one snapshot shows it."""

    head: Head
    run: Run
    leases: Mapping[str, int]
    """Worker by execution id."""


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    path: str
    text: str


class Reading(Protocol):
    """One snapshot: everything read through it was true at the same moment."""

    def find_latest(self, flow_id: str) -> Head | None: ...

    def find_run(self, run: int) -> Head | None: ...

    def load(self, head: Head) -> StoredRun: ...

    def history(self, run: int, after_version: int = 0) -> list[HistoryRow]: ...

    def heads(self) -> list[Head]:
        """The latest run of every flow id, newest first."""
        ...

    def definition_names(self) -> list[tuple[str, str]]:
        """Flow type and hash of every stored definition, oldest first."""
        ...

    def definition(self, hash: str) -> StoredDefinition | None: ...

    def is_busy(self, until: datetime, excluded: Sequence[str] = ()) -> bool:
        """Anything leased, due by `until`, or backing off, what is paused or `excluded` left out?"""
        ...

    def find_pauses(self) -> Pauses: ...


class Transaction(Reading, Protocol):
    """The one writer: nothing else commits between its first read and its commit."""

    epoch: int
    """As long as it stays the same, nobody else has written and no transaction of ours has failed."""

    pauses: Pauses
    """As they are now."""

    def next_run_number(self) -> int: ...

    def versions(self, runs: Iterable[int]) -> dict[int, Version]: ...

    def leases(self, run: int, execution_ids: Iterable[str]) -> dict[str, int | None]: ...

    def write(self, writes: Writes) -> None:
        """Raises StoreError when a run is not at the version that it was decided on."""
        ...

    def supersede(self, run: int) -> None:
        """Another run of the flow id is now the latest."""
        ...

    def claim(self, worker: int, now: datetime, limit: int, excluded: Sequence[str]) -> list[Claimed]:
        """Lease the oldest due work to `worker`, except what is paused or of `excluded` definitions."""
        ...

    def next_due_at(self, excluded: Sequence[str]) -> datetime | None:
        """When the next unleased work is due."""
        ...

    def release(self, worker: int, executions: Iterable[tuple[int, str]]) -> None:
        """Hand back work that was not begun; no attempt is consumed (rule 157)."""
        ...

    def register_worker(self, alive_until: datetime, host: str, pid: int, process_started: str) -> int: ...

    def renew_worker(self, worker: int, alive_until: datetime) -> bool:
        """False: this worker was given up by another, its leases are gone."""
        ...

    def workers(self) -> list[WorkerRow]: ...

    def bury_worker(self, worker: int) -> int:
        """Forget a worker; what it had leased is free again. How much that was."""
        ...

    def pause(self, flow: str, step: str | None, at: datetime) -> bool:
        """False: it was paused."""
        ...

    def resume(self, flow: str, step: str | None) -> bool:
        """False: it was not paused."""
        ...

    def save_definition(self, hash: str, flow: str, path: str, text: str, at: datetime) -> None: ...


class Store(Protocol):
    """A database. Safe to use from many threads; transactions of one process take turns."""

    url: str

    def writing(self) -> AbstractContextManager[Transaction]:
        """Commits at the end, rolls back on an exception. Raises StoreError when the database fails."""
        ...

    def reading(self) -> AbstractContextManager[Reading]: ...

    def ring(self) -> None:
        """Wake the other processes that listen on this store."""
        ...

    def listen(self, on_ring: Callable[[], None]) -> Callable[[], None]:
        """Call `on_ring` whenever another process rings; the result ends it."""
        ...

    def close(self) -> None: ...
