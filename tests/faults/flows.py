"""What the faults disturb: flows that lose or repeat something as soon as the engine does.

Each run ends by itself, or by what its client does, with an output that is known beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.definition.catalogue import Catalogue
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse

SIZE = 6
"""Rounds of a loop, branches of a fan-out."""
_SUM = sum(range(1, SIZE + 1))
_RETRY = "retry: {initial_interval: 10ms, maximum_interval: 100ms}"


def _flow(name: str, text: str) -> Flow:
    head = f"flow: {name}\nhandlers: tests.faults.handlers\noutput: any\n"
    flow, problems = parse(head + text.replace("RETRY", _RETRY), f"{name}.flow.yaml")
    assert flow is not None, [problem.concise() for problem in problems]
    return flow


@dataclass(frozen=True)
class Kind:
    flow: Flow
    output: Any = None
    """Of the one output; the messages that were taken, for flows that are sent some."""
    input: Any = None
    is_fed: bool = False
    """A client sends it messages, and then lets it end."""
    is_stopped: bool = False
    """A client stops it."""

    @property
    def name(self) -> str:
        return self.flow.name


COUNTING = _flow(
    "Counting",
    """
input: integer
attributes: {total: {type: integer, initial: 0}}
start: Count
steps:
  Count:
    input: integer
    execute: {handler: same, RETRY}
    set: {total: "${attributes.total + result}"}
    decide:
      - {when: input > 1, go_to: {step: Count, input: "${input - 1}"}}
      - {graceful_complete: "${attributes.total + result}"}
""",
)
JOINING = _flow(
    "Joining",
    """
input: integer
joins: {done: integer}
start: Split
steps:
  Split:
    input: integer
    join: done
    go_to_many:
      - {for_each: "${range(input)}", step: Branch, input: "${item + 1}"}
      - {step: Collect, branch: false}
  Branch: {input: integer, execute: {handler: same_async, RETRY}, report: {done: "${result}"}, dead_end: true}
  Collect:
    wait_for: {all_of: [{join: done}]}
    graceful_complete: "${sum(wait.done.messages)}"
""",
)
LOCKING = _flow(
    "Locking",
    """
input: integer
attributes: {total: {type: integer, initial: 0}, count: {type: integer, initial: 0}}
start: Split
steps:
  Split:
    input: integer
    go_to_many: [{for_each: "${range(input)}", step: Add, input: "${item + 1}"}]
  Add:
    input: integer
    execute: {handler: add_under_lock, locks: [total], may: {set: [total]}, RETRY}
    set: {count: "${attributes.count + 1}"}
    decide:
      - {when: attributes.count + 1 == run.input, graceful_complete: "${attributes.total}"}
      - {dead_end: true}
""",
)
TICKING = _flow(
    "Ticking",
    """
channels: {never: string}
attributes: {ticks: {type: integer, initial: 0}}
start: Tick
steps:
  Tick:
    wait_for: {any_of: [{timer: 40ms, id: tick}, {channel: never}]}
    set: {ticks: "${attributes.ticks + 1}"}
    decide:
      - {when: attributes.ticks == 3, graceful_complete: "${attributes.ticks}"}
      - {go_to: Tick}
""",
)
FAILING = _flow(
    "Failing",
    """
start: First
steps:
  First: {execute: {handler: fail_twice, RETRY}, go_to: Second}
  Second:
    execute: {handler: fail, retry: {initial_interval: 5ms, maximum_attempts: 2}}
    on_failure: Recover
    dead_end: true
  Recover: {graceful_complete: recovered}
""",
)
CHILD = _flow(
    "Child",
    """
input: integer
start: Work
steps:
  Work: {input: integer, execute: {handler: same, RETRY}, graceful_complete: "${result}"}
""",
)
ASKING = _flow(
    "Asking",
    """
start: Ask
steps:
  Ask:
    wait_for: {all_of: [{for_each: [1, 2], subflow: Child, input: "${item}"}]}
    graceful_complete: "${sum(wait.Child.map(each, each.output))}"
""",
)
DRAINING = _flow(
    "Draining",
    """
input: integer
channels: {box: integer}
attributes: {total: {type: integer, initial: 0}, count: {type: integer, initial: 0}}
start: Split
steps:
  Split:
    input: integer
    go_to_many:
      - {for_each: "${range(input)}", step: Send, input: "${item + 1}"}
      - {step: Drain}
  Send: {input: integer, execute: {handler: same, RETRY}, publish: {box: "${result}"}, dead_end: true}
  Drain:
    wait_for: {until: {channel: box, at_least: 1}}
    execute: {handler: look, RETRY}
    set:
      total: "${attributes.total + sum(wait.box.messages)}"
      count: "${attributes.count + size(wait.box.messages)}"
    decide:
      - when: attributes.count + size(wait.box.messages) < run.input
        go_to: Drain
      - force_complete_if_channels_empty:
          channels: [box]
          output: "${attributes.total + sum(wait.box.messages)}"
          otherwise: {force_fail: more messages than were sent}
""",
)
RACING = _flow(
    "Racing",
    """
channels: {never: string}
start: Split
steps:
  Split: {go_to_many: [{step: Idle}, {step: Slow}, {step: Win}]}
  Idle: {wait_for: {until: {channel: never}}, dead_end: true}
  Slow: {execute: {handler: slow, RETRY}, dead_end: true}
  Win: {execute: {handler: look, RETRY}, cancel: [Idle, Slow], graceful_complete: won}
""",
)
PAYING = _flow(
    "Paying",
    """
input: integer
joins: {paid: integer}
start: Split
steps:
  Split:
    input: integer
    join: paid
    go_to_many:
      - {for_each: "${range(input)}", step: Pay, input: "${item + 1}"}
      - {step: Collect, branch: false}
  Pay:
    input: integer
    execute: {handler: pay, transactional: true, RETRY}
    report: {paid: "${result}"}
    dead_end: true
  Collect:
    wait_for: {all_of: [{join: paid}]}
    graceful_complete: "${sum(wait.paid.messages)}"
""",
)
TAKING = _flow(
    "Taking",
    """
channels: {order: {type: string, external: true}, over: string}
attributes: {taken: {type: list of string, initial: []}}
rpcs:
  send: {input: string, publish: {order: "${input}"}}
  finish: {publish: {over: "yes"}}
start: Take
steps:
  Take:
    wait_for: {any_of: [{channel: order}, {channel: over}]}
    execute: {handler: look, RETRY}
    decide:
      - {when: wait.over.satisfied, graceful_complete: "${attributes.taken}"}
      - {set: {taken: "${attributes.taken + [wait.order.message]}"}, go_to: Take}
""",
)
STANDING = _flow(
    "Standing",
    """
channels: {never: string}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: never}}, graceful_complete: null}
""",
)
KINDS: Sequence[Kind] = (
    Kind(COUNTING, _SUM, SIZE),
    Kind(JOINING, _SUM, SIZE),
    Kind(LOCKING, _SUM, SIZE),
    Kind(TICKING, 3),
    Kind(FAILING, "recovered"),
    Kind(ASKING, 3),
    Kind(DRAINING, _SUM, SIZE),
    Kind(RACING, "won"),
    Kind(PAYING, _SUM, SIZE),
    Kind(TAKING, is_fed=True),
    Kind(STANDING, is_stopped=True),
)
BY_NAME = {kind.name: kind for kind in (*KINDS, Kind(CHILD))}
CATALOGUE = Catalogue([each.flow for each in BY_NAME.values()])
CHILD_COUNT = 2
"""Runs that one of `Asking` starts."""
EFFECTS = "CREATE TABLE effects (flow_id TEXT NOT NULL, execution_id TEXT NOT NULL)"
"""What transactional handlers write into, in the store's own database."""
