"""The runs that this process works on, in memory; each is as current as its `epoch`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.core.state import Run, Status
from orchestrator.definition.model import Flow

if TYPE_CHECKING:
    from orchestrator.engine.task import Task

VOID = -1
"""Epoch of a run whose memory is not to be trusted."""


class Entry:
    """One run. `held` are the executions leased to this process: they keep the entry in memory."""

    __slots__ = ("definition", "epoch", "flow", "held", "is_latest", "number", "run", "waiting_count")

    def __init__(self, number: int, run: Run, flow: Flow, epoch: int, *, is_latest: bool = True) -> None:
        self.number = number
        self.run = run
        self.flow = flow
        self.definition = flow.hash
        self.epoch = epoch
        self.is_latest = is_latest
        self.held: dict[str, Task] = {}
        self.waiting_count = 0
        """Executions that are ready and nobody's, as far as this process has seen."""

    def redefine(self, flow: Flow) -> None:
        """The run was moved to another definition."""
        self.flow = flow
        self.definition = flow.hash

    @property
    def is_parked(self) -> bool:
        """Nobody works on it, and nothing of it is ready, as far as this process has seen."""
        return not self.held and not self.waiting_count


class RunCache:
    """Least recently used runs leave first. Used under the commit lock only."""

    def __init__(self, capacity: int = 1000, parked_capacity: int = 256) -> None:
        """`parked_capacity`: of runs that may wait for long for what they go on with."""
        self._capacity = capacity
        self._parked_capacity = parked_capacity
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._parked: OrderedDict[int, None] = OrderedDict()
        """Those that were parked after their last commit, the longest ago first."""
        self._latest: dict[str, int] = {}

    def get(self, number: int) -> Entry | None:
        entry = self._entries.get(number)
        if entry is not None:
            self._entries.move_to_end(number)
        return entry

    def peek(self, number: int) -> Entry | None:
        """Without counting as a use of it."""
        return self._entries.get(number)

    def latest(self, flow_id: str) -> Entry | None:
        """The run of this flow id that was the latest when it was last looked at."""
        number = self._latest.get(flow_id)
        return None if number is None else self.get(number)

    def is_running(self, flow_id: str) -> bool:
        """As far as this process has heard; may be asked without the commit lock."""
        number = self._latest.get(flow_id)
        entry = None if number is None else self._entries.get(number)
        return entry is not None and entry.run.status is Status.RUNNING

    def add(self, entry: Entry) -> None:
        self._entries[entry.number] = entry
        if entry.is_latest:
            self._latest[entry.run.flow_id] = entry.number

    def drop(self, entry: Entry) -> None:
        """Forget it, unless handlers of it are running."""
        if entry.held:
            entry.epoch = VOID
            return
        self._entries.pop(entry.number, None)
        self._parked.pop(entry.number, None)
        if self._latest.get(entry.run.flow_id) == entry.number:
            del self._latest[entry.run.flow_id]

    def settle(self, entry: Entry) -> None:
        """A commit of it is over."""
        self._parked.pop(entry.number, None)
        if not entry.is_parked:
            return
        self._parked[entry.number] = None
        if len(self._parked) > self._parked_capacity:
            number, _ = self._parked.popitem(last=False)
            longest = self._entries.get(number)
            if longest is not None and longest.is_parked:
                self.drop(longest)

    def trim(self) -> None:
        """Down to capacity; a run with running handlers stays."""
        surplus = len(self._entries) - self._capacity
        if surplus <= 0:
            return
        idle = (entry for entry in self._entries.values() if not entry.held)
        for entry in list(islice(idle, surplus)):
            self.drop(entry)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
