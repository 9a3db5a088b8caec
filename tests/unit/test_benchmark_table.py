"""The table of the benchmarks says what is reached, and never more than was measured."""

from __future__ import annotations

from tests.benchmarks.goals import ROWS, Goal
from tests.benchmarks.measure import Line
from tests.benchmarks.peers import PEERS
from tests.benchmarks.table import table
from tests.benchmarks.workloads import FLOORS, WORKLOADS


def test_medians_and_shares_are_shown_and_what_is_missed_stands_out() -> None:
    lines: list[Line] = [
        *({"system": "orchestrator", "workload": "W1c1", "steps_s": each} for each in (800.0, 1000.0, 900.0)),
        {"system": "floor", "workload": "W1c1", "steps_s": 1000.0},
        {"system": "DBOS", "workload": "W1c1", "steps_s": 300.0},
        {"system": "Restate", "workload": "W1c1", "error": "no server"},
        {"system": "orchestrator", "workload": "W5", "seconds": 0.3, "help_s": 0.2},
        {"system": "DBOS", "workload": "W5", "seconds": 1.5},
    ]
    rows = table(lines).splitlines()
    assert rows[2] == (
        "| W1c1: flows of 10 steps, one at a time, steps/s | ≥ 1 x floor | 900 (800 to 1,000) | "
        "**no** (0.90 x) | 1,000: 0.90 x | 300: 3.0 x |  |  |  |"
    )
    assert rows[3].startswith(
        "| W5: a fresh process, a new file, 3 steps, exit, s | ≤ 0.45 | 0.3 | yes |  | 1.5: 5.0 x |"
    )
    assert rows[4].startswith("| W5: `--help`, s | ≤ 0.15 | 0.2 | **no** |")
    assert len(rows) == 5


def test_a_multiple_of_what_was_not_measured_is_not_claimed() -> None:
    assert Goal(50, "DBOS").is_reached(1e9, None) is None
    assert Goal(50, "DBOS").is_reached(100, 2) is True
    assert Goal(1.1, is_limit=True).is_reached(1.2, None) is False


def test_rows_and_other_systems_name_workloads_that_there_are() -> None:
    known = WORKLOADS.keys()
    assert {row.workload for row in ROWS} <= known
    assert {goal.of for row in ROWS for goal in row.goals} <= {None, "floor", "DBOS", *known}
    assert FLOORS.keys() <= known
    assert {workload for peer in PEERS for workload in peer.counts} <= known
