"""Flows that are killed at every commit, one for each kind of thing that must not be lost or done twice."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator import Context
from orchestrator.core.migration.comparison import Comparison
from orchestrator.core.migration.renaming import parse_renaming
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse
from orchestrator.engine.client import Client
from orchestrator.engine.migrating import migrate_runs, survey
from orchestrator.errors import NotActive

ROOT = Path(__file__).parents[2]
_WRONG_TIMES = 2


@dataclass(frozen=True)
class Case:
    name: str
    flows: tuple[Flow, ...]
    """The first one is started."""
    output: Any
    """Of the one output; for the contract edits of the records by reviewer."""
    input: Any = None
    drive: Callable[[Client], None] = lambda client: None
    """What the client does once it is started; again after a crash, so it may be repeated."""
    unread_count: int = 0
    """Messages left at the end."""
    run_count: int = 1
    least_commits: int = 1
    """The first process makes at least so many."""


# --- Handlers ---


def same(number: int) -> int:
    return number


def fail_twice(ctx: Context) -> str:
    if ctx.attempt <= _WRONG_TIMES:
        raise ValueError("not yet")
    return "third time"


def fail(ctx: Context) -> None:
    raise ValueError("never")


def late() -> str:
    return "too late"


# --- What clients do ---


def _add_up(client: Client) -> None:
    """A repeated request changes nothing (rule 170); the last one closes the run."""
    with contextlib.suppress(NotActive):
        for number in (1, 2, 3):
            client.rpc("run", "add", number, request_id=f"add-{number}")
        client.rpc("run", "finish", request_id="finish")


def _move_and_go(client: Client) -> None:
    """Until it is moved: a handler at work under its old declaration keeps it where it is."""
    case = Comparison(BEFORE, AFTER, parse_renaming(["step:Wait=Hold", "channel:box=crate"], BEFORE, AFTER))
    while any(not each.is_moved for each in migrate_runs(client.engine, case, survey(client.engine, case))):
        continue
    with contextlib.suppress(NotActive):
        client.rpc("run", "allow", request_id="allow")


# --- Flows ---

_HEAD = "handlers: tests.crash.cases\noutput: any\n"


def _flow(name: str, text: str) -> Flow:
    flow, problems = parse(f"flow: {name}\n{_HEAD}{text}", f"{name}.flow.yaml")
    assert flow is not None, [problem.concise() for problem in problems]
    return flow


JOIN = _flow(
    "Join",
    """
joins: {done: integer}
start: Split
steps:
  Split:
    join: done
    go_to_many:
      - {for_each: [1, 2, 3], step: Branch, input: "${item}"}
      - {step: Collect, branch: false}
  Branch: {input: integer, execute: same, report: {done: "${result}"}, dead_end: true}
  Collect:
    wait_for: {all_of: [{join: done}]}
    graceful_complete: "${sum(wait.done.messages)}"
""",
)
CHILD = _flow(
    "Child",
    """
input: integer
start: Work
steps:
  Work: {input: integer, execute: same, graceful_complete: "${result}"}
""",
)
SUBFLOW = _flow(
    "Parent",
    """
start: Ask
steps:
  Ask:
    wait_for: {all_of: [{for_each: [1, 2], subflow: Child, input: "${item}"}]}
    graceful_complete: "${sum(wait.Child.map(each, each.output))}"
""",
)
RPC = _flow(
    "Adder",
    """
attributes: {total: {type: integer, initial: 0}}
rpcs:
  add: {input: integer, handler: same, set: {total: "${attributes.total + result}"}}
  finish: {go_to: End}
steps:
  End: {graceful_complete: "${attributes.total}"}
""",
)
LOCKS = _flow(
    "Locks",
    """
attributes: {total: {type: integer, initial: 0}}
start: Split
steps:
  Split: {go_to_many: [{for_each: [1, 2, 3], step: Add, input: "${item}"}]}
  Add:
    input: integer
    execute: {handler: same, locks: [total]}
    set: {total: "${attributes.total + result}"}
    decide:
      - {when: attributes.total + result == 6, graceful_complete: "${attributes.total + result}"}
      - {dead_end: true}
""",
)
TIMERS = _flow(
    "Timers",
    """
channels: {never: string}
attributes: {ticks: {type: integer, initial: 0}}
start: Tick
steps:
  Tick:
    wait_for: {any_of: [{timer: 20ms, id: tick}, {channel: never}]}
    set: {ticks: "${attributes.ticks + 1}"}
    decide:
      - {when: attributes.ticks == 3, graceful_complete: "${attributes.ticks}"}
      - {go_to: Tick}
""",
)
ROUTE = _flow(
    "Route",
    """
start: First
steps:
  First:
    execute: {handler: fail_twice, retry: {initial_interval: 5ms, maximum_attempts: 9}}
    go_to: Second
  Second:
    execute: {handler: fail, retry: {initial_interval: 5ms, maximum_attempts: 2}}
    on_failure: Recover
    dead_end: true
  Recover: {graceful_complete: "${failure.message}"}
""",
)
CHANNEL_MAP = _flow(
    "ChannelMap",
    """
channels: {box: {type: integer, map: true}}
start: Split
steps:
  Split:
    go_to_many:
      - {for_each: [1, 2, 3], step: Send, input: "${item}"}
      - Collect
  Send:
    input: integer
    execute: same
    publish: [{channel: box, key: "${string(input)}", value: "${input}"}]
    dead_end: true
  Collect:
    wait_for: {all_of: [{for_each: ["1", "2"], channel: box, key: "${item}"}]}
    graceful_complete: "${sum(wait.box.map(each, each.message))}"
""",
)
ATTRIBUTE_MAP = _flow(
    "AttributeMap",
    """
attributes: {progress: {type: integer, map: true, sync: true}}
joins: {done: integer}
start: Split
steps:
  Split:
    join: done
    go_to_many:
      - {for_each: [1, 2, 3], step: Note, input: "${item}"}
      - {step: Collect, branch: false}
  Note:
    input: integer
    execute: same
    set: {progress: {"n${input}": "${result}"}}
    report: {done: "${input}"}
    dead_end: true
  Collect:
    wait_for: {all_of: [{join: done}]}
    graceful_complete: "${attributes.progress}"
""",
)
COMBINATION = _flow(
    "Combination",
    """
channels: {a: integer, b: integer, c: integer}
start: Split
steps:
  Split:
    go_to_many:
      - {step: A}
      - {step: B}
      - {step: Collect}
  A: {execute: late, publish: {a: 1}, dead_end: true}
  B: {execute: late, publish: {b: 2}, dead_end: true}
  Collect:
    wait_for:
      conditions: {a: {channel: a}, b: {channel: b}, c: {channel: c}}
      any_combination_of: [[a, b], [c]]
    graceful_complete: "${wait.a.message + wait.b.message}"
""",
)
DEADLINE = _flow(
    "Deadline",
    """
channels: {never: string}
timeout: 60ms
start: Wait
steps:
  Wait: {wait_for: {until: {channel: never}}, graceful_complete: null}
on_timeout: {execute: late, force_complete: "${result}"}
""",
)


_BEFORE = """
channels: {go: integer, box: {type: integer, map: true}}
attributes: {total: {type: integer, initial: 0}}
joins: {done: integer}
rpcs:
  allow: {publish: {go: 5}}
start: Split
steps:
  Split:
    join: done
    go_to_many:
      - {for_each: [1, 2], step: Work, input: "${item}"}
      - {step: Wait}
  Work:
    input: integer
    execute: same
    publish: [{channel: box, key: "${string(input)}", value: "${result}"}]
    report: {done: "${result}"}
    dead_end: true
  Wait:
    wait_for: {all_of: [{channel: go}, {join: done}]}
    graceful_complete: "${wait.go.message + sum(wait.done.messages)}"
"""
BEFORE = _flow("Moving", _BEFORE)
AFTER = _flow(
    "Moving",
    _BEFORE.replace("box", "crate")
    .replace("Wait", "Hold")
    .replace("graceful_complete: ", "go_to: {step: Double, input: ")
    .replace('messages)}"', 'messages)}"}')
    + '  Double: {input: integer, execute: same, graceful_complete: "${2 * result}"}\n',
)


def _edits() -> Flow:
    text = (ROOT / "flows" / "contract_edit.flow.yaml").read_text()
    flow, problems = parse(text.replace("initial_interval: 1s", "initial_interval: 5ms"), "edit.flow.yaml")
    assert flow is not None, problems
    return flow


CASES = [
    Case("join", (JOIN,), 6),
    Case("subflow", (SUBFLOW, CHILD), 3, run_count=3),
    Case("rpc", (RPC,), 6, drive=_add_up, least_commits=3),
    Case("locks", (LOCKS,), 6),
    Case("timers", (TIMERS,), 3, least_commits=3),
    Case("retries and route", (ROUTE,), "never", least_commits=3),
    Case("channel map", (CHANNEL_MAP,), 3, unread_count=1),
    Case("attribute map", (ATTRIBUTE_MAP,), {"n1": 1, "n2": 2, "n3": 3}),
    Case("any_combination_of", (COMBINATION,), 3),
    Case("on_timeout", (DEADLINE,), "too late"),
    Case("migration", (BEFORE,), 16, drive=_move_and_go, unread_count=2, least_commits=4),
    Case(
        "contract edits",
        (_edits(),),
        {"Ada": "saved", "Ben": "withdrawn", "Chloe": "failed", "Dev": "failed"},
        input=[
            {"reviewer": "Ada"},
            {"reviewer": "Ben", "should_withdraw": True},
            {"reviewer": "Chloe", "should_fail_handoff": True},
            {"reviewer": "Dev", "should_fail_edit": True},
        ],
        unread_count=1,
        least_commits=5,
    ),
]
