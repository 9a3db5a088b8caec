"""Values encoded in the store, and large ones beside it."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.definition.model import Flow
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.transfer import export_runs, import_runs
from orchestrator.engine.upkeep import cut_of, delete_objects_left, prune_some
from orchestrator.engine.worker import Worker
from orchestrator.errors import BodyUnreadable, StoreError
from orchestrator.store.bodies import Bodies, Codec
from orchestrator.store.codecs import Compression, Encryption
from orchestrator.store.objects import FileObjects, ObjectMissing, ObjectStore
from tests.support import engine_handlers
from tests.support.engine_kit import Kit, flow_of

SECRET = "grandmother-17"
KEY_1, KEY_2 = b"1" * 32, b"2" * 32
FLOW = flow_of(
    """
flow: Sealed
input: string
output: string
attributes: {kept: string, shown: {type: string, index: keyword}, many: {type: string, map: true}}
channels: {box: {type: string, external: true}, other: {type: string, external: true}}
joins: {both: {type: string}}
start: Split
steps:
  Split:
    input: string
    set: {kept: "${input}", shown: label, many: {one: "${input}"}}
    go_to_many: [{step: Tell, input: "${input}"}, {step: Collect, input: "${input}"}]
    join: both
  Tell: {input: string, report: {both: "${input}"}, dead_end: true}
  Collect:
    input: string
    wait_for: {all_of: [{channel: box}, {join: both}]}
    graceful_complete: "${input + wait.box.message}"
"""
)
WORK = flow_of(
    """
flow: Work
handlers: tests.support.engine_handlers
input: integer
output: integer
start: Double
steps:
  Double: {input: integer, execute: double, graceful_complete: "${result}"}
"""
)


@contextmanager
def kit_of(place: Path | str, bodies: Bodies | None) -> Iterator[Kit]:
    engine_handlers.reset()
    kit = Kit(place, bodies=bodies)
    try:
        yield kit
    finally:
        kit.close()
    assert kit.differences == []


def encrypted(*keys: tuple[str, bytes]) -> list[Codec]:
    return [Encryption(dict(keys or (("k1", KEY_1),)))]


def half_way(kit: Kit) -> None:
    kit.client.start(FLOW, "run-1", SECRET)
    kit.client.publish("run-1", "other", SECRET)
    kit.settle()


def finished(kit: Kit) -> Any:
    kit.client.publish("run-1", "box", SECRET)
    with kit.working() as worker:
        return outputs_of(worker.run_until_closed("run-1"))


def outputs_of(run: Any) -> list[Any]:
    return [each["output"] for each in run["outputs"]]


def content(kit: Kit) -> bytes:
    """Every value of every row."""
    with kit.engine.store.reading() as reading:
        reading.bodies = _Unopened()
        return repr([reading.export_run(number) for number in reading.run_numbers()]).encode()


class _Unopened(Bodies):
    def open_rows(self, statement: str, rows: Any) -> Any:
        return rows


SEALINGS: dict[str, Callable[[Path], Bodies]] = {
    "compressed": lambda path: Bodies([Compression(at_least=1)]),
    "encrypted": lambda path: Bodies(encrypted()),
    "both": lambda path: Bodies([Compression(at_least=1), *encrypted()]),
    "beside": lambda path: Bodies([], FileObjects(path / "objects"), limit=0),
    "all": lambda path: Bodies(encrypted(), FileObjects(path / "objects"), limit=100),
}


@pytest.mark.parametrize("sealing", SEALINGS)
def test_runs_go_the_same_way_whatever_is_done_with_their_values(
    place: Path | str, tmp_path: Path, sealing: str
) -> None:
    bodies = SEALINGS[sealing](tmp_path)
    with kit_of(place, bodies) as kit:
        half_way(kit)
    with kit_of(place, bodies) as kit:  # nothing is in memory
        kept = {"kept": SECRET, "shown": "label", "many": {"one": SECRET}}
        assert kit.client.describe("run-1")["attributes"] == kept
        assert finished(kit) == [SECRET + SECRET]
        assert kit.differing_replays() == []


def test_what_is_encrypted_stands_nowhere_in_the_database(place: Path | str) -> None:
    with kit_of(place, Bodies(encrypted())) as kit:
        half_way(kit)
        assert SECRET.encode() not in content(kit)
        assert b"label" in content(kit), "an indexed attribute is kept as it is"
        finished(kit)
        assert SECRET.encode() not in content(kit)
    if isinstance(place, Path):
        files = [file for file in place.glob("runs.db*") if file.is_file()]
        assert files != []
        assert all(SECRET.encode() not in file.read_bytes() for file in files)


def test_without_encryption_it_would_be_found(place: Path | str) -> None:
    with kit_of(place, None) as kit:
        half_way(kit)
        assert SECRET.encode() in content(kit)


def test_that_an_indexed_attribute_is_not_encrypted_is_said_once(
    place: Path | str, caplog: pytest.LogCaptureFixture
) -> None:
    with kit_of(place, Bodies(encrypted())) as kit:
        half_way(kit)
        kit.client.start(FLOW, "run-2", SECRET)
        kit.settle()
    said = [record.getMessage() for record in caplog.records if record.name == "orchestrator.store"]
    assert said == ["attribute shown is indexed: its values are not encrypted in the index"]


def test_values_of_before_and_of_older_keys_stay_readable(place: Path | str) -> None:
    with kit_of(place, None) as kit:
        half_way(kit)
    with kit_of(place, Bodies(encrypted(("k1", KEY_1)))) as kit:
        assert kit.client.describe("run-1")["attributes"]["kept"] == SECRET
        kit.client.publish("run-1", "other", "second")
    with kit_of(place, Bodies(encrypted(("k2", KEY_2), ("k1", KEY_1)))) as kit:
        assert finished(kit) == [SECRET + SECRET]
        assert kit.differing_replays() == []


@pytest.mark.parametrize(
    ("codecs", "message"),
    [
        ([], "aes-gcm:k1, and the codec configured here has none"),
        (encrypted(("k2", KEY_2)), "aes-gcm:k1, and the codec configured here does not know it"),
        (encrypted(("k1", KEY_2)), "aes-gcm:k1 cannot be decoded: it was changed, or the key is another one"),
    ],
)
def test_a_missing_key_is_said(place: Path | str, codecs: list[Codec], message: str) -> None:
    with kit_of(place, Bodies(encrypted())) as kit:
        half_way(kit)
    bodies = Bodies(codecs) if codecs else None
    engine = Engine(str(place / "runs.db") if isinstance(place, Path) else place, bodies=bodies)
    with pytest.raises(BodyUnreadable, match=message) as caught:
        Client(engine).describe("run-1")
    assert SECRET not in str(caught.value)
    engine.close()


def test_failures_of_encrypted_runs_are_told_without_their_words(
    place: Path | str, caplog: pytest.LogCaptureFixture
) -> None:
    flow = flow_of(
        """
flow: Failing
handlers: tests.support.engine_handlers
start: Try
steps:
  Try: {execute: {handler: fail_for_good, retry: {maximum_attempts: 1}}, graceful_complete: null}
"""
    )
    caplog.set_level(logging.DEBUG)
    with kit_of(place, Bodies(encrypted())) as kit:
        failed = kit.run(flow)
    words = failed["error"]["message"].partition(": ")[2] or failed["error"]["message"]
    assert any(record.__dict__.get("event") == "step_failed" for record in caplog.records)
    assert words not in caplog.text


# --- Objects ---


def beside(path: Path) -> Bodies:
    return Bodies([], FileObjects(path / "objects"), limit=0)


def objects(path: Path) -> list[str]:
    return list(FileObjects(path / "objects").list(""))


def test_small_values_stay_in_the_database(place: Path | str, tmp_path: Path) -> None:
    with kit_of(place, Bodies([], FileObjects(tmp_path / "objects"), limit=100_000)) as kit:
        half_way(kit)
        kit.client.publish("run-1", "other", "x" * 100_001)
    assert len(objects(tmp_path)) == 3, "the message, its commit's changes and its event"


def test_objects_of_pruned_runs_are_deleted(place: Path | str, tmp_path: Path) -> None:
    with kit_of(place, beside(tmp_path)) as kit:
        half_way(kit)
        finished(kit)
        kit.clock.advance(days=2)
        kit.client.start(FLOW, "run-2", SECRET)
        kept = {name for name in objects(tmp_path) if not name.startswith("1/")}
        assert prune_some(kit.engine, cut_of(kit.engine, timedelta(days=1))) == 1
        assert set(objects(tmp_path)) == kept != set()
        assert kit.client.describe("run-2")["status"] == "RUNNING"


class FakeObjects:
    """As a service keeps them: no directories. It can be out of reach, and its user can be killed."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.listed: list[str] = []
        self.failure: BaseException | None = None

    def put(self, name: str, body: bytes) -> None:
        self.kept[name] = body

    def get(self, name: str) -> bytes:
        try:
            return self.kept[name]
        except KeyError:
            raise ObjectMissing(name) from None

    def delete(self, name: str) -> None:
        if self.failure is not None:
            raise self.failure
        self.kept.pop(name, None)

    def list(self, prefix: str) -> Iterator[str]:
        self.listed.append(prefix)
        return iter([name for name in self.kept if name.startswith(prefix)])


class FailingFiles(FileObjects):
    failure: BaseException | None = None

    def delete(self, name: str) -> None:
        if self.failure is not None:
            raise self.failure
        super().delete(name)


class Killed(BaseException):
    """Nothing handles it: what would follow is not done."""


@pytest.fixture(params=["files", "service"])
def failing(request: pytest.FixtureRequest, tmp_path: Path) -> FailingFiles | FakeObjects:
    return FailingFiles(tmp_path / "objects") if request.param == "files" else FakeObjects()


def runs_with_objects(objects: ObjectStore) -> set[int]:
    return {int(name.partition("/")[0]) for name in objects.list("")}


def prune_old(kit: Kit, limit: int = 100) -> int:
    return prune_some(kit.engine, cut_of(kit.engine, timedelta(days=1)), limit)


def closed_and_open(kit: Kit, closed_count: int = 1) -> None:
    """Old runs, numbered from 1 on, then one that is still running."""
    for number in range(1, closed_count + 1):
        kit.client.start(FLOW, f"old-{number}", SECRET)
        kit.client.stop(f"old-{number}")
    kit.clock.advance(days=2)
    kit.client.start(FLOW, "open", SECRET)


@pytest.mark.parametrize("failure", [Killed(), OSError("out of reach")], ids=["killed", "out of reach"])
def test_objects_that_a_pruning_left_behind_are_deleted_by_a_later_one(
    place: Path | str, failing: FailingFiles | FakeObjects, failure: BaseException
) -> None:
    with kit_of(place, Bodies([], failing, limit=0)) as kit:
        closed_and_open(kit, closed_count=2)
        (open_run,) = runs_with_objects(failing) - {1, 2}
        failing.failure = failure
        with suppress(Killed):
            prune_old(kit)
        assert runs_with_objects(failing) == {1, 2, open_run}
    failing.failure = None
    with kit_of(place, Bodies([], failing, limit=0)) as kit:
        assert delete_objects_left(kit.engine) == 2
        assert runs_with_objects(failing) == {open_run}
        assert kit.client.describe("open")["attributes"]["kept"] == SECRET
        assert delete_objects_left(kit.engine) == 0


def test_what_cannot_be_deleted_yet_is_tried_again_each_time(
    place: Path | str, caplog: pytest.LogCaptureFixture
) -> None:
    service = FakeObjects()
    with kit_of(place, Bodies([], service, limit=0)) as kit:
        closed_and_open(kit)
        service.failure = OSError("out of reach")
        prune_old(kit)
        assert delete_objects_left(kit.engine) == 0
        service.failure = None
        assert delete_objects_left(kit.engine) == 1
    said = [record.getMessage() for record in caplog.records if "pruned" in record.getMessage()]
    assert said == ["objects of pruned runs stay until the next pruning: out of reach"] * 2


def test_no_object_of_a_run_that_was_never_pruned_is_deleted(place: Path | str) -> None:
    """Objects are there before their run is; on PostgreSQL a lower number may come after a higher one."""
    service = FakeObjects()
    with kit_of(place, Bodies([], service, limit=0)) as kit:
        closed_and_open(kit)
        for number in (0, 7, 99):
            service.put(f"{number}/hash", b"of a run about to be stored")
        prune_old(kit)
        delete_objects_left(kit.engine)
        assert {0, 7, 99} < runs_with_objects(service)


def test_where_nothing_is_left_behind_objects_are_not_looked_at(place: Path | str) -> None:
    service = FakeObjects()
    with kit_of(place, Bodies([], service, limit=0)) as kit:
        closed_and_open(kit, closed_count=3)
        assert prune_old(kit, limit=2) == 2
        assert prune_old(kit, limit=2) == 1
        assert service.listed == ["1/", "2/", "3/"]
        assert delete_objects_left(kit.engine) == 0
        assert len(service.listed) == 3


def test_a_store_without_objects_notes_nothing_about_them(place: Path | str) -> None:
    with kit_of(place, None) as kit:
        closed_and_open(kit)
        assert prune_old(kit) == 1
        with kit.engine.store.reading() as reading:
            assert reading.runs_with_objects_left() == []


def without_objects_of_run_1(place: Path | str, path: Path, flow: Flow, input: Any) -> None:
    with kit_of(place, beside(path)) as kit:
        kit.client.start(flow, "run-1", input)
    for name in objects(path):
        FileObjects(path / "objects").delete(name)


def test_work_on_a_run_with_a_missing_object_stops_and_no_other(
    place: Path | str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    without_objects_of_run_1(place, tmp_path, WORK, 1)
    with kit_of(place, beside(tmp_path)) as kit:
        kit.client.start(WORK, "run-2", 2)
        with kit.working() as worker:
            assert outputs_of(worker.run_until_closed("run-2")) == [4]
            worker.run_until_closed("run-2")
    said = [record.getMessage() for record in caplog.records if "cannot be worked on" in record.getMessage()]
    assert len(said) == 1
    assert said[0].startswith("run number 1 cannot be worked on: the object 1/")


def test_who_asks_for_a_run_with_a_missing_object_is_told(place: Path | str, tmp_path: Path) -> None:
    without_objects_of_run_1(place, tmp_path, FLOW, SECRET)
    with kit_of(place, beside(tmp_path)) as kit:
        kit.client.start(FLOW, "run-2", SECRET)
        with pytest.raises(BodyUnreadable, match=r"the object 1/[0-9a-f]{64}, a value, is missing"):
            kit.client.describe("run-1")
        with pytest.raises(BodyUnreadable):
            kit.client.publish("run-1", "box", "!")
        found = kit.client.search(where="attributes.shown == 'label'")
        assert [run["flow_id"] for run in found] == ["run-2", "run-1"]  # this attribute can be read
        assert sorted(run["flow_id"] for run in kit.client.search()) == ["run-1", "run-2"]


def test_exports_hold_the_values_themselves(place: Path | str, tmp_path: Path) -> None:
    with kit_of(place, Bodies(encrypted(), FileObjects(tmp_path / "objects"), limit=100)) as kit:
        half_way(kit)
        lines = list(export_runs(kit.engine))
        assert SECRET.encode() in b"".join(lines)
        other = Engine(str(tmp_path / "other.db"), clock=kit.clock, bodies=Bodies(encrypted(("k2", KEY_2))))
        import_runs(other, lines)
        assert Client(other).describe("run-1") == kit.client.describe("run-1")
        other.close()
    with sqlite3.connect(tmp_path / "other.db") as connection:
        (body,) = connection.execute("SELECT input FROM runs").fetchone()
    connection.close()
    assert body[0] == 0xC1


def test_a_place_that_cannot_be_written_to_loses_nothing(place: Path | str, tmp_path: Path) -> None:
    (tmp_path / "objects").write_text("no directory", encoding="utf-8")
    with kit_of(place, beside(tmp_path)) as kit:
        with pytest.raises(StoreError, match="cannot be kept"):
            kit.client.start(FLOW, "run-1", SECRET)
        (tmp_path / "objects").unlink()
        half_way(kit)
        assert finished(kit) == [SECRET + SECRET]


def test_clients_and_workers_take_bodies(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    with Client(url, bodies=Bodies(encrypted())) as client:
        client.start(FLOW, "run-1", SECRET)
        client.publish("run-1", "box", "!")
    with Worker(url, bodies=Bodies(encrypted())) as worker:
        assert outputs_of(worker.run_until_closed("run-1")) == [SECRET + "!"]
