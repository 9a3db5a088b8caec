"""Finding runs inside a write transaction: in memory when that is current, else caught up or loaded.

A cached run whose epoch is the transaction's cannot have been changed by anybody else. Otherwise its version
is compared; what others committed is applied from history, which costs what they changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orchestrator.core.changes import DefinitionChanged
from orchestrator.core.codec import decode
from orchestrator.core.evolve import evolve
from orchestrator.core.state import Phase
from orchestrator.engine.cache import VOID, Entry, RunCache
from orchestrator.engine.definitions import Definitions
from orchestrator.store.contract import Head, StoredRun, Transaction, Version


class Runs:
    """Used under the commit lock only."""

    def __init__(self, cache: RunCache, definitions: Definitions) -> None:
        self.cache = cache
        self.definitions = definitions

    def preload(self, transaction: Transaction, numbers: Iterable[int]) -> None:
        """What is missing of them in memory, all at once, if it is of several."""
        if not transaction.answers_together:
            return
        entries = {number: self.cache.get(number) for number in numbers}
        unknown = [number for number, entry in entries.items() if entry is None]
        stale = [e for e in entries.values() if e is not None and VOID != e.epoch != transaction.epoch]
        versions = transaction.versions(each.number for each in stale) if stale else {}
        behind = [
            (each.number, each.run.version)
            for each in stale
            if each.number in versions and each.run.version < versions[each.number].version
        ]
        if len(unknown) + len(behind) > 1:
            transaction.preload(unknown, behind)

    def by_number(self, transaction: Transaction, number: int) -> Entry | None:
        entry = self.cache.get(number)
        if entry is not None:
            if entry.epoch == transaction.epoch:
                return entry
            self.refresh(transaction, {number: entry})
            return self.cache.get(number)
        head = transaction.find_run(number)
        if head is None:
            return None
        latest = transaction.find_latest(head.flow_id)
        return self._load(transaction, head, is_latest=latest is None or latest == head)

    def by_flow_id(self, transaction: Transaction, flow_id: str) -> Entry | None:
        """The latest run of the flow id."""
        entry = self.cache.latest(flow_id)
        if entry is not None and entry.epoch == transaction.epoch and entry.is_latest:
            return entry
        head = transaction.find_latest(flow_id)
        if head is None:
            return None
        known = self.by_number(transaction, head.run) if self.cache.get(head.run) is not None else None
        return known or self._load(transaction, head, is_latest=True)

    def refresh(self, transaction: Transaction, stale: Mapping[int, Entry]) -> set[int]:
        """Make entries of other epochs current, with one look at all their versions.

        By number; gives the numbers of those that were not.
        """
        moved: set[int] = set()
        versions = transaction.versions(stale)
        for number, entry in stale.items():
            version = versions.get(number)
            if version is None or entry.epoch == VOID or entry.run.version != version.version:
                moved.add(number)
            if version is None:  # pruned by another process
                entry.held.clear()
                self.cache.drop(entry)
            else:
                self._catch_up(transaction, entry, version)
        return moved

    def _catch_up(self, transaction: Transaction, entry: Entry, stored: Version) -> None:
        if entry.epoch == VOID or entry.run.version > stored.version:
            self._reload(transaction, entry)
        elif entry.run.version < stored.version:
            entry.waiting_count = 0  # others are at it
            definition = entry.definition
            for row in transaction.history(entry.number, entry.run.version):
                changes = decode(row.body)
                evolve(entry.run, changes)
                definition = next((c.new for c in changes if isinstance(c, DefinitionChanged)), definition)
            if definition != entry.definition:  # the last one: those between may have been pruned
                entry.redefine(self.definitions.of(definition, transaction))
        entry.is_latest = stored.is_latest
        entry.epoch = transaction.epoch

    def _reload(self, transaction: Transaction, entry: Entry) -> None:
        head = transaction.find_run(entry.number)
        assert head is not None
        stored = transaction.load(head)
        entry.run, entry.waiting_count = stored.run, _waiting_count_of(stored)
        entry.redefine(self.definitions.of(head.definition, transaction))

    def _load(self, transaction: Transaction, head: Head, *, is_latest: bool) -> Entry:
        flow = self.definitions.of(head.definition, transaction)
        stored = transaction.load(head)
        entry = Entry(head.run, stored.run, flow, transaction.epoch, is_latest=is_latest)
        entry.waiting_count = _waiting_count_of(stored)
        self.cache.add(entry)
        return entry


def _waiting_count_of(stored: StoredRun) -> int:
    """Executions that are ready, or back off, and that nobody has."""
    ready_count = 0
    for execution in stored.run.executions.values():
        if execution.due_at is not None and execution.phase is not Phase.WAITING:
            ready_count += 1
    return max(0, ready_count - len(stored.leases))
