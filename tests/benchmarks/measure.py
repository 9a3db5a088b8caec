"""Clocks, percentiles, and how busy the machine was meanwhile."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

Line = dict[str, Any]


def spin() -> float:
    """Milliseconds for a fixed piece of work: raised, somebody else used the cores."""
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        total = 0
        for number in range(400_000):
            total += number & 3
        best = min(best, time.perf_counter() - started)
    return round(best * 1000, 1)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def in_milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)


def summarize(lines: Sequence[Line], figure: str) -> Line:
    """Median and spread of one figure."""
    values = [line[figure] for line in lines]
    return {
        "workload": lines[0]["workload"],
        "system": lines[0]["system"],
        "figure": figure,
        "median": round(statistics.median(values), 3),
        "least": min(values),
        "most": max(values),
        "runs": len(values),
    }
