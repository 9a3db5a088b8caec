"""Definitions that the workloads run; handlers are in this module and do nothing."""

from __future__ import annotations

import itertools
import threading
import time

from orchestrator import Context
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse


def step() -> None:
    """A no-op handler."""


begun = threading.Event()
began: dict[int, float] = {}


def receive(ctx: Context) -> None:
    """Notes when it was called, for W3."""
    began[ctx.wait.go.message] = time.perf_counter()
    begun.set()


def read(ctx: Context) -> None:
    """For W4."""
    assert ctx.wait.go.message is not None


def branch(number: int) -> int:
    return number


_additions = itertools.count()
_ADDITION_SECONDS = 0.0005


def add(number: int) -> int:
    """Computes for half a millisecond of this thread's processor time, and counts its calls."""
    next(_additions)
    begun_at = time.thread_time()
    while time.thread_time() - begun_at < _ADDITION_SECONDS:
        sum(range(200))
    return number + 1


def addition_count() -> int:
    """Calls of `add` in this process so far; to be asked once."""
    return next(_additions)


def compute(ctx: Context) -> None:
    """Never lets go of the interpreter's lock by itself, until it is cancelled."""
    ctx.heartbeat(1)
    while not ctx.cancelled:
        sum(number * number for number in range(100_000))


def flow_of(text: str) -> Flow:
    flow, problems = parse(text, "bench.flow.yaml")
    if flow is None:
        raise SystemExit("\n".join(problem.concise() for problem in problems))
    return flow


def sequence(count: int) -> Flow:
    """`count` steps one after the other."""
    steps = [f"  S{i}: {{execute: step, go_to: S{i + 1}}}" for i in range(1, count)]
    steps.append(f"  S{count}: {{execute: step, graceful_complete: null}}")
    return flow_of(
        f"flow: Bench{count}\nhandlers: tests.benchmarks.flows\nstart: S1\nsteps:\n" + "\n".join(steps)
    )


def additions(count: int) -> Flow:
    """`count` steps one after the other, each adding one to the number that it gets."""
    steps = [
        f"  S{i}: {{input: integer, execute: add, go_to: {{step: S{i + 1}, input: '${{result}}'}}}}"
        for i in range(1, count)
    ]
    steps.append(f"  S{count}: {{input: integer, execute: add, graceful_complete: '${{result}}'}}")
    return flow_of(
        "flow: BenchAdditions\nhandlers: tests.benchmarks.flows\ninput: integer\noutput: integer\n"
        "start: S1\nsteps:\n" + "\n".join(steps)
    )


def loop() -> Flow:
    """One step that goes to itself until it is stopped by its count."""
    return flow_of(
        """
flow: BenchLoop
handlers: tests.benchmarks.flows
input: integer
start: Next
steps:
  Next:
    input: integer
    execute: step
    decide:
      - when: input <= 1
        graceful_complete: null
      - go_to: {step: Next, input: "${input - 1}"}
"""
    )


def fan_out() -> Flow:
    """A list of branches and a join."""
    return flow_of(
        """
flow: BenchFanOut
handlers: tests.benchmarks.flows
input: list of integer
output: integer
joins:
  done: integer
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
    execute: branch
    report: {done: "${result}"}
    dead_end: true
  Collect:
    wait_for: {all_of: [{join: done}]}
    graceful_complete: "${size(wait.done.messages)}"
"""
    )


def hog() -> Flow:
    """One step that computes for as long as it may."""
    return flow_of(
        """
flow: BenchHog
handlers: tests.benchmarks.flows
start: Compute
steps:
  Compute: {execute: {handler: compute, timeout: 1h}, graceful_complete: null}
"""
    )


def ticket() -> Flow:
    """Three steps and an attribute that runs are searched by."""
    return flow_of(
        """
flow: BenchTicket
handlers: tests.benchmarks.flows
attributes:
  customer: {type: string, index: keyword}
start: Open
steps:
  Open: {execute: step, go_to: Work}
  Work: {execute: step, go_to: Close}
  Close: {execute: step, graceful_complete: null}
"""
    )


def parked() -> Flow:
    """Waits for a message, and has got one that it does not wait for."""
    return flow_of(
        """
flow: BenchParked
handlers: tests.benchmarks.flows
channels:
  go: {type: integer, external: true}
  later: {type: integer, external: true}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: go}}, go_to: Later}
  Later: {wait_for: {until: {channel: later}}, graceful_complete: null}
"""
    )


def message(handler: str = "read") -> Flow:
    """Waits for one message from outside."""
    return flow_of(
        f"""
flow: BenchMessage
handlers: tests.benchmarks.flows
channels:
  go: {{type: integer, external: true}}
start: Wait
steps:
  Wait:
    wait_for: {{until: {{channel: go}}}}
    execute: {handler}
    graceful_complete: null
"""
    )
