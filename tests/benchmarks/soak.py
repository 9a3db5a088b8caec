"""`python -m tests.benchmarks soak --db sqlite --minutes 5 --seed 1 --workers 4 [--faults kill,freeze]`.

Real workers and clients on one store for so long, disturbed all the time; then everything is looked at. The
report is printed, and written as JSON where `--report` says. Exit code 1: something was lost or wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from tests.faults.crew import Host
from tests.faults.injecting import FAULTS, can_mount
from tests.faults.server import cluster
from tests.faults.trial import Plan, perform


def main(words: list[str]) -> int:
    """The exit code."""
    plan, keep, report_path = _read(words)
    with ExitStack() as stack:
        directory = keep or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="orchestrator-soak-"))
        )
        directory.mkdir(parents=True, exist_ok=True)
        host = stack.enter_context(closing(Host(directory / "host.log")))
        server = stack.enter_context(cluster()) if plan.db == "postgres" else None
        report = perform(plan, host, directory, server, lambda text: print(text, flush=True))
    if report_path is not None:
        report_path.write_text(json.dumps(report, indent=2) + "\n")
    print(as_text(report))
    return 1 if report["wrong"] else 0


def _read(words: list[str]) -> tuple[Plan, Path | None, Path | None]:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks soak", description=__doc__)
    parser.add_argument("--db", choices=sorted(FAULTS), default="sqlite")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--faults", help="some of those of the database, by default all, with commas between")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two faults, at most")
    parser.add_argument("--report", type=Path, metavar="FILE", help="where the report goes as JSON")
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY", help="for database, ledgers and logs")
    asked = parser.parse_args(words)
    faults = tuple(asked.faults.split(",")) if asked.faults else FAULTS[asked.db]
    if unknown := set(faults) - set(FAULTS[asked.db]):
        parser.error(
            f"{asked.db} has no fault {', '.join(sorted(unknown))}; it has {', '.join(FAULTS[asked.db])}"
        )
    plan = Plan(
        asked.db,
        asked.seed,
        faults,
        minutes=asked.minutes,
        workers=asked.workers,
        clients=asked.clients,
        pause=asked.pause,
        mounts=can_mount(),
    )
    return plan, asked.keep, asked.report


def as_text(report: dict[str, Any]) -> str:
    injected = ", ".join(f"{count} {kind}" for kind, count in report["injected"].items()) or "none"
    work = ", ".join(f"{count} {what}" for what, count in report["work"].items())
    lines = [
        f"{report['db']}, seed {report['seed']}, {report['workers']} workers, {report['clients']} clients",
        f"time: {report['seconds']} s",
        f"faults injected: {injected}; processes killed: {report['processes killed']}",
        f"work done: {work}",
        "checked:",
        *(f"  - {each}" for each in report["checked"]),
        *(f"WRONG: {each}" for each in report["wrong"]),
        f"verdict: {report['verdict']}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
