"""Acting on runs from the command line: RPCs, attributes, timers, retries, configuration, waits."""

from __future__ import annotations

import json
import subprocess

import pytest

from orchestrator import Client
from tests.acceptance.command import Place
from tests.acceptance.test_flows import fits

ORDER = """\
flow: Order
handlers: handlers.order
input: integer
output: string
attributes:
  status: {type: string, initial: new, index: keyword}
  stock: {type: integer, map: true}
start: Wait
steps:
  Wait:
    input: integer
    wait_for: {any_of: [{timer: 1h}, {timer: 2h, id: late}]}
    go_to: {step: Charge, input: "${input}"}
  Charge:
    input: integer
    execute: {handler: charge, retry: {initial_interval: 1h}}
    graceful_complete: "charged ${result}"
rpcs:
  status: {output: string, returns: "${attributes.status}"}
  price: {handler: price, output: integer}
  pay:
    input: integer
    decide:
      - when: input > 0
        set: {status: paid}
        returns: ${input}
      - {reject: "nothing to pay"}
timeout: {after: 3h, policy: cancel}
"""
HANDLERS = """\
def price(ctx):
    print("asked for the price")
    return 42

def charge(ctx, amount):
    if ctx.attempt == 1:
        raise ValueError("try again")
    return amount
"""


@pytest.fixture
def place(place: Place) -> Place:
    place.write("flows/order.flow.yaml", ORDER)
    place.write("handlers/order.py", HANDLERS)
    directory = place.directory
    with Client(f"sqlite:///{directory}/orchestrator.db", flows=[directory / "flows"]) as client:
        client.start("Order", "o-1", 7)
    return place


def test_an_rpc_prints_its_output_and_nothing_else(place: Place) -> None:
    done = place.type("rpc", "o-1", "pay", "5", "-o", "json")
    assert (done.code, done.stdout) == (0, "5\n")
    assert place.type("rpc", "o-1", "status").stdout == '"paid"\n'
    priced = place.type("rpc", "o-1", "price", "-o", "json")
    assert (priced.code, priced.stdout, "asked for the price" in priced.stderr) == (0, "42\n", True)


@pytest.mark.parametrize(
    ("words", "code", "type"),
    [
        (["o-1", "pay", "0"], 1, "rejected"),
        (["o-1", "pay", '"much"'], 1, "invalid_value"),
        (["o-1", "pay", "much"], 2, "usage"),
        (["o-1", "sell"], 4, "not_found"),
        (["o-2", "pay", "1"], 4, "not_found"),
    ],
)
def test_a_refused_call_says_how(place: Place, words: list[str], code: int, type: str) -> None:
    done = place.type("rpc", *words, "-o", "json")
    assert (done.code, done.stdout, done.error()["type"]) == (code, "", type)


def test_a_failing_handler_and_a_closed_run(place: Place) -> None:
    place.write("handlers/order.py", HANDLERS.replace("return 42", "raise LookupError('no price')"))
    done = place.type("rpc", "o-1", "price", "-o", "json")
    assert (done.code, done.error()["type"], done.error()["failure"]["type"]) == (
        1,
        "handler_failed",
        "LookupError",
    )
    place.type("stop", "o-1")
    assert place.type("rpc", "o-1", "pay", "1", "-o", "json").error()["type"] == "not_active"
    assert place.type("rpc", "o-1", "status").code == 0


def test_attributes_are_read_and_written(place: Place) -> None:
    done = place.type("attributes", "set", "o-1", 'status="sent"', 'stock={"nut": 3}', "-o", "json")
    assert (done.code, done.json()) == (0, {"flow_id": "o-1", "attributes": ["status", "stock"]})
    read = place.type("attributes", "get", "o-1", "-o", "json")
    assert read.json() == {"status": "sent", "stock": {"nut": 3}}
    assert place.type("attributes", "get", "o-1", "stock", "--key", "nut").stdout == "3\n"
    assert place.type("attributes", "set", "o-1", "status=null").code == 0
    assert place.type("attributes", "get", "o-1", "status").stdout == "null\n"
    assert place.type("attributes", "get", "o-1").stdout.split() == ["stock", '{"nut":', "3}"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["set", "o-1", "status=1"], 1),
        (["set", "o-1", "status"], 2),
        (["set", "o-1", "state=1"], 4),
        (["get", "o-1", "state"], 4),
        (["get", "o-1", "--key", "nut"], 2),
        (["get", "o-1", "status", "--key", "nut"], 1),
        (["wait", "o-1", "status", '"x"', "--comparison", "~"], 2),
    ],
)
def test_attributes_that_are_none(place: Place, words: list[str], code: int) -> None:
    assert place.type("attributes", *words).code == code


@pytest.mark.rule(201)
def test_waiting_for_an_attribute(place: Place) -> None:
    assert place.type("attributes", "wait", "o-1", "status").stdout == '"new"\n'
    assert place.type("attributes", "wait", "o-1", "status", '"x"', "--timeout", "0").code == 3
    waiting = subprocess.Popen(
        place.command("attributes", "wait", "o-1", "status", '"paid"', "--timeout", "30s"),
        cwd=place.directory,
        env=place.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    place.type("rpc", "o-1", "pay", "5")
    assert waiting.communicate(timeout=40)[0] == '"paid"\n'
    assert waiting.returncode == 0
    place.type("stop", "o-1")
    assert place.type("attributes", "wait", "o-1", "status", '"x"').code == 4


@pytest.mark.rule(86)
@pytest.mark.rule(87)
def test_a_timer_is_skipped_and_a_retry_hastened(place: Place) -> None:
    several = place.type("skip-timer", "o-1", "Wait-1", "-o", "json")
    assert (several.code, "say which of timer, late" in several.error()["message"]) == (1, True)
    assert place.type("skip-timer", "o-1", "Wait-1", "late").code == 0
    working = subprocess.Popen(
        place.command("run", "--resume", "o-1", "-o", "json"),
        cwd=place.directory,
        env=place.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    tries = (place.type("retry-now", "o-1", "Charge-1").code for _ in range(50))
    assert 0 in tries, "Charge-1 never backs off"
    run = json.loads(working.communicate(timeout=40)[0])
    assert run["outputs"][0]["output"] == "charged 7"


@pytest.mark.rule(186)
def test_a_deadline_is_shown_and_skipped(place: Place) -> None:
    described = place.type("describe", "o-1", "-o", "json").json()
    assert fits(described, "run") == []
    assert [active["step_execution_id"] for active in described["active"]] == ["Wait-1"]
    assert described["deadline_at"] is not None
    assert "times out in" in place.type("describe", "o-1").stdout
    assert place.type("skip-timer", "o-1", "--deadline").code == 0
    assert place.type("describe", "o-1", "-o", "json").json()["status"] == "CANCELED"
    assert place.type("skip-timer", "o-1", "--deadline").code == 4


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["skip-timer", "o-1"], 2),
        (["skip-timer", "o-1", "Wait-1", "--deadline"], 2),
        (["skip-timer", "o-1", "Gone-1"], 4),
        (["skip-timer", "o-1", "Wait-1", "soon"], 1),
        (["retry-now", "o-1", "Wait-1"], 1),
        (["retry-now", "o-1", "Gone-1"], 4),
    ],
)
def test_steering_what_is_not_there(place: Place, words: list[str], code: int) -> None:
    assert place.type(*words).code == code


@pytest.mark.rule(200)
def test_waiting_for_a_step(place: Place) -> None:
    assert place.type("wait", "o-1", "--step", "Wait", "--timeout", "0").code == 3
    place.type("skip-timer", "o-1", "Wait-1", "0")
    done = place.type("wait", "o-1", "--step", "Wait-1", "-o", "json")
    assert (done.code, done.json()) == (0, {"flow_id": "o-1", "step_execution_id": "Wait-1"})
    assert place.type("wait", "o-1", "--step", "Wart").code == 4
    place.type("stop", "o-1")
    assert place.type("wait", "o-1", "--step", "Charge").code == 0
    assert place.type("wait", "o-1", "--step", "Charge-2").code == 4


@pytest.mark.rule(23)
def test_the_configuration_is_shown_and_changed(place: Place) -> None:
    assert place.type("config", "o-1").stdout == "durability=sync\n"
    assert place.type("config", "o-1", "durability=async", "-o", "json").json() == {"durability": "async"}
    assert place.type("config", "o-1", "durability=never").code == 1
    assert place.type("config", "o-1", "speed=high").code == 4
    assert place.type("config", "o-1", "speed").code == 2


@pytest.mark.rule(182)
@pytest.mark.rule(183)
def test_a_start_replaces_the_timeout(place: Place) -> None:
    words = ["start", "Order", "--input", "1", "--timeout", "1ms", "--timeout-policy", "fail"]
    assert place.type(*words, "--id", "o-2").code == 0
    assert place.type("run", "--resume", "o-2", "-o", "json").json()["error"]["type"] == "timeout"
    assert place.type(*words[:-1], "handler", "--id", "o-3").code == 1
    assert place.type(*words[:-1], "explode", "--id", "o-3").code == 2


@pytest.mark.rule(203)
def test_runs_are_found_by_steps_and_indexed_attributes(place: Place) -> None:
    place.type("start", "Order", "--id", "o-2", "--input", "1", "--attribute", 'status="big"')
    for where in ('attributes.status == "big"', '"Wait" in steps && flow_id != "o-1"', 'flow_id == "o-2"'):
        found = place.type("list", "--where", where, "-o", "json").json()
        assert [run["flow_id"] for run in found] == ["o-2"], where
