"""Flow definitions by hash: those given by this program, else as stored with the run."""

from __future__ import annotations

import threading

from orchestrator.definition.model import Flow
from orchestrator.errors import StoreError
from orchestrator.store.contract import Reading


class Definitions:
    def __init__(self) -> None:
        self._flows: dict[str, Flow] = {}
        self._stored: set[str] = set()
        self._lock = threading.Lock()

    def add(self, flow: Flow) -> None:
        self._flows.setdefault(flow.hash, flow)

    def is_stored(self, flow: Flow) -> bool:
        return flow.hash in self._stored

    def note_stored(self, hash: str) -> None:
        self._stored.add(hash)

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
            self._stored.add(hash)
            return parsed
