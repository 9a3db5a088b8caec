"""Why work that is ready is not begun: its queue is full, its rate is used up, or nobody serves it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from orchestrator.engine.explain.explanation import Advice
from orchestrator.engine.explain.words import command, time_words
from orchestrator.engine.served import Served, read_queues
from orchestrator.store.contract import Reading
from orchestrator.store.queues import Queue, Queues
from orchestrator.store.times import from_micros, to_micros

NO_WORKER = "no worker is running"


class Lines:
    """The queues of a store, as they stand."""

    def __init__(
        self,
        queues: Queues,
        leased_counts: Mapping[int, int],
        spent_until: Mapping[int, int],
        served: Sequence[Served | None],
        now: datetime,
    ) -> None:
        """`served`: by each worker that lives; None: everything."""
        self._queues = queues
        self._leased_counts = leased_counts
        self._spent_until = spent_until
        self._served = served
        self._now = now

    def name_of(self, flow: str, step: str) -> str | None:
        queue = self._queues.get(self._queues.of(flow, step))
        return queue.name if queue is not None else None

    def why_not_begun(self, flow: str, step: str) -> str | None:
        """None: nothing here is in the way."""
        number = self._queues.of(flow, step)
        for queue in self._queues.chain(number):
            if (reason := self._limit_reached(queue)) is not None:
                return reason
        if not self._served:
            return NO_WORKER
        if not any(self._takes(served, flow, step, number) for served in self._served):
            name = self.name_of(flow, step)
            return "no worker that is running serves " + (f"the queue {name}" if name else f"{flow}/{step}")
        return None

    def is_shut(self, flow: str, step: str) -> bool:
        """Nothing is begun before somebody sets another limit."""
        chain = self._queues.chain(self._queues.of(flow, step))
        limiting = next((queue for queue in chain if self._limit_reached(queue) is not None), None)
        return limiting is not None and limiting.settings.concurrency == 0

    def help_for(self, flow: str, step: str) -> Iterable[Advice]:
        number = self._queues.of(flow, step)
        for queue in self._queues.chain(number):
            if self._limit_reached(queue) is not None:
                option = "--concurrency" if self._is_full(queue) else "--rate"
                yield Advice("let more be begun", command("queues", "set", queue.name, option, "N"))
                return
        if not any(self._takes(served, flow, step, number) for served in self._served):
            yield Advice("a worker must be running", self._worker_command(flow, step))

    def _worker_command(self, flow: str, step: str) -> str:
        if not self._served:
            return command("worker")
        return command("worker", "--queues", self.name_of(flow, step) or f"{flow}/{step}")

    def _takes(self, served: Served | None, flow: str, step: str, number: int) -> bool:
        return served is None or served.has(flow, step) or served.names(self._queues, number)

    def _is_full(self, queue: Queue) -> bool:
        concurrency = queue.settings.concurrency
        return concurrency is not None and self._count(queue) >= concurrency

    def _count(self, queue: Queue) -> int:
        return sum(self._leased_counts.get(each, 0) for each in self._queues.family(queue.number))

    def _limit_reached(self, queue: Queue) -> str | None:
        rate, now = queue.settings.rate, to_micros(self._now)
        if self._is_full(queue):
            return f"the queue {queue.name} is full: {self._count(queue)} of {queue.settings.concurrency} run"
        spent_until = self._spent_until.get(queue.number, 0)
        if rate is not None and rate.free_count(spent_until, now) == 0:
            free_at = time_words(from_micros(rate.free_at(spent_until, now)), self._now)
            return f"the rate of the queue {queue.name} is used up, the next may begin {free_at}"
        return None


def read_lines(reading: Reading, now: datetime) -> Lines:
    queues = reading.find_queues()
    numbers = [queue.number for queue in queues]
    served = [
        read_queues(row.serves.split(",")) if row.serves else None
        for row in reading.workers()
        if row.alive_until >= to_micros(now)
    ]
    if not numbers:
        return Lines(queues, {}, {}, served, now)
    return Lines(queues, reading.leased_counts(numbers), reading.spent_until(numbers), served, now)
