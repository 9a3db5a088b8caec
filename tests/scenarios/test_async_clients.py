"""Clients in event loops: what they want is committed together, by a thread that is not theirs."""

from __future__ import annotations

import asyncio
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, assert_type

import pytest

from orchestrator.core.travel import Target
from orchestrator.definition.model import Flow
from orchestrator.engine import awaiting
from orchestrator.engine.aio import AsyncClient
from orchestrator.engine.batch import Batch
from orchestrator.engine.client import Client
from orchestrator.engine.submission import Started
from orchestrator.engine.travelling import Travelled
from orchestrator.engine.waiting import Patience
from orchestrator.errors import (
    AlreadyStarted,
    InvalidValue,
    NotActive,
    NotFound,
    StoreError,
    UsageError,
    WaitTimeout,
)
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, flow_of

PARKED = flow_of(
    """
flow: Parked
input: integer
attributes: {note: {type: string, initial: none}}
channels: {go: {type: integer, external: true}}
start: Wait
steps:
  Wait:
    wait_for: {any_of: [{channel: go, id: go}, {timer: 1h}]}
    graceful_complete: "${wait.go.satisfied ? wait.go.message : -1}"
output: integer
"""
)
GATED = flow_of(
    """
flow: Gated
handlers: tests.support.engine_handlers
output: integer
start: Work
steps: {Work: {execute: gated, graceful_complete: "${result}"}}
"""
)


@pytest.fixture
def batches(kit: Kit) -> list[int]:
    """How many wishes each commit has answered."""
    answered: list[int] = []

    def note(batch: Batch) -> None:
        answered.append(len(batch.receipts) + len(batch.refused))

    kit.engine.on_batch = note
    return answered


def names(count: int) -> list[str]:
    return [f"p-{number}" for number in range(count)]


def outputs(kit: Kit, count: int) -> list[Any]:
    return [kit.client.describe(name)["outputs"][0]["output"] for name in names(count)]


def test_what_a_loop_wants_in_one_turn_is_one_commit_and_needs_no_threads(
    kit: Kit, batches: list[int]
) -> None:
    aio = kit.client.aio
    threads: list[str] = []

    async def all_of_them() -> None:
        await aio.start(PARKED, "p-0", 0)
        await asyncio.gather(*(aio.start(PARKED, name, 0) for name in names(30)[1:]))
        publishing = asyncio.gather(*(aio.publish(name, "go", 7) for name in names(30)))
        await asyncio.sleep(0)
        threads.extend(thread.name for thread in threading.enumerate())
        await publishing

    asyncio.run(all_of_them())
    assert sum(batches) == 60
    assert len(batches) < 10  # 3, unless the thread that has answered sees a part of what follows at once
    assert "client-call" not in threads
    assert outputs(kit, 30) == [7] * 30


def test_all_that_is_wanted_of_a_run_can_be_awaited(kit: Kit) -> None:
    """The names and words are the client's: what one of them does not take, the other does not either."""
    aio = kit.client.aio

    async def everything() -> None:
        started = await aio.start(PARKED, "p-0", input=1, request_id="first", attributes={"note": "a"})
        again = await aio.start(PARKED, "p-0", input=1, request_id="first", return_existing=True)
        assert (started.is_new, again.is_new, again.run_id) == (True, False, started.run_id)
        await aio.set_attributes("p-0", {"note": "b"})
        assert await aio.attributes("p-0") == {"note": "b"}
        await aio.update_config("p-0", {})
        await aio.skip_timer("p-0", "Wait-1")
        assert (await aio.wait("p-0", timeout=PATIENCE))["outputs"][0]["output"] == -1
        travelled = await aio.time_travel("p-0", Target(), reapply=False)
        assert travelled.run_attempt == 2
        await aio.stop("p-0", "fail", reason="enough")
        assert (await aio.describe("p-0"))["status"] == "FAILED"

    asyncio.run(everything())


def methods_of(owner: type) -> dict[str, Any]:
    return {
        name: found
        for name, found in vars(owner).items()
        if inspect.isfunction(found) and not name.startswith("_")
    }


@pytest.mark.parametrize("name", methods_of(Client))
def test_each_method_of_the_client_is_there_with_its_signature(name: str) -> None:
    awaited = methods_of(AsyncClient)[name]
    assert inspect.iscoroutinefunction(awaited)
    assert inspect.signature(awaited) == inspect.signature(methods_of(Client)[name])
    assert awaited.__doc__, "editors show it"


def test_type_checkers_know_what_is_awaited(kit: Kit) -> None:
    aio = kit.client.aio

    async def everything() -> None:
        assert_type(await aio.start(PARKED, "p-0", 1), Started)
        assert_type(await aio.publish("p-0", "go", 1), None)
        assert_type(await aio.wait("p-0", timeout=PATIENCE), dict[str, Any])
        assert_type(await aio.history("p-0"), list[dict[str, Any]])
        assert_type(await aio.time_travel("p-0"), Travelled)
        assert_type(await aio.pause("Parked"), bool)
        assert_type(await aio.find_flow("Parked"), Flow)
        assert_type(await aio.progress("p-0"), tuple[dict[str, Any], int])
        with pytest.raises(AttributeError, match="`engine` is none"):
            _ = aio.engine  # type: ignore[attr-defined]

    asyncio.run(everything())


def test_methods_of_a_subclass_can_be_awaited_too() -> None:
    class Shop(Client):
        def order(self, number: int) -> str:
            return self.start(PARKED, f"p-{number}", number).flow_id

    with Shop("sqlite://") as shop:
        aio: Any = shop.aio
        assert asyncio.run(aio.order(3)) == "p-3"


def test_a_flow_is_found_by_its_type_without_stopping_the_loop(kit: Kit) -> None:
    kit.client.start(PARKED, "p-0", 0)
    started = asyncio.run(kit.client.aio.start("Parked", "p-1", 0))
    assert started.is_new
    with pytest.raises(NotFound):
        asyncio.run(kit.client.aio.start("Nowhere", "p-2", 0))


def test_each_is_refused_for_itself(kit: Kit) -> None:
    aio = kit.client.aio

    async def all_of_them() -> list[Any]:
        await aio.start(PARKED, "p-0", 0)
        calls: list[Any] = [
            aio.publish("nobody", "go", 1),
            aio.publish("p-0", "go", "text"),
            aio.stop("p-0", "gently"),
            aio.start(PARKED, "p-0", 0),
            aio.publish("p-0", "go", 5),
        ]
        return await asyncio.gather(*calls, return_exceptions=True)

    *refused, published = asyncio.run(all_of_them())
    assert [type(each) for each in refused] == [NotFound, InvalidValue, UsageError, AlreadyStarted]
    assert published is None
    assert outputs(kit, 1) == [5]


def test_a_call_that_was_given_up_is_committed_and_answers_nobody(kit: Kit) -> None:
    aio = kit.client.aio

    async def give_up() -> None:
        await aio.start(PARKED, "p-0", 0)
        publishing = asyncio.ensure_future(aio.publish("p-0", "go", 3))
        await asyncio.sleep(0)
        publishing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await publishing
        await aio.wait("p-0", timeout=PATIENCE)

    asyncio.run(give_up())
    assert outputs(kit, 1) == [3]


def test_loops_in_several_threads_share_a_client(kit: Kit) -> None:
    aio = kit.client.aio

    async def some(mine: list[str]) -> None:
        await asyncio.gather(*(aio.start(PARKED, name, 0) for name in mine))
        await asyncio.gather(*(aio.publish(name, "go", 1) for name in mine))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: asyncio.run(some(names(40)[number::4])), range(4)))
    assert outputs(kit, 40) == [1] * 40


def test_a_worker_whose_threads_are_all_taken_keeps_no_call_back(kit: Kit) -> None:
    engine_handlers.gates["Work"] = gate = Gate()

    async def start_beside(aio: Any) -> None:
        await aio.start(PARKED, "p-0", 0)
        await aio.publish("p-0", "go", 2)

    kit.client.start(GATED, "gated")
    with kit.working(concurrency=1) as worker:
        gate.await_arrival()
        asyncio.run(asyncio.wait_for(start_beside(kit.client.aio), PATIENCE))
        assert outputs(kit, 1) == [2]
        gate.open()
        worker.run_until_closed("gated")


def test_a_loop_that_ends_before_its_answer_disturbs_nobody(kit: Kit) -> None:
    """Its wish stands; the next loop is answered."""
    kit.client.start(PARKED, "p-0", 0)
    kit.client.start(PARKED, "p-1", 0)

    async def leave() -> None:
        asyncio.ensure_future(kit.client.aio.publish("p-0", "go", 1)).add_done_callback(lambda _: None)
        await asyncio.sleep(0)

    asyncio.run(leave())
    asyncio.run(kit.client.aio.publish("p-1", "go", 2))
    assert outputs(kit, 2)[1] == 2


def test_a_database_that_is_gone_is_told_to_all(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    aio = kit.client.aio

    def fail(*_: object) -> Any:
        raise StoreError("the disk is full")

    async def all_of_them() -> list[Any]:
        monkeypatch.setattr(kit.engine.store, "writing", fail)
        publishing = (aio.publish(name, "go", 1) for name in names(3))
        return await asyncio.gather(*publishing, return_exceptions=True)

    assert [str(each) for each in asyncio.run(all_of_them())] == ["the disk is full"] * 3


def test_a_closed_engine_has_no_thread_left(place: Any) -> None:
    before = set(threading.enumerate())
    with Client(str(place / "closed.db") if not isinstance(place, str) else place) as client:
        asyncio.run(client.aio.start(PARKED, "p-0", 0))
        begun = set(threading.enumerate()) - before
        (leader,) = (thread for thread in begun if thread.name.startswith("commits"))
    assert not leader.is_alive()


def test_many_wait_for_a_run_with_a_few_threads(kit: Kit) -> None:
    aio = kit.client.aio
    before = set(threading.enumerate())
    threads: list[threading.Thread] = []

    async def wait_for_all() -> list[Any]:
        await asyncio.gather(*(aio.start(PARKED, name, 0) for name in names(100)))
        waits: list[Any] = [aio.wait(name, timeout=PATIENCE) for name in names(100)]
        waiting = [asyncio.create_task(wait) for wait in waits]
        waiting.append(asyncio.create_task(aio.wait_for_step("p-0", "Wait", timeout=PATIENCE)))
        assert await aio.wait_for_attribute("p-0", "note", "none") == "none"
        threads.extend(set(threading.enumerate()) - before)
        await asyncio.gather(*(aio.publish(name, "go", 4) for name in names(100)))
        return await asyncio.gather(*waiting)

    *runs, stepped = asyncio.run(wait_for_all())
    assert [run["outputs"][0]["output"] for run in runs] == [4] * 100
    assert stepped is None
    assert len([each for each in threads if each.name.startswith("client-")]) <= 4


def test_who_waits_in_vain_is_told(kit: Kit) -> None:
    aio = kit.client.aio

    async def wait_in_vain() -> list[Any]:
        await aio.start(PARKED, "p-0", 0)
        await aio.start(PARKED, "p-1", 0)
        await aio.stop("p-1")
        calls: list[Any] = [
            aio.wait("p-0", timeout=0.01),
            aio.wait("nobody"),
            aio.wait_for_step("p-0", "Wait", timeout=0.01),
            aio.wait_for_step("p-0", "Wait", 0),
            aio.wait_for_attribute("p-1", "note", "other"),
        ]
        return await asyncio.gather(*calls, return_exceptions=True)

    refused = [type(each) for each in asyncio.run(wait_in_vain())]
    assert refused == [WaitTimeout, NotFound, WaitTimeout, UsageError, NotActive]


def test_the_more_wait_the_less_often_each_looks(kit: Kit) -> None:
    """For what other processes do; the waits of one process look 400 times a second at most."""
    kit.client.start(PARKED, "p-0", 0)

    def wait() -> Patience[Any]:
        return awaiting.wait_for_attribute(kit.engine, threading.Event(), "p-0", "note", "other")

    alone = wait()
    assert next(alone) == next(alone) == 0.05
    others = [wait() for _ in range(199)]
    assert [next(each) for each in others][-1] == next(alone) == 0.5
    for each in [alone, *others]:
        each.close()
    assert kit.engine.waiting.count == 0


def test_who_no_longer_waits_is_not_looked_for(kit: Kit) -> None:
    aio = kit.client.aio

    async def give_up() -> None:
        await aio.start(PARKED, "p-0", 0)
        waiting = asyncio.ensure_future(aio.wait("p-0"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(give_up())
    kit.client.close()  # after the last look
    assert not kit.engine.waiting.is_awaited("p-0")


def test_closing_is_awaited_like_all_methods_of_the_client() -> None:
    client = Client("sqlite://")

    async def use() -> None:
        await client.aio.start(PARKED, "one", 1)
        await client.aio.close()
        with pytest.raises(StoreError):
            await client.aio.start(PARKED, "two", 2)

    asyncio.run(use())
