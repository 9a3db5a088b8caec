"""Features of the language whose state the store must keep: joins, locks, deadlines, maps, loads."""

import threading

import pytest

from orchestrator.definition import executable
from orchestrator.errors import DefinitionInvalid
from tests.support.engine_kit import PATIENCE, Kit, flow_of

FAN_OUT = flow_of(
    """
flow: FanOut
handlers: tests.support.engine_handlers
input: list of integer
output: list of integer
joins: {done: integer}
start: Split
steps:
  Split:
    input: list of integer
    join: done
    go_to_many:
      - {for_each: "${input}", step: Branch}
      - {step: Collect, branch: false}
  Branch:
    input: integer
    execute: double
    report: {done: "${result}"}
    dead_end: true
  Collect:
    wait_for: {all_of: [{join: done}]}
    graceful_complete: "${wait.done.messages}"
"""
)
LOCKED = flow_of(
    """
flow: Locked
handlers: tests.support.engine_handlers
attributes: {total: {type: integer, initial: 0}}
output: integer
start: Split
steps:
  Split:
    go_to_many: [{step: Add}, {step: Add}, {step: Add}]
  Add:
    execute: {handler: attempt_of, locks: [total]}
    set: {total: "${attributes.total + 1}"}
    decide:
      - when: attributes.total == 2
        graceful_complete: "${attributes.total + 1}"
      - dead_end: true
"""
)
DEADLINE = flow_of(
    """
flow: Deadline
channels: {never: string}
timeout: {after: 1h, policy: fail}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: never}}, graceful_complete: null}
"""
)
CHANNELS = flow_of(
    """
flow: Channels
attributes:
  plain: string
  stock: {type: integer, map: true}
channels:
  queue: {type: integer, external: true}
  rooms: {type: string, map: true, external: true}
start: First
steps:
  First:
    set: {plain: a}
    publish: {queue: 1}
    go_to: Second
  Second:
    wait_for:
      all_of:
        - {channel: queue, for: 2}
        - {channel: rooms, key: blue}
    set: {plain: null}
    graceful_complete: "${wait.queue.messages}"
"""
)


def test_reports_of_branches_are_kept_until_the_join(kit: Kit) -> None:
    run = kit.run(FAN_OUT, input=[1, 2, 3, 4, 5])
    assert sorted(run["outputs"][0]["output"]) == [2, 4, 6, 8, 10]
    assert run["joins"] == {}


@pytest.mark.rule(44)
def test_a_wide_fan_out_is_worked_off_by_few_threads(kit: Kit) -> None:
    run = kit.run(FAN_OUT, input=list(range(600)))
    assert sorted(run["outputs"][0]["output"]) == [2 * number for number in range(600)]


def test_locked_steps_follow_each_other(kit: Kit) -> None:
    run = kit.run(LOCKED)
    assert run["attributes"] == {"total": 3}


def test_a_deadline_fails_the_run(kit: Kit) -> None:
    kit.client.start(DEADLINE, "run-1")
    with kit.working() as worker:
        worker.run_until_idle()
        assert kit.client.describe("run-1")["status"] == "RUNNING"
        kit.clock.advance(hours=1)
        run = kit.client.wait("run-1", timeout=PATIENCE)
    assert run["status"] == "FAILED"
    assert run["error"]["type"] == "timeout"


def test_attributes_and_channels_are_kept_between_steps(kit: Kit) -> None:
    kit.client.start(CHANNELS, "run-1")
    described = kit.client.describe("run-1", messages=True)
    assert described["attributes"] == {"plain": "a"}
    assert described["channels"]["queue"] == {"size": 1, "messages": [1]}
    kit.client.publish("run-1", "queue", 2)
    kit.client.publish("run-1", "rooms", "x", key="green")
    kit.client.publish("run-1", "rooms", "y", key="blue")
    run = kit.client.describe("run-1", messages=True)
    assert run["status"] == "COMPLETED"
    assert run["attributes"] == {}
    assert run["channels"]["rooms"] == {"size": 1, "keys": {"green": 1}, "messages": {"green": ["x"]}}


def test_clients_on_many_threads_lose_nothing(kit: Kit) -> None:
    """Eight threads publish at once; every message is in the queue once, in one order."""
    kit.client.start(CHANNELS, "run-1")
    kit.client.stop("run-1")
    flow = flow_of("flow: Box\nchannels: {box: {type: integer, external: true}}\n")
    kit.client.start(flow, "box")

    def publish(first: int) -> None:
        for number in range(first, first + 25):
            kit.client.publish("box", "box", number)

    threads = [threading.Thread(target=publish, args=(100 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    messages = kit.client.describe("box", messages=True)["channels"]["box"]["messages"]
    assert sorted(messages) == sorted(100 * t + n for t in range(8) for n in range(25))
    for first in range(0, 800, 100):
        own = [message for message in messages if first <= message < first + 100]
        assert own == sorted(own)


def test_what_the_engine_cannot_execute_is_refused_at_start(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(executable.FINDERS, "a step", lambda flow: iter([flow.steps["A"].path]))
    flow = flow_of("flow: Late\nstart: A\nsteps: {A: {dead_end: true}}")
    with pytest.raises(DefinitionInvalid, match="a step cannot be executed yet"):
        kit.client.start(flow, "run-1")


@pytest.mark.rule(184)
def test_a_deadline_calls_its_handler(kit: Kit) -> None:
    flow = flow_of(
        """
flow: Late
handlers: tests.support.engine_handlers
channels: {never: string}
timeout: 1h
start: Wait
steps:
  Wait: {wait_for: {until: {channel: never}}, graceful_complete: null}
on_timeout: {execute: attempt_of, force_complete: "${result}"}
"""
    )
    kit.client.start(flow, "run-1")
    with kit.working() as worker:
        worker.run_until_idle()
        kit.clock.advance(hours=1)
        run = kit.client.wait("run-1", timeout=PATIENCE)
    assert run["status"] == "COMPLETED"
    assert run["outputs"][0]["output"] == 1


def test_a_handler_sees_the_messages_that_it_loads(kit: Kit) -> None:
    flow = flow_of(
        """
flow: Reader
handlers: tests.support.engine_handlers
channels: {box: {type: integer, external: true}}
start: Read
steps:
  Read: {execute: {handler: read_box, loads: [{channel: box}]}, graceful_complete: "${result}"}
"""
    )
    kit.client.start(flow, "run-1", delay=60)
    kit.client.publish("run-1", "box", 1)
    kit.client.publish("run-1", "box", 2)
    kit.clock.advance(minutes=1)
    with kit.working():
        run = kit.client.wait("run-1", timeout=PATIENCE)
    assert run["outputs"][0]["output"] == [1, 2]
    assert run["channels"]["box"] == {"size": 2}
