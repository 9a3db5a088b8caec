"""The process of W5."""

from __future__ import annotations

import sys

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from tests.benchmarks.flows import sequence


def main() -> None:
    engine = Engine(sys.argv[1])
    client = Client(engine)
    client.start(sequence(3), "short")
    with Worker(engine) as worker:
        run = worker.run_until_closed("short")
    engine.close()
    if run["status"] != "COMPLETED":
        raise SystemExit(str(run))


if __name__ == "__main__":
    main()
