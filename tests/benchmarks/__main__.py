"""`python -m tests.benchmarks [W1c1 W2 …] [--repeat N] [--scale 1]`: JSON lines, medians, share of the floor.

Every measurement is a process of its own; ours and the floor take turns, so that neighbours disturb both.
`W1c1-pg` and the like run on PostgreSQL, on the server named by ORCHESTRATOR_TEST_POSTGRES or one of our own.
`python -m tests.benchmarks soak --help`: not how fast, but that nothing is lost (soak.py).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks.measure import Line, spin, summarize
from tests.benchmarks.session import measure_in_process
from tests.benchmarks.workloads import FLOORS, WORKLOADS
from tests.support import postgres


def main() -> None:
    if sys.argv[1:2] == ["soak"]:
        from tests.benchmarks import soak

        sys.exit(soak.main(sys.argv[2:]))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=" ".join(WORKLOADS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the usual numbers of flows")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        _measure(*asked.one.split("/"), scale=asked.scale)
        return
    if any(name.endswith("-pg") for name in asked.workloads or WORKLOADS):
        os.environ[postgres.SERVER] = postgres.server_url(is_durable=True)  # one for all
    for name in asked.workloads or WORKLOADS:
        if name not in WORKLOADS:
            parser.error(f"there is no workload {name}; there are {' '.join(WORKLOADS)}")
        _compare(name, asked.repeat, asked.scale)


def _compare(name: str, repeat: int, scale: float) -> None:
    lines: dict[str, list[Line]] = {"floor": [], "orchestrator": []}
    for _ in range(repeat):
        for system in lines:
            if system == "orchestrator" or name in FLOORS:
                line = measure_in_process(system, name, scale)
                print(json.dumps(line), flush=True)
                if "error" in line:
                    raise SystemExit(1)
                lines[system].append(line)
    figure = WORKLOADS[name][2]
    ours = summarize(lines["orchestrator"], figure)
    print(json.dumps(ours), flush=True)
    if lines["floor"]:
        floor = summarize(lines["floor"], figure)
        share = round(ours["median"] / floor["median"], 2)
        print(json.dumps({**floor, "ours_to_floor": share}), flush=True)


def _measure(system: str, name: str, *, scale: float) -> None:
    workload, count, _ = (FLOORS if system == "floor" else WORKLOADS)[name]
    before, cpu_before = spin(), time.process_time()
    with ExitStack() as stack:
        if name.endswith("-pg"):
            place = stack.enter_context(postgres.database())
        else:
            place = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "bench.db")
        figures = workload(place, max(1, int(count * scale)))
    cpu = round(time.process_time() - cpu_before, 3)
    line = {"system": system, "workload": name, **figures, "cpu_s": cpu, "spin_ms": [before, spin()]}
    print(json.dumps(line))


if __name__ == "__main__":
    main()
