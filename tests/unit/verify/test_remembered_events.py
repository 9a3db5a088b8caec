"""An event is decided once and remembered: under all that it depends on, and with all that it changes."""

from __future__ import annotations

from orchestrator.core.state import Status
from orchestrator.verify.search import Graph, explore
from orchestrator.verify.transitions import Transitions
from tests.support.play import flow_of
from tests.unit.verify.searching import verified

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


RESTARTED = """
flow: Restarted
channels: {never: integer}
start: Begin
steps:
  Begin: {go_to_many: [Wait, Restart]}
  Restart: {wait_for: {until: {timer: 1m}}, cancel: [Wait], go_to: Wait}
  Wait: {wait_for: {until: {channel: never}}, graceful_complete: null}
"""
LOOPING = """
flow: Looping
handlers: tests.support.acting
start: Loop
steps:
  Loop:
    execute: act
    result: {type: boolean}
    decide:
      - {when: result, go_to: Loop}
      - {go_to: Stop}
  Stop: {dead_end: true}
"""


def test_an_execution_starts_where_another_was_cancelled() -> None:
    (found,) = [each for each in verified(RESTARTED).properties if each.name == "deadlock"]
    assert found.counterexample is not None
    last = found.counterexample.events[-1]
    assert (last.cancels, last.starts) == (("Wait-1",), ("Wait-2",))
    assert found.counterexample.active == ("Wait-2",)


def test_an_execution_starts_where_the_one_before_it_ended() -> None:
    graph = graph_of(LOOPING, 1)
    loops = [outcome for edges in graph.edges for outcome, _ in edges if outcome.decision == 1]
    assert {place.step for place, _ in loops[0].starts} == {"Loop"}


CUT_SHORT = """
flow: CutShort
handlers: tests.support.acting
channels: {letter: integer}
start: Begin
steps:
  Begin: {publish: {letter: 1}, go_to_many: [Read, Stop]}
  Read: {wait_for: {until: {channel: letter}}, execute: act, dead_end: true}
  Stop: {execute: act, force_complete: null}
"""


def test_who_is_cut_short_gives_back_what_its_wait_took() -> None:
    """Whether the message was never read or given back, it is left."""
    graph = graph_of(CUT_SHORT, 1)
    left = {
        (sum(count for _, count in state.marking), state.queues)
        for state in graph.states
        if state.status is Status.COMPLETED
    }
    assert left == {(0, ()), (1, ((0, 1),))}
