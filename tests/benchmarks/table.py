"""`python -m tests.benchmarks.table OUT [--into docs/performance.md]`: the table, from a session's lines.

With `--into` what stands between the two comments of that page is replaced.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.benchmarks.goals import ROWS, Goal, Row
from tests.benchmarks.measure import Line

OURS = "orchestrator"
OTHERS = ("DBOS", "Restate", "Temporal dev", "LangGraph")
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


class Figures:
    """By system, workload and figure."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._values: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
        for line in lines:
            for figure, value in line.items():
                if isinstance(value, int | float):
                    self._values[line["system"], line["workload"], figure].append(value)

    def values(self, system: str, workload: str, figure: str) -> list[float]:
        return self._values.get((system, workload, figure), [])

    def median(self, system: str, workload: str, figure: str) -> float | None:
        values = self.values(system, workload, figure)
        return statistics.median(values) if values else None


def table(lines: Iterable[Line]) -> str:
    figures = Figures(lines)
    heads = (
        "workload",
        "goal",
        "ours",
        "reached",
        "floor: ours is",
        *(f"{each}: ours is" for each in OTHERS),
    )
    rows = [heads, ("---",) * len(heads)]
    rows += [_row(figures, row) for row in ROWS if figures.values(OURS, row.workload, row.figure)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows) + "\n"


def _row(figures: Figures, row: Row) -> tuple[str, ...]:
    values = figures.values(OURS, row.workload, row.figure)
    ours = statistics.median(values)
    return (
        f"{row.workload}: {row.what}, {row.unit}",
        ", ".join(goal.text for goal in row.goals),
        _spread(values),
        ", ".join(_reached(figures, row, goal, ours) for goal in row.goals),
        *(
            _compared(figures.median(system, row.workload, row.figure), ours, row)
            for system in ("floor", *OTHERS)
        ),
    )


def _reached(figures: Figures, row: Row, goal: Goal, ours: float) -> str:
    reference = None
    if goal.of is not None:
        is_system = goal.of in ("floor", *OTHERS)
        system, workload = (goal.of, row.workload) if is_system else (OURS, goal.of)
        reference = figures.median(system, workload, row.figure)
    reached = goal.is_reached(ours, reference)
    share = f" ({ours / reference:.2f} x)" if reference else ""
    return ("not compared" if reached is None else "yes" if reached else "**no**") + share


def _compared(theirs: float | None, ours: float, row: Row) -> str:
    """Their median, and how many times better ours is."""
    if theirs is None:
        return ""
    if not theirs or not ours:
        return _number(theirs)
    return f"{_number(theirs)}: {_factor(theirs / ours if row.is_time else ours / theirs)} x"


def _spread(values: Sequence[float]) -> str:
    median = _number(statistics.median(values))
    return f"{median} ({_number(min(values))} to {_number(max(values))})" if len(values) > 1 else median


def _factor(factor: float) -> str:
    return f"{factor:.0f}" if factor >= 10 else f"{factor:.1f}" if factor >= 2 else f"{factor:.2f}"


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", nargs="+", type=Path, metavar="OUT")
    parser.add_argument("--into", type=Path)
    asked = parser.parse_args()
    made = table(json.loads(line) for path in asked.lines for line in path.read_text().splitlines())
    if asked.into is None:
        print(made, end="")
        return
    page = asked.into.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    asked.into.write_text(f"{before}{BEGIN}\n\n{made}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
