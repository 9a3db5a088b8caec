"""Flow definitions by hash: those given by this program, else as stored with the run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from orchestrator.definition.model import Flow
from orchestrator.errors import NotFound, StoreError
from orchestrator.store.contract import Reading

FindFlow = Callable[[str], Flow | None]
"""By flow type."""


class Definitions:
    def __init__(self) -> None:
        self._flows: dict[str, Flow] = {}
        self._stored: dict[str, int] = {}
        """The epoch in which a definition was last known to be stored: others may prune it."""
        self._lock = threading.Lock()
        self._catalogues: list[FindFlow] = []

    def look_in(self, find: FindFlow) -> None:
        """Start children from what is found there rather than from what is stored."""
        self._catalogues.append(find)

    def find(self, name: str) -> Flow | None:
        """By flow type, in the catalogues of this process."""
        found = (find(name) for find in self._catalogues)
        return next((flow for flow in found if flow is not None), None)

    def of_type(self, name: str, reading: Reading) -> Flow:
        """From the catalogues of this process, else the latest one stored; raises NotFound."""
        if (flow := self.find(name)) is not None:
            return flow
        stored = reading.definition_names()
        hashes = [hash for named, hash in stored if named == name]
        if not hashes:
            known = ", ".join(f"`{named}`" for named in sorted({named for named, _ in stored})) or "none"
            raise NotFound(f"no flow `{name}` in the catalogue or in the store; stored: {known}", flow=name)
        return self.of(hashes[-1], reading)

    def add(self, flow: Flow) -> None:
        self._flows.setdefault(flow.hash, flow)

    def is_stored(self, flow: Flow, epoch: int) -> bool:
        return self._stored.get(flow.hash) == epoch

    def note_stored(self, hash: str, epoch: int) -> None:
        self._stored[hash] = epoch

    def forget_stored(self, hashes: Iterable[str]) -> None:
        for hash in hashes:
            self._stored.pop(hash, None)

    def of(self, hash: str, reading: Reading) -> Flow:
        """Raises StoreError when the stored text is missing or no longer understood."""
        flow = self._flows.get(hash)
        if flow is not None:
            return flow
        with self._lock:
            stored = reading.definition(hash)
            if stored is None:
                raise StoreError(f"the store has no definition {hash}", definition=hash)
            from orchestrator.definition.parse import parse

            parsed, problems = parse(stored.text, stored.path)
            if parsed is None:
                texts = "; ".join(problem.concise() for problem in problems)
                raise StoreError(f"definition {hash} is not understood by this release: {texts}")
            self._flows[hash] = parsed
            return parsed
