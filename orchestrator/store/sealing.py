"""A store whose bodies are encoded or kept elsewhere (bodies.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from orchestrator.store.bodies import Bodies
from orchestrator.store.contract import Reading, Store, Transaction


class SealedStore:
    """See contract.Store. Tells every transaction and snapshot how bodies are sealed and opened."""

    def __init__(self, store: Store, bodies: Bodies) -> None:
        self.plain = store
        self._bodies = bodies
        self.url = store.url
        self.has_server = store.has_server

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        with self.plain.writing() as transaction:
            transaction.bodies = self._bodies
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        with self.plain.reading() as reading:
            reading.bodies = self._bodies
            yield reading

    def clock_time(self) -> datetime | None:
        return self.plain.clock_time()

    def ring(self) -> None:
        self.plain.ring()

    def listen(
        self, on_ring: Callable[[], None], on_call: Callable[[], None] = lambda: None
    ) -> Callable[[], None]:
        return self.plain.listen(on_ring, on_call)

    def vacuum(self) -> None:
        self.plain.vacuum()

    def sizes(self) -> tuple[int, int]:
        return self.plain.sizes()

    def close(self) -> None:
        self.plain.close()
