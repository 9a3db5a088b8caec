"""Synced attributes on their way to an attribute store (rules 115, 116).

What a commit writes to them is stored with it, in order, and carried over afterwards by one worker at a time.
Nothing that happens there undoes what the run has done.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from orchestrator.clock import Clock
from orchestrator.core.state import Status
from orchestrator.definition.model import Flow
from orchestrator.engine.commit import Committer
from orchestrator.engine.definitions import Definitions
from orchestrator.errors import StoreError
from orchestrator.store.attribute_store import (
    AttributeRow,
    AttributeStore,
    AttributeStoreDown,
    ColumnKind,
    kind_of,
)
from orchestrator.store.contract import Projection, Store, Transaction

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from orchestrator.engine.waiting import Patience

log = logging.getLogger("orchestrator.engine")

_AT_A_TIME = 200
_FIRST_DELAY = timedelta(seconds=1)
_LONGEST_DELAY = timedelta(seconds=100)
_LOOK_EVERY = 0.005
_FLUSH_WITHIN = 5.0
"""Seconds for which the end of a run is held back from who waits for it."""
PATIENCE = timedelta(hours=4)
"""For an attribute store that cannot be reached."""
ATTEMPTS = 4
"""For rows that it does not take."""


class Synced:
    """Which attributes of a flow this process projects; none without an attribute store."""

    def __init__(self, *, has_store: bool) -> None:
        self._has_store = has_store
        self._names: dict[str, frozenset[str]] = {}

    def of(self, flow: Flow) -> frozenset[str]:
        names = self._names.get(flow.hash)
        if names is None:
            names = frozenset(each.name for each in flow.attributes.values() if each.sync)
            if names and not self._has_store:
                log.warning(
                    "flow %s: %s not synced, since no attribute store is configured",
                    flow.name,
                    ", ".join(sorted(names)) + (" is" if len(names) == 1 else " are"),
                )
                names = frozenset()
            self._names[flow.hash] = names
        return names


class Projector:
    """A worker's thread that carries values over."""

    def __init__(
        self,
        target: AttributeStore,
        store: Store,
        committer: Committer,
        definitions: Definitions,
        clock: Clock,
        *,
        worker: Callable[[], int],
        call_at: Callable[[datetime], None],
    ) -> None:
        """`worker`: the lease that they are taken under; `call_at`: have `look` called then."""
        self._target = target
        self._store = store
        self._committer = committer
        self._definitions = definitions
        self._clock = clock
        self._worker = worker
        self._call_at = call_at
        self._wake = threading.Event()
        self._is_stopping = False
        self._is_at_it = False
        self._thread: threading.Thread | None = None
        self._kinds: dict[str, tuple[str, dict[str, ColumnKind]]] = {}
        self._done: list[int] = []
        self._singles = 0
        """So many are given one by one, to find those that are not taken."""
        self._failed_count = 0
        self._failed_since: datetime | None = None
        self._retry_at: datetime | None = None

    # --- Life ---

    def start(self) -> None:
        self._is_stopping = False
        self._thread = threading.Thread(target=self._work, name="projector", daemon=True)
        self._thread.start()
        self.look()

    def stop(self) -> None:
        self._is_stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self._thread = None

    def look(self) -> None:
        """Something was committed, or time has passed."""
        if self._retry_at is not None and self._clock.now() < self._retry_at:
            self._call_at(self._retry_at)
        else:
            self._wake.set()

    def is_busy(self) -> bool:
        """Not while it waits for an attribute store that is in trouble."""
        is_due = self._retry_at is not None and not self._is_in_trouble()
        return is_due or self._is_at_it or self._wake.is_set()

    def _is_in_trouble(self) -> bool:
        return self._retry_at is not None and self._clock.now() < self._retry_at

    def _work(self) -> None:
        while not self._is_stopping:
            self._wake.wait()
            self._is_at_it = True
            self._wake.clear()
            try:
                while not self._is_stopping and not self._is_in_trouble() and self._carry_some():
                    pass
            except StoreError as error:
                log.error("synced attributes have to wait: %s", error)
                self._put_off()
            except Exception:
                log.exception("synced attributes have to wait")
                self._put_off()
            finally:
                self._is_at_it = False

    # --- Some of them ---

    def _carry_some(self) -> bool:
        """False: there are none, or another worker is at it."""
        if not self._done:
            with self._store.reading() as reading:
                if not reading.is_projecting():
                    return False
        claimed: list[Projection] = []

        def turn(transaction: Transaction, _: datetime) -> None:
            transaction.delete_projections(self._done)
            limit = 1 if self._singles else _AT_A_TIME
            claimed.clear()
            claimed.extend(transaction.claim_projections(self._worker(), limit))

        self._committer.exclusively(turn, "projection")
        self._done = []
        if claimed:
            self._carry(claimed)
        return bool(claimed)

    def _carry(self, claimed: list[Projection]) -> None:
        try:
            self._target.apply(self._rows(claimed))
        except AttributeStoreDown as error:
            since = self._failed_since = self._failed_since or self._clock.now()
            if self._clock.now() - since < PATIENCE:
                log.warning("the attribute store cannot be reached, trying on: %s", error)
                self._put_off()
                return
            self._drop(claimed, error)
        except Exception as error:
            if len(claimed) > 1:
                self._singles = len(claimed)
                return
            if self._failed_count + 1 < ATTEMPTS:
                log.warning("the attribute store does not take %s: %s", claimed[0].flow_id, error)
                self._put_off()
                return
            self._drop(claimed, error)
        self._done = [each.seq for each in claimed]
        self._singles = max(0, self._singles - len(claimed))
        self._failed_count, self._failed_since, self._retry_at = 0, None, None

    def _put_off(self) -> None:
        delay = min(_FIRST_DELAY * 2 ** min(self._failed_count, 10), _LONGEST_DELAY)
        self._failed_count += 1
        self._retry_at = self._clock.now() + delay
        self._call_at(self._retry_at)

    def _drop(self, claimed: list[Projection], error: Exception) -> None:
        whose = ", ".join(sorted({each.flow_id for each in claimed})[:5])
        log.error("synced attributes dropped, of %s (%d commits): %s", whose, len(claimed), error)

    # --- Rows ---

    def _rows(self, claimed: list[Projection]) -> list[AttributeRow]:
        """In order, those of one flow id together: what is written twice is carried once."""
        rows: dict[tuple[str, str], AttributeRow] = {}
        for each in claimed:
            flow, kinds = self._kinds_of(each.definition)
            before = rows.get((flow, each.flow_id))
            values = {**(before.values if before else {}), **json.loads(each.body)}
            all_kinds: Mapping[str, ColumnKind] = {**(before.kinds if before else {}), **kinds}
            rows[flow, each.flow_id] = AttributeRow(flow, each.flow_id, each.seq, values, all_kinds)
        return list(rows.values())

    def _kinds_of(self, definition: str) -> tuple[str, dict[str, ColumnKind]]:
        if definition not in self._kinds:
            with self._store.reading() as reading:
                flow = self._definitions.of(definition, reading)
            kinds = {each.name: kind_of(each) for each in flow.attributes.values() if each.sync}
            self._kinds[definition] = (flow.name, kinds)
        return self._kinds[definition]


def await_projection(engine: Engine, run: int, status: str) -> Patience[None]:
    """Who waits for a run's end learns of it when its synced attributes are carried over.

    An end itself is one commit and waits for no other database. Not after TERMINATE, and not for long.
    """
    if not engine.attribute_store or status == Status.TERMINATED:
        return
    ends_at = time.monotonic() + _FLUSH_WITHIN
    while time.monotonic() < ends_at:
        with engine.store.reading() as reading:
            if not reading.is_projecting(run):
                return
        yield _LOOK_EVERY
    log.warning("synced attributes of a closed run are still on their way")
