"""The state space: which states there are, and which ways lead between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.core.state import Phase, Status
from orchestrator.verify.report import EventKind
from orchestrator.verify.search import Graph, explore
from orchestrator.verify.transitions import Transitions
from tests.support.play import flow_of
from tests.unit.verify.searching import states_of

CONTRACT_EDIT = Path("flows/contract_edit.flow.yaml").read_text(encoding="utf-8")


def statuses(graph: Graph) -> set[Status]:
    return {state.status for state in graph.states}


def steps_reached(graph: Graph) -> set[str]:
    return {place.step for place in graph.transitions.places}


def kinds(graph: Graph) -> set[EventKind]:
    return {outcome.kind for edges in graph.edges for outcome, _ in edges}


def most_unread(graph: Graph, channel: str) -> int:
    queues = graph.transitions.queues
    return max(
        (count for state in graph.states for number, count in state.queues if queues[number][0] == channel),
        default=0,
    )


@pytest.mark.parametrize("editors", [1, 3, 10, 200])
def test_editors_in_one_place_are_counted_not_named(editors: int) -> None:
    """lint-and-verify, section 8: 5N + 6 states."""
    assert len(states_of(CONTRACT_EDIT, [editors]).states) == 5 * editors + 6


def test_a_list_has_every_size_of_the_bounds_and_its_size_is_remembered() -> None:
    graph = states_of(
        """
        flow: A
        input: list of string
        start: Split
        channels: {done: string}
        steps:
          Split:
            go_to_many:
              - {for_each: "${input}", step: Part}
              - {step: Gather, input: "${size(input)}"}
          Part: {input: string, publish: {done: x}, dead_end: true}
          Gather:
            input: integer
            wait_for: {until: {channel: done, for: "${input}"}}
            graceful_complete:
        """
    )
    assert most_unread(graph, "done") == 3
    assert all(state.status is Status.COMPLETED or graph.edges[n] for n, state in enumerate(graph.states))


def test_an_unknown_guard_goes_both_ways_and_its_opposite_never_holds_with_it() -> None:
    graph = states_of(
        """
        flow: A
        start: Ask
        steps:
          Ask:
            execute: m:ask
            result: {type: {type: object, properties: {ok: {type: boolean}}}}
            decide:
              - {when: result.ok, go_to: Yes}
              - {when: "!result.ok", go_to: No}
              - {go_to: Never}
          Yes: {graceful_complete: }
          No: {graceful_complete: }
          Never: {graceful_complete: }
        """
    )
    assert steps_reached(graph) == {"Ask", "Yes", "No"}


def test_an_enumeration_is_exhausted_by_its_members() -> None:
    graph = states_of(
        """
        flow: A
        start: Ask
        steps:
          Ask:
            execute: m:ask
            result: {type: {enum: [a, b]}}
            decide:
              - {when: "result == 'a'", go_to: A}
              - {when: "result == 'b'", go_to: B}
              - {go_to: Never}
          A: {graceful_complete: }
          B: {graceful_complete: }
          Never: {graceful_complete: }
        """
    )
    assert steps_reached(graph) == {"Ask", "A", "B"}


def test_what_a_guard_has_learnt_of_the_input_is_handed_on_with_it() -> None:
    graph = states_of(
        """
        flow: A
        input: {type: object, properties: {fast: {type: boolean}}}
        start: First
        steps:
          First:
            decide:
              - {when: input.fast, go_to: Second}
              - {graceful_complete: }
          Second:
            input: object
            decide:
              - {when: input.fast, go_to: Fast}
              - {go_to: Never}
          Fast: {graceful_complete: }
          Never: {graceful_complete: }
        """
    )
    assert steps_reached(graph) == {"First", "Second", "Fast"}


def test_an_attribute_that_steers_is_known_where_it_was_set_to_a_constant() -> None:
    graph = states_of(
        """
        flow: A
        attributes: {status: {type: {enum: [open, closed]}, initial: open}}
        start: First
        steps:
          First: {set: {status: closed}, go_to: Second}
          Second:
            decide:
              - {when: attributes.status == 'open', go_to: Never}
              - {graceful_complete: }
          Never: {graceful_complete: }
        """
    )
    assert steps_reached(graph) == {"First", "Second"}


def test_what_is_known_of_attributes_outlives_events_that_do_not_touch_them() -> None:
    graph = states_of(
        """
        flow: A
        attributes: {status: {type: {enum: [open, closed]}, initial: open}}
        start: Wait
        steps:
          Wait: {wait_for: {until: {timer: 1h}}, set: {status: closed}, go_to: Again}
          Again: {wait_for: {until: {timer: 1h}}, go_to_many: [Check, Open]}
          Open: {wait_for: {until: {timer: 1h}}, set: {status: open}, go_to: Again2}
          Again2: {wait_for: {until: {timer: 1h}}, go_to: Check2}
          Check:
            wait_for: {until: {timer: 1h}}
            decide: [{when: attributes.status == 'open', go_to: Seen}, {dead_end: true}]
          Check2:
            wait_for: {until: {timer: 1h}}
            decide: [{when: attributes.status == 'closed', go_to: Never}, {graceful_complete: }]
          Seen: {dead_end: true}
          Never: {dead_end: true}
        """
    )
    assert steps_reached(graph) == {"Wait", "Again", "Check", "Open", "Again2", "Check2", "Seen"}


def test_the_condition_that_won_is_known_to_the_decision() -> None:
    graph = states_of(
        """
        flow: A
        channels: {answer: {type: string, external: true}}
        start: Wait
        steps:
          Wait:
            wait_for: {any_of: [{channel: answer}, {timer: 1h, id: late}]}
            decide:
              - {when: wait.late.satisfied, go_to: Late}
              - {when: wait.answer.message != null, go_to: Answered}
              - {go_to: Never}
          Late: {graceful_complete: }
          Answered: {graceful_complete: }
          Never: {graceful_complete: }
        """
    )
    assert steps_reached(graph) == {"Wait", "Late", "Answered"}


def test_a_failed_step_keeps_what_its_wait_took() -> None:
    """Rules 151-153: the recovery step begins with the messages still consumed."""
    graph = states_of(
        """
        flow: A
        channels: {token: string}
        start: Seed
        steps:
          Seed: {publish: {token: x}, go_to: Work}
          Work:
            wait_for: {until: {channel: token}}
            execute: m:work
            on_failure: Recover
            publish: {token: x}
            graceful_complete:
          Recover: {graceful_complete: }
        """
    )
    queues = graph.transitions.queues
    left = {
        sum(count for number, count in state.queues if queues[number][0] == "token")
        for state in graph.states
        if state.status is Status.COMPLETED
    }
    assert left == {0, 1}


def test_a_cancelled_execution_gives_back_what_its_wait_took() -> None:
    """Rule 109."""
    graph = states_of(
        """
        flow: A
        channels: {token: string}
        start: Begin
        steps:
          Begin: {publish: {token: x}, go_to_many: [Work, Stop]}
          Work: {wait_for: {until: {channel: token}}, execute: m:work, on_failure: Out, dead_end: true}
          Out: {dead_end: true}
          Stop: {cancel: [Work], graceful_complete: }
        """
    )
    cancelling = [o for edges in graph.edges for o, _ in edges if o.cancels]
    given_back = {bool(outcome.queues) for outcome in cancelling}
    assert given_back == {True, False}  # cancelled at work, and while still waiting


def test_a_handler_may_do_every_number_that_its_may_allows() -> None:
    graph = states_of(
        """
        flow: A
        channels: {c: string}
        start: Send
        steps:
          Send:
            execute: {handler: m:send, may: {publish: {c: {min: 1, max: 3}}}}
            graceful_complete:
        """
    )
    queues = graph.transitions.queues
    sent = {
        sum(count for number, count in s.queues if queues[number][0] == "c")
        for s in graph.states
        if s.status is Status.COMPLETED
    }
    assert sent == {1, 2, 3}


def test_a_chosen_word_selects_its_decisions() -> None:
    graph = states_of(
        """
        flow: A
        start: Ask
        steps:
          Ask:
            execute: m:ask
            decide:
              - {choice: yes, go_to: Yes}
              - {choice: no, graceful_complete: }
          Yes: {graceful_complete: }
        """
    )
    taken = {outcome.decision for edges in graph.edges for outcome, _ in edges if outcome.step == "Ask"}
    assert taken == {1, 2, None}


def test_a_subflow_ends_well_and_badly() -> None:
    graph = states_of(
        """
        flow: A
        start: Call
        steps:
          Call:
            wait_for: {until: {subflow: Child}}
            decide:
              - {when: wait.Child.status == 'COMPLETED', go_to: Well}
              - {go_to: Badly}
          Well: {graceful_complete: }
          Badly: {graceful_complete: }
        """
    )
    assert EventKind.CHILD_CLOSED in kinds(graph)
    assert steps_reached(graph) == {"Call", "Well", "Badly"}


def test_the_outside_sends_no_more_than_the_author_allows() -> None:
    text = """
        flow: A
        channels: {approval: {type: string, external: true}}
        start: Wait
        verify: {external: {approval: [0, %d]}}
        steps:
          Wait: {wait_for: {until: {channel: approval, for: 2}}, graceful_complete: }
        """
    assert Status.COMPLETED not in statuses(states_of(text % 1))
    assert Status.COMPLETED in statuses(states_of(text % 2))


def test_an_rpc_starts_steps_and_publishes_where_it_does_not_reject() -> None:
    graph = states_of(
        """
        flow: A
        attributes: {status: {type: {enum: [open, closed]}, initial: open}}
        rpcs:
          close:
            decide:
              - {when: attributes.status == 'open', set: {status: closed}, go_to: {step: Close}}
              - {reject: closed already}
        steps:
          Close: {graceful_complete: }
        """
    )
    assert statuses(graph) == {Status.RUNNING, Status.COMPLETED}
    calls = [o for edges in graph.edges for o, _ in edges if o.kind is EventKind.RPC]
    assert calls and all(outcome.decision == 1 for outcome in calls)


def test_the_deadline_comes_once_and_its_handler_decides() -> None:
    graph = states_of(
        """
        flow: A
        channels: {c: string}
        timeout: 1h
        on_timeout: {publish: {c: x}, dead_end: true}
        start: Wait
        steps:
          Wait: {wait_for: {until: {channel: c}}, graceful_complete: }
        """
    )
    assert statuses(graph) == {Status.RUNNING, Status.COMPLETED}
    assert most_unread(graph, "c") == 1


@pytest.mark.parametrize(("policy", "status"), [("fail", Status.FAILED), ("cancel", Status.CANCELED)])
def test_the_deadline_closes_as_its_policy_says(policy: str, status: Status) -> None:
    graph = states_of(
        f"""
        flow: A
        timeout: {{after: 1h, policy: {policy}}}
        channels: {{c: {{type: string, external: true}}}}
        start: Wait
        steps:
          Wait: {{wait_for: {{until: {{channel: c}}}}, graceful_complete: }}
        """
    )
    assert status in statuses(graph)


JOIN = """
    flow: A
    input: list of string
    joins: {parts: string}
    start: Split
    steps:
      Split:
        go_to_many:
          - {for_each: "${input}", step: Part}
          - {step: Gather}
        join: parts
      Part:
        input: string
        execute: m:part
        on_failure: Lost
        report: {parts: x}
        dead_end: true
      Lost: {dead_end: true}
      Gather:
        wait_for: {until: {join: parts, need: %s}}
        graceful_complete:
"""


def test_a_join_of_active_branches_always_ends() -> None:
    graph = states_of(JOIN % "active")
    assert all(state.status is Status.COMPLETED or graph.edges[n] for n, state in enumerate(graph.states))


def test_a_join_of_all_branches_starves_when_one_goes_without_a_report() -> None:
    graph = states_of(JOIN % "all")
    stuck = [n for n, state in enumerate(graph.states) if state.is_running and not graph.edges[n]]
    assert stuck
    places = graph.transitions.places
    for number in stuck:
        ((waiting, count),) = graph.states[number].marking
        assert (places[waiting].step, places[waiting].phase, count) == ("Gather", Phase.WAITING, 1)


def test_the_round_is_forgotten_when_nobody_is_left_in_it() -> None:
    graph = states_of(JOIN % "active")
    assert all(not state.rounds for state in graph.states if state.status is Status.COMPLETED)
    assert max(len(state.rounds) for state in graph.states) == 1


def test_siblings_are_told_apart_by_where_they_come_from() -> None:
    graph = states_of(
        """
        flow: A
        start: Begin
        steps:
          Begin: {go_to_many: [Group, Group]}
          Group: {go_to_many: [Race, Race]}
          Race: {execute: m:race, on_failure: Out, cancel_siblings: [Race], dead_end: true}
          Out: {dead_end: true}
        """
    )
    cancelled = {sum(n for _, n in outcome.cancels) for edges in graph.edges for outcome, _ in edges}
    assert cancelled == {0, 1}  # never the two of the other group


def test_a_cycle_that_sends_more_than_it_takes_is_not_followed_for_ever() -> None:
    graph = states_of(
        """
        flow: A
        channels: {c: string}
        start: Loop
        steps:
          Loop: {wait_for: {until: {timer: 1h}}, publish: {c: x}, go_to: Loop}
        """
    )
    assert graph.is_complete
    assert graph.pumped


def test_a_search_that_runs_out_of_budget_says_so() -> None:
    graph = states_of(CONTRACT_EDIT, [50], max_states=100)
    assert not graph.is_complete
    assert len(graph.states) <= 110


def test_rounds_that_open_one_another_are_followed_as_deep_as_the_author_says() -> None:
    text = """
        flow: A
        joins: {parts: string}
        verify: {depth: %d}
        start: Split
        steps:
          Split:
            execute: m:split
            result: {type: boolean}
            decide:
              - {when: result, go_to_many: [Split, Gather], join: parts}
              - {report: {parts: x}, dead_end: true}
          Gather: {wait_for: {until: {join: parts}}, report: {parts: y}, dead_end: true}
        """
    deepest = {}
    for depth in (1, 2):
        flow = flow_of(text % depth)
        graph = explore(Transitions(flow, [1], {}), 20_000, depth=flow.verify["depth"])
        places = graph.transitions.places
        deepest[depth] = max(len(places[n].line) for state in graph.states for n, _ in state.marking)
        assert graph.is_complete and graph.cut
    assert deepest == {1: 1, 2: 2}


@pytest.mark.parametrize(("delivery", "is_lost"), [("queued", False), ("transient", True), ("latest", False)])
def test_a_transient_message_that_nobody_waits_for_is_gone(delivery: str, is_lost: bool) -> None:
    graph = states_of(
        f"""
        flow: A
        channels: {{c: {{type: string, delivery: {delivery}}}}}
        start: Send
        steps:
          Send: {{publish: {{c: x}}, go_to: Later}}
          Later: {{go_to: Wait}}
          Wait: {{wait_for: {{until: {{channel: c}}}}, graceful_complete: }}
        """
    )
    assert (Status.COMPLETED not in statuses(graph)) is is_lost


def test_a_transient_message_does_not_reach_who_is_started_beside_it() -> None:
    """A wait is accepted in a later commit than the one that started its execution."""
    graph = states_of(
        """
        flow: A
        channels: {c: {type: string, delivery: transient}}
        start: Send
        steps:
          Send: {publish: {c: x}, go_to: Wait}
          Wait: {wait_for: {until: {channel: c}}, graceful_complete: }
        """
    )
    assert Status.COMPLETED not in statuses(graph)


def test_a_transient_message_reaches_who_waits_already() -> None:
    graph = states_of(
        """
        flow: A
        channels: {c: {type: string, delivery: transient}}
        start: Begin
        steps:
          Begin: {go_to_many: [Wait, Send]}
          Wait: {wait_for: {until: {channel: c}}, graceful_complete: }
          Send: {execute: m:send, publish: {c: x}, dead_end: true}
        """
    )
    assert Status.COMPLETED in statuses(graph)


def test_a_transient_message_may_come_too_early_for_a_wait_that_needs_a_timer_too() -> None:
    graph = states_of(
        """
        flow: A
        channels: {c: {type: string, delivery: transient}}
        start: Begin
        steps:
          Begin: {go_to_many: [Wait, Send]}
          Wait: {wait_for: {all_of: [{channel: c}, {timer: 1h}]}, graceful_complete: }
          Send: {execute: m:send, publish: {c: x}, dead_end: true}
        """
    )
    assert Status.COMPLETED in statuses(graph)
    assert any(state.is_running and not graph.edges[n] for n, state in enumerate(graph.states))


def test_of_the_latest_messages_one_is_kept() -> None:
    graph = states_of(
        """
        flow: A
        channels: {c: {type: string, delivery: latest}}
        start: Send
        steps:
          Send: {publish: [{channel: c, value: x}, {channel: c, value: y}], graceful_complete: }
        """
    )
    assert most_unread(graph, "c") == 1
