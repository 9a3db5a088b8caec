"""Several processes on one file: doorbell, shared runs, take-over at once, SIGTERM."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.core.migration.comparison import Comparison
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.migrating import migrate_runs, survey
from orchestrator.engine.worker import Worker
from tests.support.engine_kit import PATIENCE, flow_of

ROOT = Path(__file__).parents[2]
Spawn = Callable[[Path], "subprocess.Popen[str]"]

BLOCKING = flow_of(
    """
flow: Blocking
handlers: tests.support.process_handlers
input: string
channels:
  go: {type: string, external: true}
start: Ask
steps:
  Ask:
    input: string
    wait_for: {until: {channel: go}}
    go_to: Work
  Work: {input: string, execute: wait_for_file, graceful_complete: "${result}"}
"""
)
SHARED = flow_of(
    """
flow: Shared
handlers: tests.support.process_handlers
input: list of integer
output: integer
channels:
  done: integer
start: Split
steps:
  Split:
    input: list of integer
    go_to_many:
      - {for_each: "${input}", as: number, step: Branch, input: "${number}"}
      - {step: Collect, input: "${size(input)}"}
  Branch:
    input: integer
    execute: who
    publish: {done: "${result}"}
    dead_end: true
  Collect:
    input: integer
    wait_for: {until: {channel: done, for: "${input}"}}
    graceful_complete: "${size(wait.done.messages)}"
"""
)


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Starts worker processes; those still there at the end are killed."""
    processes: list[subprocess.Popen[str]] = []

    def start(database: Path) -> "subprocess.Popen[str]":
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tests.support.engine_peer", str(database)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def test_a_message_from_here_moves_a_run_there(tmp_path: Path, spawn: Spawn) -> None:
    spawn(tmp_path / "runs.db")
    replace_pipes(tmp_path)
    with Client(str(tmp_path / "runs.db")) as client:
        client.start(BLOCKING, "run-1", str(tmp_path / "file"))
        client.publish("run-1", "go", "now")
        assert client.wait("run-1", timeout=PATIENCE)["status"] == "COMPLETED"


def test_sigterm_lets_the_running_handler_finish(tmp_path: Path, spawn: Spawn) -> None:
    worker = spawn(tmp_path / "runs.db")
    with Client(str(tmp_path / "runs.db")) as client:
        client.start(BLOCKING, "run-1", str(tmp_path / "file"))
        client.publish("run-1", "go", "now")
        await_file(tmp_path / "file.begun")
        worker.send_signal(signal.SIGTERM)
        (tmp_path / "file").write_text("go on")
        assert worker.stdout is not None
        assert worker.stdout.readline() == "drained\n"
        assert worker.wait(PATIENCE) == 0
        run = client.describe("run-1")
        assert run["status"] == "COMPLETED"
        assert run["outputs"][0]["output"] == worker.pid


def await_file(path: Path) -> None:
    """Handlers of other processes tell by files; a pipe makes the wait one without polling."""
    with path.open() as begun:
        begun.read()


@pytest.fixture(autouse=True)
def _pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file.begun")
    os.mkfifo(tmp_path / "file")


def replace_pipes(directory: Path) -> None:
    """From now on handlers neither tell nor wait."""
    (directory / "file.begun").unlink()
    (directory / "file").unlink()
    (directory / "file").touch()


def test_the_step_of_a_killed_worker_is_taken_over_at_once(tmp_path: Path, spawn: Spawn) -> None:
    """Without waiting until its lease has run out: its process is seen to be gone."""
    worker = spawn(tmp_path / "runs.db")
    engine = Engine(str(tmp_path / "runs.db"))
    client = Client(engine)
    client.start(BLOCKING, "run-1", str(tmp_path / "file"))
    client.publish("run-1", "go", "now")
    await_file(tmp_path / "file.begun")
    worker.kill()
    worker.wait()
    replace_pipes(tmp_path)
    with Worker(engine, search_path=[ROOT]):
        run = client.wait("run-1", timeout=5)
    assert run["outputs"][0]["output"] == os.getpid()
    engine.close()


def test_two_workers_share_one_run_and_lose_nothing(tmp_path: Path, spawn: Spawn) -> None:
    first, second = spawn(tmp_path / "runs.db"), spawn(tmp_path / "runs.db")
    with Client(str(tmp_path / "runs.db")) as client:
        for number in range(3):
            client.start(SHARED, f"run-{number}", list(range(60)))
        for number in range(3):
            run = client.wait(f"run-{number}", timeout=60)
            assert run["status"] == "COMPLETED"
            assert run["outputs"][0]["output"] == 60
            history = client.history(f"run-{number}")
            assert [row["version"] for row in history] == list(range(1, len(history) + 1))
            ended = [row["step_execution_id"] for row in history if row["event"] == "ExecuteSucceeded"]
            assert len(ended) == len(set(ended)) == 61
    assert first.poll() is second.poll() is None


NEXT = flow_of(
    """
flow: Blocking
handlers: tests.support.process_handlers
input: string
channels:
  go: {type: string, external: true}
start: Ask
steps:
  Ask:
    input: string
    wait_for: {until: {channel: go}}
    go_to: Work
  Work: {input: string, execute: wait_for_file, go_to: {step: Tell, input: "${result}"}}
  Tell: {input: integer, execute: who, graceful_complete: "${[input, result]}"}
"""
)


def move(engine: Engine) -> list[bool]:
    case = Comparison(BLOCKING, NEXT)
    return [each.is_moved for each in migrate_runs(engine, case, survey(engine, case))]


def test_a_run_moves_to_another_definition_while_a_handler_works_there(tmp_path: Path, spawn: Spawn) -> None:
    worker = spawn(tmp_path / "runs.db")
    with Client(str(tmp_path / "runs.db")) as client:
        client.start(BLOCKING, "run-1", str(tmp_path / "file"))
        client.publish("run-1", "go", "now")
        await_file(tmp_path / "file.begun")
        assert move(client.engine) == [True]
        (tmp_path / "file").write_text("go on")
        run = client.wait("run-1", timeout=PATIENCE)
        assert (run["status"], run["definition"]) == ("COMPLETED", NEXT.hash)
        assert run["outputs"][0]["output"] == [worker.pid, worker.pid]
        events = [commit["event"] for commit in client.history("run-1")]
    assert events[-3:] == ["RunMigrated", "ExecuteSucceeded", "ExecuteSucceeded"]


def test_a_handler_that_dies_after_its_run_was_moved_is_called_anew(tmp_path: Path, spawn: Spawn) -> None:
    worker = spawn(tmp_path / "runs.db")
    with Client(str(tmp_path / "runs.db")) as client:
        client.start(BLOCKING, "run-1", str(tmp_path / "file"))
        client.publish("run-1", "go", "now")
        await_file(tmp_path / "file.begun")
        assert move(client.engine) == [True]
        worker.kill()
        worker.wait()
        replace_pipes(tmp_path)
        other = spawn(tmp_path / "runs.db")
        run = client.wait("run-1", timeout=PATIENCE)
        assert (run["status"], run["definition"]) == ("COMPLETED", NEXT.hash)
        assert run["outputs"][0]["output"] == [other.pid, other.pid]
