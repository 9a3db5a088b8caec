"""Two worker processes and a client share the few connections of a pooler."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.engine.client import Client
from tests.support import pooler
from tests.support.engine_kit import flow_of

ROOT = Path(__file__).parents[2]
RUNS = [f"run-{number}" for number in range(6)]
SPLIT = flow_of(
    """
flow: Split
handlers: tests.support.engine_handlers
channels: {go: {type: integer, external: true}}
output: list of integer
joins: {done: integer}
start: Begin
steps:
  Begin:
    wait_for: {until: {channel: go, id: go}}
    join: done
    go_to_many:
      - {for_each: "${[1, 2, 3, 4]}", step: Part}
      - {step: Collect, branch: false}
  Part:
    input: integer
    execute: note
    report: {done: "${input}"}
    dead_end: true
  Collect:
    wait_for: {all_of: [{join: done}]}
    graceful_complete: "${wait.done.messages}"
"""
)


@pytest.fixture
def url() -> Iterator[str]:
    with pooler.database() as made:
        yield made


@pytest.fixture
def workers(url: str) -> "Iterator[list[subprocess.Popen[str]]]":
    command = [sys.executable, "-m", "tests.support.engine_peer", url]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    yield started
    for each in started:
        each.kill()
        each.communicate()


def test_workers_and_a_client_get_along_behind_a_pooler(
    url: str, workers: "list[subprocess.Popen[str]]"
) -> None:
    with Client(url) as client:
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "working\n"
        for flow_id in RUNS:
            client.start(SPLIT, flow_id)
            client.publish(flow_id, "go", 1)
        for flow_id in RUNS:
            run = client.wait(flow_id, timeout=100)
            assert sorted(run["outputs"][0]["output"]) == [1, 2, 3, 4]
            versions = [commit["version"] for commit in client.history(flow_id)]
            assert versions == list(range(1, len(versions) + 1))
        for worker in workers:
            worker.terminate()
            assert worker.communicate(timeout=60)[0] == "drained\n"
