"""Flow ids and keys stand in columns of their own: what no database keeps there is refused."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import InvalidValue, UsageError
from tests.support import acting
from tests.support.acting import acted, doings
from tests.support.engine_kit import Kit

NUL = "a\0b"
FLOW = """
flow: Keyed
input: any
channels: {box: {type: any, map: true, external: true}}
attributes: {entry: {type: any, map: true}}
start: Work
steps:
  Work:
    input: any
    execute: {handler: act, may: {publish: [box], set: [entry]}, retry: {maximum_attempts: 1}}
    on_failure: Failed
    EFFECT
    go_to: Hold
  Failed: {input: any, graceful_complete: "${failure.message}"}
  Hold: {input: any, wait_for: {until: {timer: 1d}}, graceful_complete: }
"""


def keyed(effect: str = "") -> Any:
    return acted(FLOW.replace("EFFECT", effect))


@pytest.fixture(autouse=True)
def _no_doings() -> None:
    acting.reset()


@pytest.mark.rule(9)
@pytest.mark.parametrize(
    "effect",
    [
        'set: {entry: {"${input}": 1}}',
        'publish: {box: {"${input}": 1}}',
        """publish: {box: {"${'x' + input}": 1}}""",
    ],
)
def test_a_computed_key_with_a_nul_fails_the_decision(kit: Kit, effect: str) -> None:
    kit.client.start(keyed(effect), "run-1", NUL)
    kit.settle()
    run = kit.client.describe("run-1")
    assert (run["status"], run["attributes"], run["channels"]["box"]["size"]) == ("COMPLETED", {}, 0)
    assert "NUL character" in run["outputs"][0]["output"]


@pytest.mark.rule(9)
@pytest.mark.parametrize("key", [NUL, "half \ud800"])
@pytest.mark.parametrize("verb", ["publish", "set"])
def test_a_handlers_key_that_cannot_be_kept_fails_its_attempt(kit: Kit, key: str, verb: str) -> None:
    def act(ctx: Any, _: Any) -> None:
        if verb == "publish":
            ctx.publish("box", 1, key=key)
        else:
            ctx.attributes["entry"][key] = 1

    doings["Work"] = act
    kit.client.start(keyed(), "run-1")
    kit.settle()
    run = kit.client.describe("run-1")
    assert (run["status"], run["attributes"], run["channels"]["box"]["size"]) == ("COMPLETED", {}, 0)
    assert "a key of" in run["outputs"][0]["output"]


@pytest.mark.rule(8)
def test_clients_cannot_give_one(kit: Kit) -> None:
    flow, client = keyed(), kit.client
    client.start(flow, "run-1")
    for refused in (
        lambda: client.start(flow, NUL),
        lambda: client.start(flow, "run-2", request_id=NUL),
        lambda: client.start(flow, "run-2", attributes={"entry": {NUL: 1}}),
        lambda: client.publish("run-1", "box", 1, NUL),
        lambda: client.set_attributes("run-1", {"entry": {NUL: 1}}),
    ):
        with pytest.raises((InvalidValue, UsageError)):
            refused()
    kit.settle()
    assert client.describe("run-1")["status"] == "RUNNING"
    assert [run["flow_id"] for run in client.search()] == ["run-1"]
