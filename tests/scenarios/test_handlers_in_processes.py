"""Handlers in child processes: the same as in threads, and whatever becomes of their process."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orchestrator.definition.model import Flow
from orchestrator.engine.client import Client
from orchestrator.engine.worker import Worker
from orchestrator.errors import UsageError
from orchestrator.store.bodies import Bodies
from orchestrator.store.codecs import Compression
from tests.support.engine_kit import PATIENCE, Kit, flow_of

ROOT = Path(__file__).parents[2]
ONE = """
flow: One
handlers: tests.support.pooled_handlers
input: any
output: any
channels:
  news: {type: string, external: true}
start: Work
steps:
  Work:
    input: any
    execute: {handler: %s, timeout: 1h%s}
    graceful_complete: "${result}"
"""


TWICE = ", retry: {initial_interval: 1ms, maximum_attempts: 2}"
ONCE = ", retry: {maximum_attempts: 1}"


def one(handler: str, more: str = TWICE) -> Flow:
    return flow_of(ONE % (handler, more))


@contextmanager
def pooling(kit: Kit, *names: str, processes: int | None = 1) -> Iterator[Worker]:
    worker = Worker(kit.engine, concurrency=2, run_in_process=names or ("One/Work",), processes=processes)
    worker.start()
    try:
        yield worker
    finally:
        worker.stop(grace=0)


def run(kit: Kit, flow: Flow, input: Any = None, *names: str) -> dict[str, Any]:
    kit.client.start(flow, "r", input)
    with pooling(kit, *names) as worker:
        return worker.run_until_closed("r")


@pytest.fixture
def pipes(tmp_path: Path) -> Path:
    for name in ("begun", "word"):
        os.mkfifo(tmp_path / name)
    return tmp_path


def meet(pipes: Path) -> int:
    """The process id of the handler that has come to the meeting."""
    return int((pipes / "begun").read_text())


def say(pipes: Path, word: str) -> None:
    (pipes / "word").write_text(word)


def failures(client: Client) -> list[dict[str, Any]]:
    """Of all attempts."""
    changes = [change for commit in client.history("r") for change in commit["changes"]]
    return [change["failure"] for change in changes if change.get("failure") is not None]


def only_failure(kit: Kit, flow: Flow, input: Any = None) -> dict[str, Any]:
    assert run(kit, flow, input)["status"] == "FAILED"
    (failure,) = failures(kit.client)
    return failure


# --- The same as in threads ---


@pytest.mark.parametrize("handler", ["who", "who_async"])
def test_it_runs_in_another_process(kit: Kit, handler: str) -> None:
    closed = run(kit, one(handler))
    assert closed["status"] == "COMPLETED"
    assert closed["outputs"][0]["output"] != os.getpid()


@pytest.mark.parametrize(
    "name", ["tests.support.pooled_handlers:who", "One/Work"], ids=["by function", "by step"]
)
def test_it_is_named_by_function_or_by_step(kit: Kit, name: str) -> None:
    assert run(kit, one("who"), None, name)["outputs"][0]["output"] != os.getpid()


def test_what_is_not_named_runs_here(kit: Kit) -> None:
    assert run(kit, one("who"), None, "One/Other")["outputs"][0]["output"] == os.getpid()


@pytest.mark.parametrize(("processes", "is_elsewhere"), [(None, True), (0, False)])
def test_a_module_names_its_own(kit: Kit, processes: int | None, is_elsewhere: bool) -> None:
    kit.client.start(one("marked"), "r")
    worker = Worker(kit.engine, processes=processes)
    worker.run_until_closed("r")
    worker.stop()
    assert (kit.client.describe("r")["outputs"][0]["output"] != os.getpid()) == is_elsewhere


def test_the_process_is_kept_warm(kit: Kit) -> None:
    flow = one("who")
    with pooling(kit) as worker:
        pids = set()
        for number in range(3):
            kit.client.start(flow, f"r{number}")
            pids.add(worker.run_until_closed(f"r{number}")["outputs"][0]["output"])
    assert len(pids) == 1


EVERYTHING = flow_of(
    """
flow: One
handlers: tests.support.pooled_handlers
input: any
output: any
attributes:
  total: {type: integer}
  progress: {type: integer, map: true}
channels:
  go: {type: string, external: true}
  news: string
  old: {type: string, external: true}
start: Begin
steps:
  Begin:
    input: any
    go_to_many:
      - {step: Work, input: "${input}"}
      - Idle
  Idle:
    wait_for: {until: {timer: 1h}}
    dead_end: true
  Work:
    input: any
    wait_for: {handler: prepare, conditions: {go: {channel: go}}}
    execute:
      handler: everything
      may: {set: [total, progress], publish: [news], cancel: [Idle]}
      loads: [progress, {channel: old}]
    graceful_complete: "${result}"
"""
)


def test_effects_and_reads_are_those_of_a_thread(kit: Kit) -> None:
    """The same run once in a thread, once in a process: all it leaves behind is the same."""
    seen = []
    for flow_id, names in (("here", ("One/Nothing",)), ("there", ("One/Work",))):
        attributes = {"total": 1, "progress": {"a": 1}}
        kit.client.start(EVERYTHING, flow_id, {"x": [1, None, "é"]}, attributes=attributes)
        kit.client.publish(flow_id, "old", "unread")
        kit.client.publish(flow_id, "go", "now")
        with pooling(kit, *names) as worker:
            closed = worker.run_until_closed(flow_id)
        output = closed["outputs"][0]["output"]
        pids = {output.pop("pid"), *output.pop("local")}
        assert (os.getpid() in pids) == (flow_id == "here")
        output["key"] = output["key"].partition("/")[2]
        changes = [change["change"] for commit in kit.client.history(flow_id) for change in commit["changes"]]
        kinds = sorted(changes)
        seen.append((output, closed["attributes"], kinds))
    assert seen[0] == seen[1]
    assert seen[1][0]["size"] == 1
    assert seen[1][1]["total"] == 2


def test_the_client_is_one_of_its_own(kit: Kit) -> None:
    assert run(kit, one("asks_client"))["outputs"][0]["output"] == "RUNNING"
    assert "MessagesPublished" in kit.events("r")


def test_there_is_none_that_would_write_values_as_they_are(tmp_path: Path) -> None:
    bodies, database = Bodies([Compression()]), str(tmp_path / "runs.db")
    with Client(database, bodies=bodies) as client:
        client.start(one("asks_client", ONCE), "r")
        worker = Worker(database, bodies=bodies, run_in_process=["One/Work"], processes=1)
        worker.run_until_closed("r")
        worker.stop()
        (failure,) = failures(client)
    assert failure["type"] == "HandlerMistake"
    assert "where values are encoded" in failure["message"]


# --- What fails ---


def test_an_exception_keeps_its_type_bases_message_and_traceback(kit: Kit) -> None:
    failure = only_failure(kit, one("raises", ONCE), "today")
    assert (failure["type"], failure["message"]) == ("Odd", "not today")
    assert failure["bases"] == ["Odd", "LookupError", "Exception"]
    assert "pooled_handlers.py" in failure["traceback"] and "processes" not in failure["traceback"]


@pytest.mark.parametrize(
    ("handler", "input", "type"),
    [
        ("raises", "exit", "SystemExit"),
        ("not_json", None, "InvalidResult"),
        ("not_allowed", None, "UndeclaredEffect"),
    ],
)
def test_mistakes_fail_the_attempt_as_in_a_thread(kit: Kit, handler: str, input: Any, type: str) -> None:
    assert only_failure(kit, one(handler, ONCE), input)["type"] == type


def test_a_result_of_the_wrong_type_is_refused_by_the_core(kit: Kit) -> None:
    declared = "result: {name: total, type: string}\n    graceful_complete: null"
    text = ONE.replace('graceful_complete: "${result}"', declared)
    assert only_failure(kit, flow_of(text % ("wrong", ONCE)))["type"] == "InvalidResult"


def test_what_is_never_retried_is_known_as_such(kit: Kit) -> None:
    assert only_failure(kit, one("raises"), "never")["type"] == "NonRetryable"


def test_a_type_that_is_not_retried_is_known_by_its_base(kit: Kit) -> None:
    more = ", retry: {maximum_attempts: 2, non_retryable: [LookupError]}"
    assert only_failure(kit, one("raises", more), "today")["type"] == "Odd"


# --- What becomes of processes ---


@pytest.mark.parametrize(
    ("word", "told"), [("die", "SIGKILL"), ("fault", "SIGSEGV"), ("exit", "exit code 0")]
)
def test_a_process_that_dies_fails_its_attempt_only(kit: Kit, pipes: Path, word: str, told: str) -> None:
    kit.client.start(one("meet_once"), "r", str(pipes))
    with pooling(kit) as worker:
        first = meet(pipes)
        say(pipes, word)
        second = _try_again(kit, worker)
    assert second["status"] == "COMPLETED"
    assert second["outputs"][0]["output"] != first
    failure = failures(kit.client)[0]
    assert failure["type"] == "ProcessDied"
    assert told in failure["message"]


def _try_again(kit: Kit, worker: Worker) -> dict[str, Any]:
    kit.await_phase("backing_off", "r")
    kit.clock.advance(seconds=1)
    return worker.run_until_closed("r")


def test_the_death_of_one_disturbs_no_other(kit: Kit, tmp_path: Path) -> None:
    places = [_pipes_in(tmp_path / name) for name in ("a", "b")]
    flow = one("meet")
    kit.client.start(flow, "r", str(places[0]))
    kit.client.start(flow, "other", str(places[1]))
    with pooling(kit, processes=2) as worker:
        victim, survivor = meet(places[0]), meet(places[1])
        os.kill(victim, signal.SIGKILL)
        kit.await_phase("backing_off", "r")
        say(places[1], "go")
        assert worker.run_until_closed("other")["outputs"][0]["output"] == survivor


def _pipes_in(place: Path) -> Path:
    place.mkdir()
    for name in ("begun", "word"):
        os.mkfifo(place / name)
    return place


def test_a_timeout_kills_the_process(kit: Kit, pipes: Path) -> None:
    kit.client.start(one("meet_once"), "r", str(pipes))
    with pooling(kit) as worker:
        pid = meet(pipes)
        kit.clock.advance(hours=2)
        closed = _try_again(kit, worker)
        assert closed["outputs"][0]["output"] != pid
    assert failures(kit.client)[0]["type"] == "Timeout"
    assert not _is_there(pid)


def test_heartbeats_come_across_and_silence_kills(kit: Kit, pipes: Path) -> None:
    kit.client.start(one("beat_then_meet", f"{TWICE}, heartbeat: 10s"), "r", str(pipes))
    with pooling(kit) as worker:
        meet(pipes)
        kit.await_event("Heartbeaten", "r")
        kit.clock.advance(seconds=11)
        closed = _try_again(kit, worker)
    assert closed["outputs"][0]["output"] == {"done": 7}
    assert failures(kit.client)[0]["type"] == "HeartbeatTimeout"


def test_a_cancelled_call_notices(kit: Kit, pipes: Path) -> None:
    kit.client.start(one("until_cancelled"), "r", str(pipes))
    with pooling(kit):
        pid = meet(pipes)
        kit.client.stop("r")
        assert (pipes / "word").read_text() == "noticed"
        assert _is_there(pid)


def test_one_that_does_not_notice_is_killed_after_a_while(kit: Kit, pipes: Path) -> None:
    kit.client.start(one("meet"), "r", str(pipes))
    with pooling(kit) as worker:
        meet(pipes)
        kit.client.stop("r")
        kit.client.start(one("who"), "next")
        kit.clock.advance(seconds=6)
        assert worker.run_until_closed("next")["status"] == "COMPLETED"


def test_no_more_is_claimed_than_processes_can_begin(kit: Kit, pipes: Path) -> None:
    for number in range(5):
        kit.client.start(one("meet"), f"r{number}", str(pipes))
    here = flow_of(ONE.replace("flow: One", "flow: Two") % ("who", TWICE))
    with pooling(kit) as worker:
        meet(pipes)
        kit.client.start(here, "here")
        assert worker.run_until_closed("here")["status"] == "COMPLETED"
        phases = [kit.phases(f"r{number}")["Work-1"] for number in range(5)]
        assert phases.count("running") == 1
        for _ in range(4):
            say(pipes, "go")
            meet(pipes)
        say(pipes, "go")
        for number in range(5):
            assert worker.run_until_closed(f"r{number}")["status"] == "COMPLETED"


def test_the_worker_drains(kit: Kit, pipes: Path) -> None:
    kit.client.start(one("meet"), "r", str(pipes))
    worker = Worker(kit.engine, run_in_process=["One/Work"], processes=1)
    worker.start()
    pid = meet(pipes)
    say(pipes, "go")
    worker.stop(grace=PATIENCE)
    assert kit.client.describe("r")["status"] == "COMPLETED"
    assert not _is_there(pid)


def test_what_does_not_end_in_time_is_killed_and_handed_back(kit: Kit, pipes: Path) -> None:
    kit.client.start(one("meet_once"), "r", str(pipes))
    with pooling(kit):
        pid = meet(pipes)
    assert not _is_there(pid)
    assert kit.client.describe("r")["status"] == "RUNNING"


_WORKER = """
import sys
from orchestrator import Worker
Worker(sys.argv[1], run_in_process=["One/Work"], processes=1).run()
"""


def test_no_process_outlives_its_worker(pipes: Path) -> None:
    database = str(pipes / "runs.db")
    with Client(database) as client:
        client.start(one("compute_for_ever"), "r", str(pipes))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    worker = subprocess.Popen([sys.executable, "-c", _WORKER, database], cwd=ROOT, env=environment)
    try:
        with (pipes / "begun").open() as begun:
            assert int(begun.readline()) not in (worker.pid, os.getpid())
            worker.kill()
            assert begun.read() == ""
    finally:
        worker.kill()
        worker.wait(PATIENCE)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- What is said and refused ---


def test_logs_and_prints_come_out_here(
    kit: Kit, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    run(kit, one("says"))
    said = {record.getMessage(): record for record in caplog.records}
    oil: Any = said["oil is low"]
    assert (oil.flow_id, oil.step, oil.level_of_oil, oil.levelno) == ("r", "Work", 3, logging.WARNING)
    assert oil.process != os.getpid()
    assert "leak" in said and "not asked for" not in said
    assert capsys.readouterr().out == "printed text\nhalf a line\n"


def test_a_transactional_handler_is_refused(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    kit.client.start(one("in_transaction", ", transactional: true"), "r")
    with pooling(kit) as worker:
        worker.run_until_idle()
    assert "cannot run in a process of its own: it is transactional" in caplog.text
    assert kit.client.describe("r")["status"] == "RUNNING"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda kit: Worker(kit.engine, run_in_process=["crunch"]), "MODULE:FUNCTION or FLOW/STEP"),
        (lambda kit: Worker(kit.engine, processes=-1), "-1 processes"),
        (lambda kit: Worker(kit.engine, run_in_process=["a:b"], processes=0), "0 processes"),
    ],
)
def test_nonsense_is_refused(kit: Kit, make: Callable[[Kit], Worker], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        make(kit)
