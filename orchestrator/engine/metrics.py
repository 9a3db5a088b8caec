"""What a worker has done and is doing, in Prometheus' text format (version 0.0.4).

Noting takes about a microsecond an event; counting what is in the database happens when somebody reads.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from orchestrator.core import changes as c
from orchestrator.engine.batch import Batch
from orchestrator.engine.census import Census, Values
from orchestrator.engine.task import Task

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)
Labels: TypeAlias = tuple[str, ...]


class Histogram:
    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """Of each bucket by itself; the last is above all bounds."""
        self.sum = 0.0

    def note(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def lines(self, name: str, labels: str) -> Iterator[str]:
        total = 0
        for bound, count in zip((*self.bounds, None), self.counts, strict=True):
            total += count
            le = f'le="{bound:g}"' if bound is not None else 'le="+Inf"'
            yield f"{name}_bucket{{{labels}{',' if labels else ''}{le}}} {total}"
        braces = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{braces} {self.sum!r}"
        yield f"{name}_count{braces} {total}"


class Metrics:
    """Of one worker; give it to `Worker(metrics=…)`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._transaction_count = 0
        self._commit_count = 0
        self._sizes = Histogram(_SIZES)
        self._steps: dict[Labels, int] = defaultdict(int)
        """By flow, step and outcome."""
        self._retries: dict[Labels, int] = defaultdict(int)
        self._starts: dict[Labels, int] = defaultdict(int)
        self._closings: dict[Labels, int] = defaultdict(int)
        self._seconds: dict[Labels, Histogram] = defaultdict(lambda: Histogram(_SECONDS))

    def note_batch(self, batch: Batch) -> None:
        """After a transaction."""
        if batch.is_empty:
            return
        with self._lock:
            self._transaction_count += 1
            self._commit_count += batch.event_count
            self._sizes.note(batch.event_count)
            for entry, _, changes in batch.applied:
                flow = entry.flow.name
                for change in changes:
                    kind = type(change)
                    if kind is c.StepEnded:
                        assert isinstance(change, c.StepEnded)
                        self._steps[flow, change.execution_id.rpartition("-")[0], change.how] += 1
                    elif kind is c.AttemptFailed:
                        assert isinstance(change, c.AttemptFailed)
                        self._retries[flow, change.execution_id.rpartition("-")[0]] += 1
                    elif kind is c.RunOpened:
                        self._starts[(flow,)] += 1
                    elif kind is c.RunClosed:
                        assert isinstance(change, c.RunClosed)
                        self._closings[flow, change.status] += 1

    def note_call(self, task: Task, seconds: float) -> None:
        """After a handler, whatever came of it."""
        with self._lock:
            method = "wait_for" if task.is_wait_for else "execute"
            self._seconds[task.flow, task.step, method].note(seconds)

    def as_text(self, census: Census) -> str:
        lines: list[str] = []
        for name, help, value in census.read():
            lines += _family(name, "gauge", help, value)
        with self._lock:
            lines += _family("transactions_total", "counter", "Transactions.", {(): self._transaction_count})
            lines += _family("commits_total", "counter", "Commits of runs.", {(): self._commit_count})
            lines += _family(
                "runs_started_total", "counter", "Runs begun here.", _labelled(self._starts, "flow")
            )
            closings = _labelled(self._closings, "flow", "status")
            lines += _family("runs_closed_total", "counter", "Runs closed here.", closings)
            ended = _labelled(self._steps, "flow", "step", "outcome")
            lines += _family("step_executions_total", "counter", "Step executions that ended here.", ended)
            retries = _labelled(self._retries, "flow", "step")
            lines += _family("retries_total", "counter", "Failed attempts that are tried again.", retries)
            lines += _head("transaction_commits", "histogram", "Commits in one transaction.")
            lines += self._sizes.lines("orchestrator_transaction_commits", "")
            lines += _head("handler_seconds", "histogram", "Time in handlers, but for transactional ones.")
            for values, histogram in self._seconds.items():
                labels = _labels(("flow", "step", "method"), values)
                lines += histogram.lines("orchestrator_handler_seconds", labels)
        return "\n".join([*lines, ""])


def _head(name: str, kind: str, help: str) -> list[str]:
    return [f"# HELP orchestrator_{name} {help}", f"# TYPE orchestrator_{name} {kind}"]


def _family(
    name: str, kind: str, help: str, values: Mapping[tuple[tuple[str, str], ...], float]
) -> list[str]:
    lines = _head(name, kind, help)
    for labels, value in values.items():
        shown = _labels((key for key, _ in labels), (text for _, text in labels))
        lines.append(f"orchestrator_{name}{f'{{{shown}}}' if shown else ''} {value}")
    return lines


def _labelled(counts: Mapping[Labels, int], *names: str) -> Values:
    return {tuple(zip(names, values, strict=True)): count for values, count in counts.items()}


def _labels(names: Iterable[str], values: Iterable[str]) -> str:
    return ",".join(f'{name}="{_escape(value)}"' for name, value in zip(names, values, strict=True))


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
