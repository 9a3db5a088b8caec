"""Following a run that others work on: `watch`."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from orchestrator.cli.options import Format
from orchestrator.cli.progress import shown, summary
from orchestrator.cli.session import now, open_client
from orchestrator.cli.terminal import is_terminal, say_at_once
from orchestrator.engine.client import Client

SECONDS_BETWEEN_LOOKS = 0.1


def follow(flow_id: str, db: str | None, output: Format) -> dict[str, Any]:
    """Show every change until the run is closed; gives it as `describe` does."""
    with open_client(db) as client:
        if output is Format.TEXT and is_terminal(sys.stderr):
            with shown(lambda: client.progress(flow_id)):
                closed: dict[str, Any] = client.wait(flow_id)
            return closed
        return _tell_changes(client, flow_id, output)


def _tell_changes(client: Client, flow_id: str, output: Format) -> dict[str, Any]:
    """A line for each change: the run as JSON, or a summary."""
    pause = threading.Event()
    previous = ""
    while True:
        run, done_count = client.progress(flow_id)
        if output in {Format.TEXT, Format.JSONL}:
            as_json = output is Format.JSONL
            line = json.dumps(run, ensure_ascii=False) if as_json else summary(run, done_count, now())
            if line != previous:
                say_at_once(line, is_data=as_json)
            previous = line
        if run["status"] != "RUNNING":
            return run
        pause.wait(SECONDS_BETWEEN_LOOKS)
