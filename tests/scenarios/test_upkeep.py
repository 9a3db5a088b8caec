"""Caring for a store: pruning, survey, vacuum, runs out of one store and into another."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.transfer import Imported, export_runs, import_runs
from orchestrator.engine.upkeep import (
    Retention,
    count_old,
    cut_of,
    prune_all,
    prune_definitions,
    prune_some,
    survey,
)
from orchestrator.engine.worker import Worker
from orchestrator.errors import AlreadyStarted, InvalidValue, NotFound, UsageError
from tests.support import engine_handlers
from tests.support.engine_kit import Gate, Kit, another_store, flow_of

QUICK_TEXT = """
flow: Quick
handlers: tests.support.engine_handlers
input: integer
attributes: {seen: {type: integer}}
start: Work
steps:
  Work: {execute: double, input: integer, set: {seen: "${result}"}, graceful_complete: "${result}"}
"""
QUICK = flow_of(QUICK_TEXT)
OPEN = flow_of(
    """
flow: Open
channels: {box: {type: integer, external: true}, other: {type: integer, external: true}}
start: Wait
steps:
  Wait:
    wait_for: {any_of: [{channel: box, for: 2}, {timer: 1h, id: late}]}
    graceful_complete: "${wait.late.fired}"
"""
)
GATED = flow_of(
    """
flow: Gated
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: gated, graceful_complete: null}
"""
)


def completed(kit: Kit, *flow_ids: str) -> None:
    with kit.working() as worker:
        for flow_id in flow_ids:
            kit.client.start(QUICK, flow_id, 1)
        worker.run_until_idle()


def ids(client: Client) -> list[str]:
    return sorted(run["flow_id"] for run in client.search())


def prune(kit: Kit, days: float) -> int:
    return prune_some(kit.engine, cut_of(kit.engine, timedelta(days=days)))


# --- Pruning ---


@pytest.mark.rule(21)
def test_closed_runs_are_kept_for_their_time_and_then_deleted(kit: Kit) -> None:
    completed(kit, "old")
    kit.client.start(OPEN, "open")
    kit.clock.advance(days=20)
    completed(kit, "young")
    kit.clock.advance(days=11)
    assert count_old(kit.engine, cut_of(kit.engine, timedelta(days=30))) == 1
    assert prune(kit, 30) == 1
    assert ids(kit.client) == ["open", "young"]
    assert kit.client.describe("young")["attributes"] == {"seen": 2}
    with pytest.raises(NotFound):
        kit.client.describe("old")


def test_nothing_of_a_pruned_run_is_left(kit: Kit) -> None:
    completed(kit, "old")
    kit.client.start(OPEN, "stopped")
    kit.client.publish("stopped", "other", 1)
    kit.client.stop("stopped")
    kit.clock.advance(days=1)
    assert prune(kit, 0.5) == 2
    assert survey(kit.engine)["rows"] == {"definitions": 2, "history": 0, "messages": 0, "steps": 0}
    assert survey(kit.engine)["runs"] == {}


def test_a_pruned_flow_id_can_be_started_again(kit: Kit) -> None:
    completed(kit, "run-1")
    kit.clock.advance(days=1)
    prune(kit, 0)
    completed(kit, "run-1")
    assert kit.client.describe("run-1")["status"] == "COMPLETED"


def test_numbers_of_pruned_runs_are_not_used_again(kit: Kit) -> None:
    """A process that still has the pruned run in memory would take the new one for it."""
    number = kit.client.start(OPEN, "old").run
    kit.client.stop("old")
    kit.clock.advance(days=1)
    prune(kit, 0)
    other = Client(Engine(another_store(kit), clock=kit.clock))
    assert other.start(OPEN, "new").run > number
    other.engine.close()


def test_a_definition_goes_with_its_last_run_once_there_is_a_newer_one(kit: Kit) -> None:
    completed(kit, "old")
    assert prune_definitions(kit.engine) == 0
    kit.clock.advance(days=1)
    newer = flow_of(QUICK_TEXT.replace("attributes:", "channels: {c: integer}\nattributes:"))
    kit.client.start(newer, "new", 1)
    assert prune_definitions(kit.engine) == 0, "a run uses it"
    prune(kit, 0.5)
    assert prune_definitions(kit.engine) == 1
    completed(kit, "again")
    assert kit.client.describe("again")["definition"] == QUICK.hash


def test_a_definition_that_another_process_pruned_is_stored_again(kit: Kit) -> None:
    completed(kit, "old")
    kit.clock.advance(days=1)
    newer = flow_of(QUICK_TEXT.replace("attributes:", "channels: {c: integer}\nattributes:"))
    other = Engine(another_store(kit), clock=kit.clock)
    Client(other).start(newer, "new", 1)
    prune_some(other, cut_of(other, timedelta(0)))
    assert prune_definitions(other) == 1
    kit.client.start(QUICK, "again", 1)
    fresh = Client(Engine(another_store(kit), clock=kit.clock))
    assert fresh.describe("again")["definition"] == QUICK.hash
    fresh.engine.close()
    other.close()


def test_a_run_in_memory_here_that_another_process_pruned_is_gone(kit: Kit) -> None:
    kit.client.start(OPEN, "run-1")
    other = Client(Engine(another_store(kit), clock=kit.clock))
    other.stop("run-1")
    kit.clock.advance(days=1)
    prune_some(other.engine, cut_of(other.engine, timedelta(0)))
    other.engine.close()
    with pytest.raises(NotFound):
        kit.client.publish("run-1", "box", 1)
    kit.client.start(OPEN, "run-1")
    assert kit.client.describe("run-1")["status"] == "RUNNING"


def test_batches_are_transactions_of_their_own_with_pauses_between(kit: Kit) -> None:
    completed(kit, "one", "two", "three")
    kit.clock.advance(days=1)
    other = Engine(another_store(kit), clock=kit.clock)
    left: list[int] = []

    def pause(seconds: float) -> bool:
        assert seconds >= 0
        left.append(len(ids(Client(other))))
        return False

    assert list(prune_all(kit.engine, cut_of(kit.engine, timedelta()), batch=1, pause=pause)) == [1, 1, 1]
    other.close()
    assert left == [2, 1, 0]


def test_pruning_ends_when_a_pause_says_so(kit: Kit) -> None:
    completed(kit, "one", "two", "three")
    kit.clock.advance(days=1)
    before = cut_of(kit.engine, timedelta())
    assert list(prune_all(kit.engine, before, batch=1, pause=lambda _: True)) == [1]
    assert len(ids(kit.client)) == 2


def test_a_worker_with_retention_deletes_while_it_works(kit: Kit) -> None:
    completed(kit, "old")
    kit.clock.advance(days=2)
    worker = Worker(kit.engine, retention=timedelta(days=1))
    worker.start()
    worker.stop()
    assert ids(kit.client) == []


def test_a_negative_retention_is_refused(kit: Kit) -> None:
    with pytest.raises(UsageError, match="span of time"):
        Retention(kit.engine, timedelta(days=-1))


# --- Survey and vacuum ---


def test_the_survey_counts_what_there_is(kit: Kit) -> None:
    completed(kit, "done")
    kit.clock.advance(days=1)
    kit.client.start(OPEN, "open")
    kit.client.publish("open", "box", 1)
    kit.client.start(QUICK, "queued", 1)
    kit.client.pause("Quick", "Work")
    found = survey(kit.engine)
    assert found["runs"] == {"COMPLETED": 1, "RUNNING": 2}
    assert found["rows"] == {"definitions": 2, "history": 6, "messages": 1, "steps": 2}
    assert (found["due"], found["leased"], found["workers"]) == (1, 0, 0)
    assert found["oldest_running_at"] == "2030-01-02T00:00:00Z"
    assert found["oldest_closed_at"] == "2030-01-01T00:00:00Z"
    assert found["paused"] == ["Quick/Work"]
    assert found["file_bytes"] > 0
    with kit.working():
        assert survey(kit.engine)["workers"] == 1


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_vacuum_gives_the_space_of_pruned_runs_back(kit: Kit) -> None:
    for number in range(30):
        kit.client.start(OPEN, f"run-{number}", attributes={})
        kit.client.publish(f"run-{number}", "other", number)
        kit.client.stop(f"run-{number}")
    kit.clock.advance(days=1)
    kit.client.start(OPEN, "kept")
    prune(kit, 0.5)
    assert survey(kit.engine)["free_bytes"] > 0
    kit.engine.store.vacuum()
    assert survey(kit.engine)["free_bytes"] == 0
    assert survey(kit.engine)["wal_bytes"] == 0
    kit.client.publish("kept", "other", 1)
    assert kit.client.describe("kept")["channels"]["other"] == {"size": 1}


# --- Out and in ---


def moved(kit: Kit, path: Path, *flow_ids: str) -> tuple[Engine, Imported]:
    engine = Engine(str(path / "other.db"), clock=kit.clock)
    return engine, import_runs(engine, list(export_runs(kit.engine, flow_ids)))


def test_runs_come_in_as_they_went_out(kit: Kit, tmp_path: Path) -> None:
    completed(kit, "done")
    kit.client.start(OPEN, "open")
    kit.client.publish("open", "box", 1)
    kit.client.publish("open", "other", 2)
    engine, imported = moved(kit, tmp_path)
    assert imported == Imported(run_count=2, definition_count=2)
    client = Client(engine)
    for flow_id in ("done", "open"):
        assert client.describe(flow_id, messages=True) == kit.client.describe(flow_id, messages=True)
        assert client.history(flow_id) == kit.client.history(flow_id)
    assert list(export_runs(engine))[1:] == list(export_runs(kit.engine))[1:]
    engine.close()


def test_an_imported_run_goes_on_and_can_travel(kit: Kit, tmp_path: Path) -> None:
    kit.client.start(OPEN, "open")
    kit.client.publish("open", "box", 1)
    engine, _ = moved(kit, tmp_path)
    client = Client(engine)
    client.time_travel("open")
    assert client.describe("open")["channels"]["box"] == {"size": 1}
    client.publish("open", "box", 2)
    assert client.describe("open")["status"] == "COMPLETED"
    engine.close()


def test_work_that_was_leased_is_free_and_counts_as_begun(kit: Kit, tmp_path: Path) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    with kit.working():
        gate.await_arrival()
        engine, _ = moved(kit, tmp_path)
        gate.open()
    gate.open()
    with Worker(engine) as worker:
        assert worker.run_until_closed("run-1")["status"] == "COMPLETED"
    engine.close()
    assert engine_handlers.calls["Work-1"] == 2


def test_single_flow_ids_can_be_exported_with_all_their_runs(kit: Kit, tmp_path: Path) -> None:
    completed(kit, "other")
    kit.client.start(OPEN, "run-1")
    kit.client.start(OPEN, "run-1", reuse_policy="allow_terminate_if_running")
    engine, imported = moved(kit, tmp_path, "run-1")
    assert imported.run_count == 2
    assert ids(Client(engine)) == ["run-1"]
    assert Client(engine).describe("run-1")["status"] == "RUNNING"
    engine.close()
    with pytest.raises(NotFound, match="no run nobody"):
        list(export_runs(kit.engine, ["nobody"]))


def test_flow_ids_that_are_there_are_refused_and_nothing_comes_in(kit: Kit, tmp_path: Path) -> None:
    completed(kit, "one", "two")
    engine = Engine(str(tmp_path / "other.db"), clock=kit.clock)
    Client(engine).start(OPEN, "two")
    with pytest.raises(AlreadyStarted, match="nothing was imported: this store already has runs of two"):
        import_runs(engine, export_runs(kit.engine))
    assert ids(Client(engine)) == ["two"]
    engine.close()


def spoilt(lines: list[bytes], line: int, spoil: Any) -> list[bytes]:
    document = json.loads(lines[line])
    spoil(document)
    return [*lines[:line], json.dumps(document).encode(), *lines[line + 1 :]]


@pytest.mark.parametrize(
    ("line", "spoil", "message"),
    [
        (0, lambda d: d.update(kind="recipe"), "line 1: this is no export of orchestrator"),
        (0, lambda d: d.update(format=99), "line 1: format 99 of exports is not known"),
        (1, lambda d: d["definition"].pop("text"), "line 2: this is no exported run"),
        (2, lambda d: d["run"].pop("steps"), "line 3: .*`steps` is missing"),
        (2, lambda d: d["run"]["runs"][0].pop("flow"), "line 3: .*`runs` lacks flow"),
        (2, lambda d: d["run"]["runs"][0].update(flow={}), r"line 3: .*`runs\.flow` must be text"),
        (2, lambda d: d["run"]["runs"][0].update(flow=None), "line 3: .*NOT NULL"),
        (2, lambda d: d["run"]["runs"][0].update(version=2**70), "line 3: .*too large"),
        (2, lambda d: d["run"]["runs"][0].update(definition="x"), "line 3: .*definition x .* is missing"),
        (2, lambda d: d["run"]["runs"][0].update(status="FINE"), "line 3: .*FINE"),
        (2, lambda d: d["run"]["steps"][0].update(body=[]), "line 3: this is no exported run"),
        (2, lambda d: d["run"]["history"][0].update(body=[["what"]]), "line 3: this is no exported run"),
        (2, lambda d: d.clear(), "line 3: .*a `run` or a `definition`"),
    ],
)
def test_what_is_no_export_is_refused_with_its_line(
    kit: Kit, tmp_path: Path, line: int, spoil: Any, message: str
) -> None:
    kit.client.start(OPEN, "open")
    engine = Engine(str(tmp_path / "other.db"), clock=kit.clock)
    with pytest.raises(InvalidValue, match=message):
        import_runs(engine, spoilt(list(export_runs(kit.engine)), line, spoil))
    assert ids(Client(engine)) == []
    engine.close()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "the header line is missing"),
        ([b"\n"], "the header line is missing"),
        ([b"{"], "line 1"),
        ([b"[]"], "a JSON object is needed"),
    ],
)
def test_files_of_another_kind_are_refused(kit: Kit, lines: list[bytes], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        import_runs(kit.engine, lines)
