"""Counters and histograms, and how Prometheus reads them: text format, version 0.0.4. Not locked."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "orchestrator_"
Values: TypeAlias = Mapping[tuple[tuple[str, str], ...], float]
"""By labels, names and texts."""


class Counter:
    """`add("Order", "Charge")`: one more of these labels."""

    def __init__(self, name: str, help: str, *labels: str) -> None:
        self.name, self.help, self._labels = name, help, labels
        self._counts: dict[tuple[str, ...], int] = defaultdict(int)
        if not labels:
            self._counts[()] = 0

    def add(self, *values: str, count: int = 1) -> None:
        self._counts[values] += count

    def lines(self) -> Iterator[str]:
        values = {
            tuple(zip(self._labels, texts, strict=True)): count for texts, count in self._counts.items()
        }
        return family(self.name, "counter", self.help, values)


class Histogram:
    """`note(0.5, "Order")`: how often values were up to each of `bounds`, by labels."""

    def __init__(self, name: str, help: str, bounds: tuple[float, ...], *labels: str) -> None:
        self.name, self.help, self._labels, self._bounds = name, help, labels, bounds
        self._buckets: dict[tuple[str, ...], tuple[list[int], list[float]]] = {}
        """Counts of each bucket by itself, the last is above all bounds; and the sum."""
        if not labels:
            self._bucket(())

    def _bucket(self, texts: tuple[str, ...]) -> tuple[list[int], list[float]]:
        return self._buckets.setdefault(texts, ([0] * (len(self._bounds) + 1), [0.0]))

    def note(self, value: float, *texts: str) -> None:
        counts, total = self._buckets.get(texts) or self._bucket(texts)
        counts[bisect_left(self._bounds, value)] += 1
        total[0] += value

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, "histogram", self.help)
        for texts, (counts, total) in self._buckets.items():
            labels = tuple(zip(self._labels, texts, strict=True))
            below = 0
            for bound, count in zip((*self._bounds, None), counts, strict=True):
                below += count
                le = f"{bound:g}" if bound is not None else "+Inf"
                yield f"{PREFIX}{self.name}_bucket{_braced((*labels, ('le', le)))} {below}"
            yield f"{PREFIX}{self.name}_sum{_braced(labels)} {total[0]!r}"
            yield f"{PREFIX}{self.name}_count{_braced(labels)} {below}"


def family(name: str, kind: str, help: str, values: Values) -> Iterator[str]:
    yield from _head(name, kind, help)
    for labels, value in values.items():
        yield f"{PREFIX}{name}{_braced(labels)} {value}"


def _head(name: str, kind: str, help: str) -> Iterator[str]:
    yield f"# HELP {PREFIX}{name} {help}"
    yield f"# TYPE {PREFIX}{name} {kind}"


def _braced(labels: Iterable[tuple[str, str]]) -> str:
    shown = ",".join(f'{name}="{_escape(text)}"' for name, text in labels)
    return f"{{{shown}}}" if shown else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
