"""How the other systems are measured: programs of a folder, one virtual environment for each system.

The folder has `SYSTEM_bench.py` programs, each of which measures one workload and prints one JSON line; the
environments are called after the systems: `dbos`, `langgraph`, `temporal`, `restate` (with `npm/node_modules`
beside them for its server).
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import server
from tests.benchmarks.measure import Line


@dataclass(frozen=True)
class Peer:
    system: str
    """As the table calls it."""
    environment: str
    words: tuple[str, ...]
    """After the program, before the workload."""
    counts: dict[str, int | None]
    """How many flows or messages, by workload; None: as the program has it. Others are not measured."""
    once: tuple[str, ...] = ()
    """Workloads that take long: measured in the first round only."""


PEERS = (
    Peer(
        "DBOS",
        "dbos",
        ("sqlite",),
        {"W1c1": 40, "W1c100": 150, "W2": 500, "W3": 20, "W4": 500, "W5": None, "W6": 400},
        once=("W4",),
    ),
    Peer("DBOS", "dbos", ("pg",), {"W1c1-pg": 40, "W1c100-pg": 150, "W3-pg": 100}),
    Peer(
        "Restate",
        "restate",
        (),
        {"W1c1": 40, "W1c100": 150, "W2": 500, "W3": 100, "W5": None, "W6": 500},
    ),
    Peer(
        "Temporal dev",
        "temporal",
        (),
        {"W1c1": 6, "W1c100": 50, "W2": 500, "W3": 60, "W4": 500, "W5": None, "W6": 100},
        once=("W4", "W6"),
    ),
    Peer(
        "LangGraph",
        "langgraph",
        (),
        {"W1c1": 60, "W1c100": 200, "W2": 1000, "W3": 200, "W4": 1000, "W5": None, "W6": 400},
    ),
)
_FIGURES = {
    "wall_s": "seconds",
    "cli_help_s": "help_s",
    "creates_per_s": "creates_s",
    "kb_per_flow": "kb_per_run",
    "bytes_per_step": "bytes_per_step",
}
_KEPT = (
    *("steps_s", "branches_s", "p50_ms", "p99_ms", "creates_s", "resumes_s", "kb_per_run", "seconds"),
    *("help_s", "slowdown", "bytes_per_step", "version", "foreign_cores"),
)
_TIME_LIMIT = 180


def measure_peer(peer: Peer, workload: str, programs: Path, environments: Path, data: Path) -> Line:
    """One line; with `error` when it failed or took too long."""
    program = programs / f"{peer.environment}_bench.py"
    count = peer.counts[workload]
    command = [
        str(environments / peer.environment / "bin" / "python"),
        str(program),
        *peer.words,
        workload.removesuffix("-pg"),
        *([] if count is None else [str(count)]),
    ]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(server.programs()), os.environ.get("PATH", ""))),
        "BENCH_PG_DATA": str(data),
        "BENCH_NODE_MODULES": str(environments / "npm" / "node_modules"),
    }
    line: Line = {"system": peer.system, "workload": workload}
    try:
        done = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True, timeout=_TIME_LIMIT
        )
        return line | _figures(json.loads(done.stdout.strip().splitlines()[-1]))
    except subprocess.CalledProcessError as error:
        return line | {"error": error.stderr[-300:]}
    except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
        return line | {"error": str(error)[-300:]}


def _figures(told: Line) -> Line:
    named = {_FIGURES.get(name, name): value for name, value in told.items()}
    return {name: named[name] for name in _KEPT if name in named}
