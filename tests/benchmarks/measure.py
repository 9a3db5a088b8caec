"""Clocks, percentiles, and how busy the machine was meanwhile."""

from __future__ import annotations

import os
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
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


def resident_kilobytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise OSError("no VmRSS in /proc/self/status")


def cpu_of_tree(root: int) -> float:
    """CPU seconds of a process and of all that came from it, also of those that have ended."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    ticks: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks[int(name)] = sum(map(int, fields[11:15]))
        children[int(fields[1])].append(int(name))
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        total += ticks.get(process, 0)
        waiting += children[process]
    return total / os.sysconf("SC_CLK_TCK")


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
