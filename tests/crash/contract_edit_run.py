"""The process that the crash test kills: start or resume one ContractEditFlow and work until it is closed."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

from orchestrator.definition.parse import parse
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.errors import AlreadyStarted

ROOT = Path(__file__).parents[2]
EDITS = [
    {"reviewer": "Ada"},
    {"reviewer": "Ben", "should_withdraw": True},
    {"reviewer": "Chloe", "should_fail_handoff": True},
    {"reviewer": "Dev", "should_fail_edit": True},
]


def main() -> None:
    engine = Engine(sys.argv[1])
    client = Client(engine)
    text = (ROOT / "flows" / "contract_edit.flow.yaml").read_text()
    flow, problems = parse(text.replace("initial_interval: 1s", "initial_interval: 5ms"), "edit.flow.yaml")
    assert flow is not None, problems
    with contextlib.suppress(AlreadyStarted):
        client.start(flow, "edit", EDITS)
    worker = Worker(engine, search_path=[ROOT], concurrency=2)
    worker.start()
    run = worker.run_until_closed("edit")
    worker.stop()
    engine.close()
    print(json.dumps(run))


if __name__ == "__main__":
    main()
