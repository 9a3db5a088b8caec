"""A definition of as many lines as asked for, of the kind that people write: stations one after the other."""

from __future__ import annotations

_HEAD = """\
flow: LongBench
description: Many stations, each with a deadline, a handler, a failure route and decisions.
handlers: tests.benchmarks.flows
timeout: {after: 30d, policy: fail}

types:
  Order:
    type: object
    required: [customer, amount]
    properties:
      customer: {type: string}
      amount: {type: integer, minimum: 0}
      urgent: {type: boolean, default: false}
  Reply:
    type: object
    required: [accepted, amount]
    properties:
      accepted: {type: boolean}
      amount: {type: integer}
      note: {type: string}

input: Order
output: integer

attributes:
  total: {type: integer, initial: 0}
  noted: {type: list of string, initial: []}

channels:
"""
_STATION = """\

  Ask{i}:
    description: Ask station {i}, and go on without it when the day is over.
    input: Order
    wait_for:
      any_of:
        - {{channel: answer{i}, id: answer}}
        - {{timer: 8h, id: closing_time}}
    decide:
      - when: wait.closing_time.satisfied && !input.urgent
        go_to: Skip{i}
      - go_to: {{step: Check{i}, input: "${{input}}"}}

  Check{i}:
    description: Look at what station {i} has said.
    input: Order
    execute:
      handler: check
      timeout: 30s
      retry: {{initial_interval: 1s, maximum_attempts: 4, total_duration: 10m}}
    result: {{name: reply, type: Reply}}
    on_failure: Skip{i}
    decide:
      - when: reply.accepted && reply.amount > {i} && input.customer != ""
        set:
          total: ${{attributes.total + reply.amount}}
          noted: "${{attributes.noted + [input.customer]}}"
        go_to: {{step: {next}, input: "${{input}}"}}
      - when: reply.amount > 1000
        force_fail: ${{"station {i} asks for " + string(reply.amount)}}
      - go_to: Skip{i}

  Skip{i}:
    description: Station {i} is left out.
    input: Order
    set: {{noted: "${{attributes.noted + ['skipped {i}']}}"}}
    go_to: {{step: {next}, input: "${{input}}"}}
"""
_TAIL = """\

  Finish:
    description: Say what it has come to.
    input: Order
    graceful_complete: ${attributes.total}
"""


def long_definition(line_count: int) -> str:
    """At least so many lines."""
    head_count = _HEAD.count("\n") + _TAIL.count("\n") + 3
    count = -(-(line_count - head_count) // (_STATION.count("\n") + 1))
    channels = "".join(f"  answer{i}: {{type: boolean, external: true}}\n" for i in range(1, count + 1))
    stations = "".join(
        _STATION.format(i=i, next=f"Ask{i + 1}" if i < count else "Finish") for i in range(1, count + 1)
    )
    return f"{_HEAD}{channels}\nstart: Ask1\n\nsteps:{stations}{_TAIL}"
