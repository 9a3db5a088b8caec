"""`python -m tests.benchmarks.session OUT`: floor, ours and other systems in turns.

Each measurement is a line of JSON, appended to OUT; `python -m tests.benchmarks.table OUT` makes the table.
All use one PostgreSQL server, which is started here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.benchmarks import server
from tests.benchmarks.measure import Line
from tests.benchmarks.peers import PEERS, measure_peer
from tests.benchmarks.workloads import FLOORS, WORKLOADS
from tests.support import postgres

Measure = Callable[[], Line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=" ".join(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the usual numbers of flows")
    parser.add_argument("--bench-folder", type=Path, help="programs that measure other systems (peers.py)")
    parser.add_argument("--environments", type=Path, help="their virtual environments")
    asked = parser.parse_args()
    run_session(
        asked.workloads or list(WORKLOADS),
        rounds=asked.rounds,
        programs=asked.bench_folder,
        environments=asked.environments,
        scale=asked.scale,
        out=asked.out,
    )


def run_session(
    workloads: Sequence[str],
    *,
    rounds: int,
    programs: Path | None,
    environments: Path | None,
    scale: float,
    out: Path,
) -> None:
    """`programs` and `environments`: see peers.py; without them only the floor and ours are measured."""
    with ExitStack() as stack, out.open("a", encoding="utf-8") as lines:
        data = stack.enter_context(server.running_server())
        os.environ[postgres.SERVER] = server.url()
        os.environ["BENCH_SCRATCH"] = stack.enter_context(tempfile.TemporaryDirectory(prefix="peers-"))
        for number in range(1, rounds + 1):
            for workload in workloads:
                for measure in _turns(workload, number, programs, environments, data, scale):
                    started = time.perf_counter()
                    line = measure() | {"round": number}
                    line["took_s"] = round(time.perf_counter() - started, 1)
                    line["load"] = round(os.getloadavg()[0], 2)
                    print(json.dumps(line), file=lines, flush=True)
                    print(json.dumps(line), flush=True)


def _turns(
    workload: str, number: int, programs: Path | None, environments: Path | None, data: Path, scale: float
) -> Iterator[Measure]:
    if workload in FLOORS:
        yield partial(measure_in_process, "floor", workload, scale)
    yield partial(measure_in_process, "orchestrator", workload, scale)
    if programs is None or environments is None:
        return
    for peer in PEERS:
        if workload in peer.counts and (number == 1 or workload not in peer.once):
            yield partial(measure_peer, peer, workload, programs, environments, data)


def measure_in_process(system: str, workload: str, scale: float) -> Line:
    """Every measurement is a process of its own."""
    known = FLOORS if system == "floor" else WORKLOADS
    assert workload in known
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks",
        "--one",
        f"{system}/{workload}",
        "--scale",
        str(scale),
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        return {"system": system, "workload": workload, "error": done.stderr[-300:]}
    line: Line = json.loads(done.stdout)
    return line


if __name__ == "__main__":
    main()
