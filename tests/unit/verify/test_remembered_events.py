"""An event is decided once and remembered; what it is remembered under must hold all that it depends on."""

from __future__ import annotations

from orchestrator.core.state import Status
from orchestrator.verify.search import Graph, explore
from orchestrator.verify.transitions import Transitions
from tests.support.play import flow_of

WRITTEN = """
flow: Written
attributes: {is_written: {type: boolean, initial: false}}
start: Begin
steps:
  Begin: {go_to_many: [Write, Look]}
  Write: {set: {is_written: true}, go_to: Read}
  Read:
    decide:
      - {when: attributes.is_written, dead_end: true}
      - {graceful_complete: null}
  Look: {wait_for: {until: {timer: 1m}}, dead_end: true}
"""
JOINED = """
flow: Joined
input: list of string
joins: {ends: string}
channels: {token: string}
start: Begin
steps:
  Begin:
    publish: {token: one}
    go_to_many:
      - {step: Take, for_each: "${input}"}
      - Await
    join: ends
  Take:
    input: string
    wait_for: {until: {channel: token}}
    publish: {token: one}
    report: {ends: "${input}"}
    dead_end: true
  Await: {wait_for: {until: {join: ends}}, graceful_complete: null}
"""


def graph_of(text: str, *fan_out: int) -> Graph:
    return explore(Transitions(flow_of(text), fan_out, {}), 1000)


def test_the_end_of_a_wait_keeps_what_was_written_meanwhile() -> None:
    statuses = {state.status for state in graph_of(WRITTEN, 1).states}
    assert statuses == {Status.RUNNING}, "nobody reads that nothing was written"


def test_the_end_of_a_wait_keeps_the_round_of_its_own_run() -> None:
    """Rounds of one and of two branches have the same name in the search."""
    graph = graph_of(JOINED, 1, 2)
    halted = [state for state, edges in zip(graph.states, graph.edges, strict=True) if not edges]
    assert {state.status for state in halted} == {Status.COMPLETED}
