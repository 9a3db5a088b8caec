"""Arguments of clients and workers are of the types that they are said to be, or refused by its name."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.travel import Target
from orchestrator.definition.catalogue import Catalogue
from orchestrator.engine.client import Client
from orchestrator.engine.crew import MOST_THREADS
from orchestrator.engine.engine import Engine
from orchestrator.engine.tracing import Tracing
from orchestrator.engine.worker import Worker
from orchestrator.errors import InvalidValue, UsageError
from orchestrator.store.bodies import Bodies
from orchestrator.store.codecs import Compression, Encryption
from tests.support.acting import acted
from tests.support.engine_kit import Kit

FLOW = acted(
    """
    flow: Given
    attributes:
      status: {type: string, initial: open}
      tags: {type: integer, map: true}
    channels:
      go: {type: string, external: true}
      letters: {type: string, external: true, map: true}
    start: Listen
    steps:
      Listen:
        wait_for: {any_of: [{channel: go}, {timer: 1h, id: late}]}
        graceful_complete: done
    rpcs:
      shut: {output: boolean, set: {status: shut}, returns: true}
    """
)
ANYTHING = object()
Act = Callable[[Any], Any]
REFUSED: dict[str, tuple[Act, str]] = {
    "a flow id that is a number": (lambda c: c.start(FLOW, 7), "flow_id is text, not 7"),
    "a flow id that is bytes": (lambda c: c.start(FLOW, b"x"), "flow_id is text, not b'x'"),
    "no flow": (lambda c: c.start(None, "r"), "a flow is .*, not None"),
    "a request id": (lambda c: c.start(FLOW, "r", request_id=7), "request_id is text, not 7"),
    "a timeout as text": (
        lambda c: c.start(FLOW, "r", timeout="1h"),
        "timeout is a timedelta or .* not '1h'",
    ),
    "a delay as a list": (lambda c: c.start(FLOW, "r", delay=[1]), "delay is a timedelta or a number"),
    "a span for ever": (lambda c: c.start(FLOW, "r", timeout=float("inf")), "timeout is .*, not inf"),
    "a span of nothing": (lambda c: c.wait("run-1", float("nan")), "timeout is .*, not nan"),
    "attributes in a list": (lambda c: c.start(FLOW, "r", attributes=["x"]), "attributes is a mapping"),
    "configuration": (lambda c: c.start(FLOW, "r", config=3), "config is a mapping"),
    "a key": (lambda c: c.publish("run-1", "letters", "x", 1.5), "key of .* letters is text .* not 1.5"),
    "a key that is true": (lambda c: c.publish("run-1", "letters", "x", True), "key of .* letters is text"),
    "a run by number": (lambda c: c.publish(7, "go", "x"), "flow_id is text, not 7"),
    "attribute values": (lambda c: c.set_attributes("run-1", "status"), "values is a mapping"),
    "settings": (lambda c: c.update_config("run-1", "durability"), "config is a mapping"),
    "an execution": (lambda c: c.skip_timer("run-1", 3), "step_execution_id is text, not 3"),
    "a condition": (lambda c: c.skip_timer("run-1", "Listen-1", 0.0), "condition is .* not 0.0"),
    "an execution backing off": (lambda c: c.retry_now("run-1", 3), "step_execution_id is text, not 3"),
    "a reason": (lambda c: c.stop("run-1", "fail", 3), "reason is text, not 3"),
    "a reason of any kind": (lambda c: c.stop("run-1", "fail", ANYTHING), "reason is text, not <object"),
    "a point in words": (
        lambda c: c.time_travel("run-1", "beginning"),
        "target is a Target, not 'beginning'",
    ),
    "a time in words": (lambda c: c.time_travel("run-1", Target(time="2030")), "time .* not '2030'"),  # type: ignore[arg-type]
    "a time without a zone": (lambda c: c.time_travel("run-1", Target(time=datetime(2030, 1, 1))), "zone"),
    "the id of a call": (lambda c: c.rpc("run-1", "shut", request_id=7), "request_id is text, not 7"),
    "a run to call": (lambda c: c.rpc(7, "shut"), "flow_id is text, not 7"),
    "a run to look at": (lambda c: c.describe(7), "flow_id is text, not 7"),
    "a run to wait for": (lambda c: c.wait(7, 0.1), "flow_id is text, not 7"),
    "a number of runs": (lambda c: c.search(limit="3"), "limit is a whole number, not '3'"),
    "a search": (lambda c: c.search(3), "where is text, not 3"),
    "a number in text": (
        lambda c: c.wait_for_step("run-1", "Listen", "1"),
        "number is a whole number, not '1'",
    ),
    "half an execution": (lambda c: c.wait_for_step("run-1", "Listen", 1.5), "number is a whole number"),
    "a value to compare": (
        lambda c: c.wait_for_attribute("run-1", "status", {1}),
        "value: expected a JSON",
    ),
    "an id that is not Unicode": (lambda c: c.start(FLOW, "a\udcff"), "flow_id: text with half a surrogate"),
    "a run that is not Unicode": (lambda c: c.describe("a\udcff"), "flow_id: text with half a surrogate"),
    "a key that is not Unicode": (lambda c: c.publish("run-1", "letters", "x", "\udcff"), "half a surrogate"),
    "a reason that is not Unicode": (lambda c: c.stop("run-1", "fail", "\udcff"), "half a surrogate"),
    "a search that is not Unicode": (lambda c: c.search("flow_id == '\udcff'"), "half a surrogate"),
    "an id with NUL": (lambda c: c.start(FLOW, "a\0"), "flow_id: text with a NUL character"),
    "a request with NUL": (lambda c: c.start(FLOW, "r", request_id="\0"), "request_id: text with a NUL"),
    "a run with NUL": (lambda c: c.describe("a\0"), "flow_id: text with a NUL character"),
    "a key with NUL": (lambda c: c.publish("run-1", "letters", "x", "\0"), "letters: text with a NUL"),
    "an RPC by number": (lambda c: c.rpc("run-1", 3), "name is text, not 3"),
    "an attribute by list": (lambda c: c.attribute("run-1", ["tags"]), r"name is text, not \['tags'\]"),
    "a step to wait for": (lambda c: c.wait_for_step("run-1", ["Listen"]), "step is text, not"),
    "an attribute to wait for": (lambda c: c.wait_for_attribute("run-1", {}), "name is text, not {}"),
    "a flow to pause": (lambda c: c.pause(3), "flow is text, not 3"),
    "a step to pause": (lambda c: c.pause("Given", ["Listen"]), "step is text, not"),
    "a step to resume": (lambda c: c.resume("Given", 3), "step is text, not 3"),
    "runs to move": (lambda c: c.migrate(FLOW, FLOW, where=True), "where is text, not True"),
    "runs to move in no Unicode": (lambda c: c.migrate(FLOW, FLOW, where="\udcff"), "half a surrogate"),
    "the key of an attribute": (lambda c: c.attribute("run-1", "tags", key=1.5), "key of .* tags is text"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_argument_of_another_type_is_refused_and_leaves_no_trace(kit: Kit, what: str) -> None:
    act, message = REFUSED[what]
    kit.client.start(FLOW, "run-1")
    kit.settle()
    before = kit.client.history("run-1")
    with pytest.raises(UsageError, match=message):
        act(kit.client)
    assert kit.client.history("run-1") == before
    assert [run["flow_id"] for run in kit.client.search()] == ["run-1"]


@pytest.mark.parametrize("what", REFUSED)
def test_event_loops_are_refused_the_same(kit: Kit, what: str) -> None:
    act, message = REFUSED[what]
    kit.client.start(FLOW, "run-1")

    async def try_it() -> None:
        await act(kit.client.aio)

    with pytest.raises(UsageError, match=message):
        asyncio.run(try_it())


BAD_KEY = (
    "^attribute tags(: the key .* text with (half a surrogate|a NUL)"
    "| is a map: give its entries by key, text that)"
)
ENTRIES: dict[str, Any] = {
    "a number": {3: 3},
    "nothing": {None: 3},
    "a tuple": {(1,): 3},
    "an empty text": {"": 3},
    "a text with NUL": {"a\0": 3},
}


@pytest.mark.parametrize("entries", ENTRIES.values(), ids=ENTRIES)
def test_entries_of_a_map_have_keys_of_text(kit: Kit, entries: Any) -> None:
    kit.client.start(FLOW, "run-1")
    before = kit.client.history("run-1")
    with pytest.raises(InvalidValue, match=BAD_KEY):
        kit.client.set_attributes("run-1", {"tags": entries})
    with pytest.raises(InvalidValue, match=BAD_KEY):
        kit.client.start(FLOW, "run-2", attributes={"tags": entries})
    assert kit.client.history("run-1") == before


def test_a_key_may_be_a_whole_number_as_it_may_in_a_handler(kit: Kit) -> None:
    kit.client.start(FLOW, "run-1", attributes={"tags": {"1": 10}})
    kit.settle()
    kit.client.publish("run-1", "letters", "x", 3)
    kit.client.set_attributes("run-1", {"tags": {"2": 20}})
    assert kit.client.attributes("run-1")["tags"] == {"1": 10, "2": 20}
    assert kit.client.attribute("run-1", "tags", key=2) == 20
    assert kit.client.wait_for_attribute("run-1", "tags", 20, key=2, timeout=5) == 20
    assert len(kit.client.history("run-1")) >= 3
    kit.client.time_travel("run-1")
    assert kit.client.attribute("run-1", "tags", key="2") == 20, "what clients did is done again"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Engine(None), "a store is a database URL, .* not None"),  # type: ignore[arg-type]
        (lambda: Client(Path("runs.db")), "a store is a database URL, such as .* not PosixPath"),  # type: ignore[arg-type]
        (lambda: Engine("sqlite://", bodies="codec"), "bodies is Bodies.* not 'codec'"),  # type: ignore[arg-type]
        (lambda: Client("sqlite://", flows=[FLOW]), "a path in flows is text or a Path, not Flow"),  # type: ignore[list-item]
        (lambda: Client("sqlite://", flows=FLOW), "flows is a list of paths, not Flow"),  # type: ignore[arg-type]
        (lambda: Client("sqlite://", search_path=3), "search_path is .* not 3"),  # type: ignore[arg-type]
        (lambda: Worker("sqlite://", concurrency=0), "concurrency is at least 1, not 0"),
        (lambda: Worker("sqlite://", concurrency=100_000), "concurrency is at most 10000, not 100000: each"),
        (lambda: Worker("sqlite://", concurrency="8"), "concurrency is a whole number, not '8'"),  # type: ignore[arg-type]
        (lambda: Worker("sqlite://", processes="2"), "processes is a whole number, not '2'"),  # type: ignore[arg-type]
        (lambda: Worker("sqlite://", retention="30d"), "retention is a timedelta, not '30d'"),  # type: ignore[arg-type]
        (lambda: Worker("sqlite://", queues=[3]), "a name in queues is text, not 3"),  # type: ignore[list-item]
        (lambda: Worker("sqlite://", metrics=True), "metrics is Metrics, .* not True"),  # type: ignore[arg-type]
        (lambda: Worker("sqlite://", on_progress=3), "on_progress is a function, not 3"),  # type: ignore[arg-type]
        (lambda: Worker("sqlite://").run_until_closed(["r"]), r"flow_id is text, not \['r'\]"),  # type: ignore[arg-type]
        (lambda: Engine("sqlite://", attribute_store=3), "attribute_store is a database URL, not 3"),  # type: ignore[arg-type]
        (lambda: Engine("a\0b.db"), "no file can have this name, with a NUL character"),
        (lambda: Engine("sqlite:///a%00b.db"), "no file can have this name, with a NUL character"),
        (lambda: Worker("sqlite://").run_until_idle("1h"), "horizon is a timedelta or"),  # type: ignore[arg-type]
        (lambda: Worker("sqlite://").stop("1h"), "grace is a timedelta or"),  # type: ignore[arg-type]
        (lambda: Client("sqlite://").within("x"), "a connection is one of SQLAlchemy, not 'x'"),  # type: ignore[arg-type]
        (lambda: Client("sqlite://").migrate(FLOW, FLOW, mapping=[3]), "a name in mapping is text, not 3"),  # type: ignore[list-item]
    ],
)
def test_clients_and_workers_say_what_they_cannot_be_made_with(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_one_name_or_path_may_stand_without_a_list(tmp_path: Path) -> None:
    """The letters of a text are never meant."""
    place = tmp_path / "flows"
    place.mkdir()
    (place / "one.flow.yaml").write_text("flow: One\nstart: S\nsteps: {S: {graceful_complete: done}}\n")
    either: tuple[Any, ...] = (str(place), place)
    for paths in either:
        assert [flow.name for flow in Catalogue.of_paths(paths).flows] == ["One"]
        engine = Engine("sqlite://")
        with (
            Worker(engine, queues="One", search_path=paths, flows=paths),
            Client(engine, flows=paths) as client,
        ):
            client.start("One", "run-1")
            assert client.wait("run-1", 60)["status"] == "COMPLETED"
        engine.close()


@pytest.mark.parametrize("span", [timedelta(hours=1), 3600, 3600.0])
def test_spans_are_timedeltas_or_seconds(kit: Kit, span: timedelta | float) -> None:
    kit.client.start(FLOW, "run-1", timeout=span)
    kit.client.start(FLOW, "run-2", timeout=3600)
    one, two = (kit.client.describe(run)["deadline_at"] for run in ("run-1", "run-2"))
    assert one == two


@pytest.mark.parametrize("make", [Client, Worker])
@pytest.mark.parametrize("part", ["bodies", "tracing", "attribute_store"])
def test_parts_of_the_engine_beside_an_engine_are_not_lost_silently(make: Any, part: str) -> None:
    """Values would be stored as they are, for instance, where they were to be encrypted."""
    parts: dict[str, Any] = {
        "bodies": Bodies([Compression()]),
        "tracing": Tracing(),
        "attribute_store": "sqlite:///customers.db",
    }
    with pytest.raises(UsageError, match=f"{part} is of the engine"):
        make(Engine("sqlite://"), **{part: parts[part]})
    make(Engine("sqlite://", **{part: parts[part]}), **{part: parts[part]}).engine.close()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Encryption({"2030": "x" * 32}), "keys are given as bytes by key id"),  # type: ignore[dict-item]
        (lambda: Encryption(b"x" * 32), "keys are given as bytes by key id"),  # type: ignore[arg-type]
        (lambda: Bodies(Compression()), "codecs is a list"),  # type: ignore[arg-type]
        (lambda: Bodies("zlib"), "codecs is a list"),  # type: ignore[arg-type]
        (lambda: Bodies([], "/var/objects"), "objects is a place"),  # type: ignore[arg-type]
        (lambda: Tracing("otlp"), "what Tracing takes is span processors, .* not 'otlp'"),  # type: ignore[arg-type]
        (lambda: Engine("sqlite://", tracing="otlp"), "tracing is Tracing, .* not 'otlp'"),  # type: ignore[arg-type]
    ],
)
def test_codecs_and_traces_say_what_they_cannot_be_made_with(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_a_worker_hears_signals_in_the_main_thread_only() -> None:
    with ThreadPoolExecutor(1) as threads, pytest.raises(UsageError, match="only the main thread"):
        threads.submit(lambda: Worker("sqlite://").run(handles_signals=True)).result()


def test_a_worker_says_how_many_threads_the_machine_lets_it_have(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, before = threading.Thread.start, set(threading.enumerate())

    def begin_three(thread: threading.Thread) -> None:
        if thread.name.startswith("handler-") and int(thread.name.removeprefix("handler-")) > 3:
            raise RuntimeError("can't start new thread")
        begin(thread)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", begin_three)
        worker = Worker(kit.engine, concurrency=50)
        with pytest.raises(UsageError, match=r"concurrency 50 .* after 3 .*; ask for fewer, or raise"):
            worker.start()
    assert not worker.is_started
    begun = set(threading.enumerate()) - before
    assert not [each for each in begun if each.name.startswith("handler-")]
    with Worker(kit.engine, concurrency=2):
        kit.client.search()


def test_commands_allow_as_many_threads_as_workers_do() -> None:
    from typer.main import get_command

    from orchestrator.cli.main import app

    commands: Any = get_command(app)
    for name in ("run", "worker"):
        (option,) = (each for each in commands.commands[name].params if each.name == "concurrency")
        assert option.type.max == MOST_THREADS


def test_an_engine_has_one_worker_at_a_time(kit: Kit) -> None:
    second = Worker(kit.engine)
    with kit.working():
        with pytest.raises(UsageError, match="this engine has a worker"):
            second.start()
        with pytest.raises(UsageError, match="this engine has a worker"), second:
            pass
    with second:
        kit.client.search()


COMPUTED = """
flow: Computed
input: string
output: string
attributes: {m: {type: string, map: true}}
channels: {c: {type: string, map: true, leftover: true}}
start: Begin
steps:
  Begin:
    DOES
    graceful_complete: done
"""


@pytest.mark.parametrize(
    "does",
    [
        "publish: {c: {'${input}': x}}",
        "set: {m: {'${input}': x}}",
        "wait_for: {until: {channel: c, key: '${input}'}}",
        "wait_for: {until: {subflow: Computed, flow_id: '${input}', input: x}}",
    ],
)
def test_a_computed_key_or_id_with_nul_fails_its_step(kit: Kit, does: str) -> None:
    kit.client.start(acted(COMPUTED.replace("DOES", does)), "run-1", "a\0")
    with kit.working() as worker:
        described = worker.run_until_closed("run-1")
    assert described["status"] == "FAILED"
    assert re.search("NUL character|reserved", described["error"]["message"])


@pytest.mark.parametrize("name", ["flow_id", "flow", "status"])
def test_nothing_is_found_by_text_that_no_run_can_have(kit: Kit, name: str) -> None:
    kit.client.start(FLOW, "run-1")
    assert kit.client.search(rf"{name} == 'a\u0000'") == []
    assert kit.client.search(rf"{name} == 'a\u0000' || flow_id == 'run-1'") != []
