"""Runs in the middle of everything, as a release leaves them in its store, and how they go on in a later one.

`python -m tests.support.earlier_runs NAME` writes NAME.sql and postgres/NAME.sql in tests/stores/earlier,
with the code that runs it: once for each form of the store, before that form changes.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from pathlib import Path
from unittest import mock

from orchestrator.binding import failures
from orchestrator.core.travel import Target
from tests.support.earlier_stores import keep_sqlite, kept_postgres
from tests.support.engine_kit import Kit, flow_of

FAN_OUT = flow_of(
    """
flow: FanOut
handlers: tests.support.earlier_handlers
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
    execute: {handler: hesitate, heartbeat: 1m, retry: {initial_interval: 1h, maximum_attempts: 3}}
    report: {done: "${result}"}
    dead_end: true
  Collect:
    wait_for: {all_of: [{join: done}]}
    graceful_complete: "${wait.done.messages}"
"""
)
WAITING = flow_of(
    """
flow: Waiting
handlers: tests.support.earlier_handlers
input: string
output: string
attributes:
  place: {type: string, index: keyword}
  stock: {type: integer, map: true}
channels:
  go: {type: integer, external: true}
  rooms: {type: string, map: true, external: true}
  news: {type: string, external: true, delivery: transient}
timeout: {after: 10h, policy: fail}
start: First
steps:
  First:
    input: string
    set: {place: "${input}", stock: {apples: 1, pears: 2}}
    publish: {go: 1}
    go_to: {step: Both, input: "${input}"}
  Both:
    input: string
    wait_for:
      local: {note: "note of ${input}"}
      any_of:
        - {channel: go, id: enough, at_least: 3}
        - {timer: 2h, id: late}
    graceful_complete: "${local.note}: ${size(wait.enough.messages)}"
rpcs:
  rename:
    input: string
    output: string
    set: {place: "${input}", stock: {pears: null}}
    returns: ${input}
"""
)
LOCKED = flow_of(
    """
flow: Locked
handlers: tests.support.earlier_handlers
attributes: {total: {type: integer, initial: 0}}
start: Split
steps:
  Split:
    go_to_many: [{step: Add}, {step: Add}]
  Add:
    execute: {handler: keep, locks: [total], retry: {initial_interval: 1h, maximum_attempts: 3}}
    set: {total: "${attributes.total + 1}"}
    dead_end: true
"""
)
RECOVERING = flow_of(
    """
flow: Recovering
handlers: tests.support.earlier_handlers
output: string
channels: {go: {type: integer, external: true}}
start: Work
steps:
  Work:
    execute: {handler: fail, retry: {maximum_attempts: 1}}
    on_failure: Recover
    dead_end: true
  Recover:
    wait_for: {until: {channel: go}}
    graceful_complete: "${failure.type} of ${failure.step_execution_id}"
"""
)
PARENT = flow_of(
    """
flow: Parent
output: string
start: Ask
steps:
  Ask:
    wait_for: {until: {subflow: Recovering, id: child}}
    graceful_complete: "it says: ${wait.child.output}"
"""
)


def leave(kit: Kit) -> None:
    """At 2030-01-01T00:00Z; nothing is due afterwards for an hour."""
    client = kit.client
    client.start(FAN_OUT, "closed", [2, 4])
    client.start(FAN_OUT, "fanning", [1, 2, 3, 4])
    client.start(WAITING, "waiting", "shop", request_id="once")
    client.start(WAITING, "travelled", "shelf")
    client.start(LOCKED, "locked")
    client.start(RECOVERING, "failed")
    kit.engine.definitions.add(RECOVERING)
    client.start(PARENT, "parent")
    kit.settle(concurrency=1)
    for flow_id in ("waiting", "travelled"):
        client.publish(flow_id, "go", 2)
        client.publish(flow_id, "rooms", "a guest", key="blue")
        client.publish(flow_id, "news", "nobody hears it")
        client.rpc(flow_id, "rename", "market", request_id="r-1")
        client.update_config(flow_id, {"durability": "async"})
    client.time_travel("travelled", Target(step="Both"))
    kit.settle(concurrency=1)
    client.stop("failed", "fail", "given up")


ENDS = {
    "closed": ("COMPLETED", [4, 8]),
    "fanning": ("COMPLETED", [4, 8, 2, 6]),
    "waiting": ("COMPLETED", "note of shop: 3"),
    "travelled": ("COMPLETED", "note of shelf: 3"),
    "locked": ("RUNNING", None),
    "failed": ("FAILED", None),
    "parent": ("COMPLETED", "it says: ValueError of Work-1"),
}
"""Status and output of each after `go_on`."""


def left_behind(kit: Kit) -> set[str]:
    """The first releases could not do all of it."""
    return {run["flow_id"] for run in kit.client.search()} & set(ENDS)


def go_on(kit: Kit) -> None:
    client = kit.client
    kit.settle(concurrency=1)
    for flow_id in ("waiting", "travelled"):
        client.publish(flow_id, "go", 3)
    if "parent" in left_behind(kit):
        client.publish("SubFlow:parent-Ask-1-0", "go", 0)
    kit.settle(concurrency=1)
    for _ in range(3):
        kit.clock.advance(hours=1, seconds=1)
        kit.settle(concurrency=1)


def main(name: str) -> None:
    with mock.patch.object(failures, "_frames", return_value="in a file"):  # of this machine
        with tempfile.TemporaryDirectory() as directory:
            fill(Path(directory))
            keep_sqlite(name, f"{directory}/runs.db")
        with kept_postgres(name) as url:
            fill(url)


def fill(place: Path | str) -> None:
    with closing(Kit(place)) as kit:
        leave(kit)


if __name__ == "__main__":
    main(sys.argv[1])
