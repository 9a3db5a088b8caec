"""Many wait here for runs that other processes close: one look for all, and only those are woken."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.lookout import FEW
from orchestrator.engine.waiting import Waiter
from orchestrator.errors import StoreError
from tests.support.engine_kit import PATIENCE, Kit, flow_of

PARKED = flow_of(
    """
flow: Parked
channels: {go: {type: integer, external: true}}
start: Wait
steps: {Wait: {wait_for: {until: {channel: go}}, graceful_complete: "${wait.go.message}"}}
output: integer
"""
)
NAMES = [f"p-{number}" for number in range(FEW * 3)]


@pytest.fixture
def elsewhere(kit: Kit) -> Iterator[Client]:
    """A client of another process, as far as the store can tell."""
    with Client(Engine(kit.path, clock=kit.clock)) as client:
        yield client
        client.engine.close()


def all_wait(kit: Kit) -> bool:
    """Each has seen its run running."""
    waiters = kit.engine.waiting.all()
    return len(waiters) == len(NAMES) and all(waiter.run is not None for waiter in waiters)


async def until_all_wait(kit: Kit) -> None:
    async with asyncio.timeout(PATIENCE):
        while not all_wait(kit):
            await asyncio.sleep(0)


def test_only_those_whose_runs_were_closed_are_woken(kit: Kit, elsewhere: Client) -> None:
    async def wait_for_all() -> list[Any]:
        aio = kit.client.aio
        waiting = {name: asyncio.create_task(aio.wait(name, timeout=PATIENCE)) for name in NAMES}
        await until_all_wait(kit)
        woken = {waiter.flow_id: note_calls(waiter) for waiter in kit.engine.waiting.all()}
        await asyncio.to_thread(elsewhere.publish, "p-1", "go", 1)
        await waiting.pop("p-1")
        assert [name for name, calls in woken.items() if calls] == ["p-1"]
        for name in waiting:
            await asyncio.to_thread(elsewhere.publish, name, "go", 2)
        return await asyncio.gather(*waiting.values())

    for name in NAMES:
        kit.client.start(PARKED, name)
    ended = asyncio.run(wait_for_all())
    assert [run["outputs"][0]["output"] for run in ended] == [2] * (len(NAMES) - 1)


def note_calls(waiter: Waiter) -> list[str]:
    """Filled when it is woken."""
    calls: list[str] = []
    bell = waiter.wake

    class Noted:
        def set(self) -> None:
            calls.append(waiter.flow_id)
            bell.set()

    waiter.wake = Noted()
    return calls


def test_a_run_that_is_gone_wakes_who_waits_for_it(kit: Kit, elsewhere: Client) -> None:
    """Closed, and another begun in its place: who waits goes on with that one."""

    async def wait_for_all() -> dict[str, Any]:
        aio = kit.client.aio
        waiting = {name: asyncio.create_task(aio.wait(name, timeout=PATIENCE)) for name in NAMES}
        await until_all_wait(kit)
        (first,) = (waiter.run for waiter in kit.engine.waiting.all() if waiter.flow_id == "p-0")
        elsewhere.stop("p-0")
        found: dict[str, Any] = await waiting.pop("p-0")
        elsewhere.start(PARKED, "p-0", reuse_policy="allow_if_no_running")
        again = asyncio.create_task(aio.wait("p-0", timeout=PATIENCE))
        waiting["p-0"] = again
        await until_all_wait(kit)
        (second,) = (waiter.run for waiter in kit.engine.waiting.all() if waiter.flow_id == "p-0")
        assert first != second
        elsewhere.publish("p-0", "go", 3)
        assert (await again)["status"] == "COMPLETED"
        for name, task in waiting.items():
            if name != "p-0":
                task.cancel()
        return found

    for name in NAMES:
        kit.client.start(PARKED, name)
    assert asyncio.run(wait_for_all())["status"] == "CANCELED"


def test_a_store_that_cannot_say_is_asked_by_each(kit: Kit, elsewhere: Client) -> None:
    async def wait_for_all() -> None:
        aio = kit.client.aio
        waiting = [asyncio.create_task(aio.wait(name, timeout=PATIENCE)) for name in NAMES]
        await until_all_wait(kit)
        reading = kit.engine.store.reading

        def fail() -> Any:
            raise StoreError("the server is away")

        kit.engine.store.reading = fail  # type: ignore[method-assign]
        kit.engine._lookout.look()
        found = await asyncio.gather(*waiting, return_exceptions=True)
        kit.engine.store.reading = reading  # type: ignore[method-assign]
        assert {str(each) for each in found} == {"the server is away"}

    for name in NAMES:
        kit.client.start(PARKED, name)
    asyncio.run(wait_for_all())
