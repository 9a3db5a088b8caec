"""What the engine asks of a database, in its own words; one conformance suite runs on every store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from orchestrator.core.pauses import Pauses
from orchestrator.core.state import Run
from orchestrator.store.bodies import Bodies
from orchestrator.store.queues import Queues
from orchestrator.store.sought import ANY_RUN, Sought
from orchestrator.store.statistics import Statistics
from orchestrator.store.writes import Writes


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
    serves: str = ""
    """Queues, flow types and steps, separated by commas; empty: everything."""


class Projection(NamedTuple):
    """What the row of a flow id in an attribute store becomes."""

    seq: int
    """Grows with every commit that writes synced attributes."""
    run: int
    flow_id: str
    definition: str
    body: bytes
    """JSON, values by attribute; null: not set."""


class HistoryRow(NamedTuple):
    version: int
    at: int
    kind: str
    execution_id: str | None
    body: bytes
    event: bytes | None = None
    """What a client did (codec.py), for time travel."""


class StoredRun(NamedTuple):
    """A run as one snapshot shows it."""

    head: Head
    run: Run
    leases: Mapping[str, int]
    """Worker by execution id."""


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    path: str
    text: str


class Loan(Protocol):
    """The connection of a write transaction, in the hands of a handler."""

    connection: Any
    """A `sqlalchemy.Connection`. It refuses everything once the loan is over."""

    def revoke(self) -> None:
        """Take it back from a handler that still runs."""
        ...


class DefinitionRow(NamedTuple):
    hash: str
    flow: str
    path: str
    text: str
    stored_at: int


RunRecord = dict[str, list[dict[str, Any]]]
"""All rows of a run by table, each a value by column; without the run's number."""


class Reading(Protocol):
    """One snapshot: everything read through it was true at the same moment."""

    bodies: Bodies
    """How values are kept. What cannot be read any more is raised as BodyUnreadable."""

    def find_latest(self, flow_id: str) -> Head | None: ...

    def find_run(self, run: int) -> Head | None: ...

    def running_among(self, runs: Iterable[int]) -> set[int]:
        """Those that are there and not closed."""
        ...

    answers_together: bool
    """`preload` and, in a transaction, `prepare` save something."""

    def preload(self, runs: Iterable[int], behind: Iterable[tuple[int, int]] = ()) -> None:
        """These are about to be loaded, in this transaction and before anything of them is written; of those
        `behind`, the history after a version is about to be read.
        """
        ...

    def load(self, head: Head) -> StoredRun: ...

    def history(self, run: int, after_version: int = 0) -> list[HistoryRow]: ...

    def heads(self, sought: Sought = ANY_RUN) -> Iterator[Head]:
        """The latest run of every flow id, newest first, read as they are asked for."""
        ...

    def attribute_values(self, runs: Iterable[int]) -> list[tuple[int, str, bool, bytes]]:
        """Run, attribute, whether it is a map, and a value as it is kept (`bodies`); of a map in the order
        in which the entries were made."""
        ...

    def active_steps(self, runs: Iterable[int]) -> list[tuple[int, str]]:
        """Run and step type, each once."""
        ...

    def live_heads(self, definition: str, after_run: int, limit: int) -> list[Head]:
        """Running runs that are pinned to a definition, oldest first, from the one after `after_run` on."""
        ...

    def definition_names(self) -> list[tuple[str, str]]:
        """Flow type and hash of every stored definition, oldest first."""
        ...

    def definition(self, hash: str) -> StoredDefinition | None: ...

    def workers(self) -> list[WorkerRow]: ...

    def statistics(self, now: datetime) -> Statistics: ...

    def run_counts(self) -> dict[str, int]:
        """By status."""
        ...

    def oldest_due_at(self) -> datetime | None:
        """Since when, or from when on, the oldest work that nobody has leased is due."""
        ...

    def work_counts(self, now: datetime) -> dict[int, tuple[int, int]]:
        """By queue: leased step executions, and those that are due and nobody's."""
        ...

    def find_queues(self) -> Queues: ...

    def leased_counts(self, queues: Iterable[int]) -> dict[int, int]:
        """Of each of these queues that has any, how many executions are in the hands of workers."""
        ...

    def spent_until(self, queues: Iterable[int]) -> dict[int, int]:
        """Until when the rates of these queues are used up; microseconds, see queues.Rate."""
        ...

    def count_prunable(self, before: datetime) -> int:
        """How many runs were closed before then."""
        ...

    def runs_with_objects_left(self) -> list[int]:
        """Runs whose objects are still to be deleted, as the transaction noted that pruned them."""
        ...

    def run_numbers(self, flow_id: str | None = None) -> list[int]:
        """Of one flow id or of all, oldest first."""
        ...

    def export_run(self, run: int) -> RunRecord: ...

    def export_definitions(self) -> Iterable[DefinitionRow]: ...

    def is_busy(self, until: datetime, excluded: Sequence[str] = (), queue: int | None = None) -> bool:
        """Anything leased, due by `until`, or backing off, what is paused or `excluded` left out?

        `queue`: of this one, whatever is excluded.
        """
        ...

    def find_pauses(self) -> Pauses: ...

    def is_projecting(self, run: int | None = None) -> bool:
        """Is anything left to be projected, of one run or of all?"""
        ...


class Transaction(Reading, Protocol):
    """Nobody else changes a run between its first look at it and its commit.

    On some databases nobody else commits anything meanwhile, on others only what it has looked at is locked.
    """

    epoch: int
    """As long as it stays the same, nobody else has written and no transaction of ours has failed."""

    definitions_epoch: int
    """As long as it stays the same, a definition that was stored is."""

    @property
    def pauses(self) -> Pauses:
        """As they are now."""
        ...

    @property
    def queues(self) -> Queues:
        """As they are now."""
        ...

    def is_alive(self, worker: int) -> bool:
        """False: others have taken this worker of ours for dead. True when it was not looked at."""
        ...

    @property
    def are_leases_kept(self) -> bool:
        """A run at the version that it had is known to have the leases that it had."""
        ...

    def next_run_number(self) -> int: ...

    def prepare(
        self,
        runs: Iterable[int],
        flow_ids: Iterable[str],
        reported: Iterable[int] = (),
        started: Iterable[str] = (),
        unloaded: Iterable[str] = (),
    ) -> None:
        """These runs, and the latest ones of these flow ids, will be asked for: many are found at once.

        `reported`: runs whose handlers here have something to say. What is decided about these is written, or
        a lease released: it need not be true before that is committed. `started`: flow ids to start a run
        under; nothing else is asked about them. `unloaded`: those of the flow ids whose run will be loaded.
        """
        ...

    def versions(self, runs: Iterable[int]) -> dict[int, Version]: ...

    def leases(self, run: int, execution_ids: Iterable[str]) -> dict[str, int | None]: ...

    def write(self, writes: Writes) -> None:
        """Raises StoreConflict, perhaps at the commit, when a run is not at the version it was decided on."""
        ...

    def supersede(self, run: int) -> None:
        """Another run of the flow id is now the latest."""
        ...

    def claim_timers(self, worker: int, now: datetime, limit: int) -> list[Claimed]:
        """What is due and needs no handler, oldest first, but for what is paused."""
        ...

    def next_timer_at(self) -> datetime | None: ...

    def ready_queues(self, queues: Iterable[int], now: datetime) -> set[int]:
        """Those of these in which something waits to be claimed, be it paused."""
        ...

    def hold_queues(self, queues: Iterable[int]) -> dict[int, int]:
        """Nobody else holds these until the commit; one that others hold just now is missing.

        Whoever takes work of a limited queue holds it, so that what is counted stays true. Gives what
        `spent_until` gives.
        """
        ...

    def spend(self, queue: int, spent_until: int) -> None: ...

    def set_queue(self, name: str, settings: str) -> int:
        """Settings of a new or a known queue; its number."""
        ...

    def delete_queue(self, queue: int) -> None: ...

    def calls(self) -> list[tuple[int, str, str, str, int]]:
        """Run, execution id, flow type, step and queue of all live executions that do not wait."""
        ...

    def set_step_queues(self, executions: Iterable[tuple[int, str, int]]) -> None:
        """Run, execution id and queue: where these stand from now on."""
        ...

    def claim(
        self, worker: int, now: datetime, limit: int, excluded: Sequence[str], queue: int = 0
    ) -> list[Claimed]:
        """Lease due work of a queue to `worker`, except what is paused or `excluded`.

        What is ready is taken in rounds: each run that has some gives one, then each that has more another.
        What has become due since it was written, or was handed back, comes beside it, oldest first: half of
        `limit`, or all that the other leaves. Definitions are excluded by `hash`, single steps of them by
        `hash/step`.
        """
        ...

    def next_due_at(self, excluded: Sequence[str], queue: int = 0) -> datetime | None:
        """When the next unleased work of a queue is due."""
        ...

    def release(self, worker: int, executions: Iterable[tuple[int, str]]) -> None:
        """Hand back work that was not begun; no attempt is consumed (rule 157)."""
        ...

    def register_worker(
        self, alive_until: datetime, host: str, pid: int, process_started: str, serves: str = ""
    ) -> int: ...

    def renew_worker(self, worker: int, alive_until: datetime) -> bool:
        """False: this worker was given up by another, its leases are gone."""
        ...

    def bury_worker(self, worker: int) -> int:
        """Forget a worker; what it had leased is free again. How much work that was."""
        ...

    def claim_projections(self, worker: int, limit: int) -> list[Projection]:
        """The oldest ones, in order; none while another worker has some."""
        ...

    def delete_projections(self, seqs: Iterable[int]) -> None: ...

    def pause(self, flow: str, step: str | None, at: datetime) -> bool:
        """False: it was paused."""
        ...

    def resume(self, flow: str, step: str | None) -> bool:
        """False: it was not paused."""
        ...

    def ring(self) -> None:
        """Wake the other processes that listen on this store, once it is committed."""
        ...

    def call_for_work(self) -> None:
        """Tell other workers, once it is committed, that this one has nothing to do."""
        ...

    def lend(self) -> AbstractContextManager[Loan]:
        """For a handler: what it writes is undone when the block raises. Raises TransactionLost."""
        ...

    def prune(self, before: datetime, limit: int) -> list[int]:
        """Delete runs that were closed before then, oldest first; their numbers."""
        ...

    def note_objects_left(self, runs: Iterable[int]) -> None: ...

    def note_objects_gone(self, runs: Iterable[int]) -> None: ...

    def prune_definitions(self) -> list[str]:
        """Delete definitions that no run uses, but for the latest of each flow type; their hashes."""
        ...

    def import_run(self, run: int, record: RunRecord) -> None: ...

    def import_definition(self, row: DefinitionRow) -> None: ...

    def save_definition(self, hash: str, flow: str, path: str, text: str, at: datetime) -> None: ...


class Store(Protocol):
    """A database. Safe to use from many threads; transactions of one process take turns."""

    url: str
    has_server: bool
    """Another process does its work, on the core where it was asked last."""

    def writing(self) -> AbstractContextManager[Transaction]:
        """Commits at the end, rolls back on an exception. Raises StoreError when the database fails.

        Raises StoreConflict when others were at the same: then it is to be done again.
        """
        ...

    def reading(self) -> AbstractContextManager[Reading]: ...

    def clock_time(self) -> datetime | None:
        """What the clock says that all who use this store share; None: they share a machine."""
        ...

    def ring(self) -> None:
        """Wake the other processes that listen on this store."""
        ...

    def listen(
        self, on_ring: Callable[[], None], on_call: Callable[[], None] = lambda: None
    ) -> Callable[[], None]:
        """Call `on_ring` whenever another process rings, `on_call` when it calls for work, where that can be
        told apart; the result ends it.
        """
        ...

    def vacuum(self) -> None:
        """Give back the space of what was deleted; others wait meanwhile."""
        ...

    def sizes(self) -> tuple[int, int]:
        """Bytes of the database, and of its log."""
        ...

    def close(self) -> None: ...
