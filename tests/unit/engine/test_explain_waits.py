"""`explain`: what a wait has and needs, and which declared publishers can still give it."""

from __future__ import annotations

import pytest

from orchestrator.core.events import RpcCalled, SubflowClosed
from tests.support.explained import Explained, explain, settled
from tests.support.play import Play

FAN = """
flow: Fan
channels: {done: string}
start: Split
steps:
  Split:
    go_to_many: [{for_each: "${range(3)}", step: Work}, Collect]
  Work:
    execute: {handler: work, retry: {initial_interval: 1m, maximum_attempts: 2}}
    on_failure: Report
    publish: {done: fine}
    dead_end: true
  Report: {publish: {done: failed}, dead_end: true}
  Collect:
    wait_for: {until: {channel: done, for: 3}}
    graceful_complete: null
"""


def test_a_channel_says_what_it_has_of_what_it_needs() -> None:
    play = settled(FAN)
    play.succeed("Work-1")
    play.fail("Work-2")
    explained = Explained(play, leased=["Work-3"])
    condition = explained.condition("Collect-1", "done")
    assert (condition["have"], condition["need"], condition["holds"]) == (1, 3, False)
    assert condition["text"] == "1 of 3 messages on done"
    assert explained.senders("Collect-1", "done") == {
        "Work": ("now", "Work-3 (running) and Work-2 (backing off)"),
        "Report": ("now", "comes after Work-3 (running) and Work-2 (backing off)"),
    }
    assert (
        "step Work    can: Work-3 (running) and Work-2 (backing off)  (test.flow.yaml:11)" in explained.text
    )


def test_what_is_still_missing_is_counted_when_nobody_can_send_it() -> None:
    leaving = "decide: [{choice: leave, dead_end: true}, {publish: {done: fine}, dead_end: true}]"
    play = settled(FAN.replace("publish: {done: fine}\n    dead_end: true", leaving))
    play.succeed("Work-1")
    play.succeed("Work-2", choice="leave")
    play.succeed("Work-3")
    explained = Explained(play)
    assert explained.verdict == "stuck"
    assert explained.summary == "Collect-1 waits for 1 more message on done, which nobody can send"
    assert explained.senders("Collect-1", "done") == {
        "Work": ("never", "all its executions are over, and nothing that is active leads to it"),
        "Report": ("never", "nothing that is active leads to it"),
    }
    assert "no command sends to done" in explained.text


def test_a_recovery_that_options_give_counts_as_a_way() -> None:
    explained = explain(
        """
        flow: Routes
        channels: {c: string}
        start: Split
        steps:
          Split:
            go_to_many:
              - {step: Work, options: {on_failure: {step: First, options: {on_failure: Second}}}}
              - Wait
          Work: {execute: work, dead_end: true}
          First: {dead_end: true}
          Second: {publish: {c: x}, dead_end: true}
          Wait: {wait_for: {until: {channel: c}}, dead_end: true}
        """
    )
    assert explained.senders("Wait-1", "c") == {"Second": ("now", "comes after Work-1 (ready)")}


KEYS = """
flow: Keys
channels: {c: {type: string, map: true}}
start: Split
steps:
  Split: {go_to_many: [Send, Compute, Wait]}
  Send: {execute: send, publish: {c: {other: x}}, dead_end: true}
  Compute: {execute: compute, publish: [{channel: c, key: "${string(size([1]))}", value: x}], dead_end: true}
  Wait: {wait_for: {until: {channel: c, key: mine}}, dead_end: true}
"""


def test_a_literal_key_of_another_instance_is_no_publisher_and_a_computed_one_may_be() -> None:
    explained = explain(KEYS)
    assert explained.condition("Wait-1", "c")["text"] == "0 of 1 message on c[mine]"
    assert explained.senders("Wait-1", "c") == {"Compute": ("now", "Compute-1 (ready)")}


def test_a_client_publishes_to_the_instance_that_is_awaited() -> None:
    explained = explain(KEYS.replace("map: true", "map: true, external: true"))
    assert "orchestrator publish f c VALUE --key mine" in explained.text


ACTORS = """
flow: Actors
channels: {a: string, b: string}
timeout: {after: 1h, policy: handler}
on_timeout: {publish: {a: late}, dead_end: true}
start: Split
steps:
  Split: {go_to_many: [May, Effect, Wait]}
  May: {execute: {handler: may, may: {publish: [a]}}, go_to: Later}
  Later: {wait_for: {publish: {a: x}}, dead_end: true}
  Effect:
    wait_for: {handler: build, may: {publish: [a]}}
    publish: {b: x}
    dead_end: true
  Wait: {wait_for: {until: {channel: a}}, dead_end: true}
"""


def test_handlers_wait_effects_and_the_timeout_handler_are_publishers() -> None:
    explained = explain(ACTORS)
    assert explained.senders("Wait-1", "a") == {
        "May": ("now", "May-1 (ready)"),
        "Later": ("now", "comes after May-1 (ready)"),
        "Effect": ("now", "Effect-1 (ready)"),
        "on_timeout": ("timer", "runs at the deadline, in 1h (2030-01-01 01:00:00Z)"),
    }


def test_what_a_wait_published_when_it_was_accepted_is_past() -> None:
    explained = explain(
        """
        flow: Past
        channels: {a: string, b: {type: string, external: true}}
        start: Split
        steps:
          Split: {go_to_many: [Effect, Wait, Wait]}
          Effect: {wait_for: {publish: {a: x}, until: {channel: b}}, dead_end: true}
          Wait: {wait_for: {until: {channel: a}}, dead_end: true}
        """
    )
    assert explained.senders("Wait-2", "a") == {
        "Effect": ("never", "the wait of Effect-1 is accepted, and nothing that is active leads to another")
    }


def test_the_timeout_handler_needs_a_deadline_with_its_policy() -> None:
    text = ACTORS.replace("{after: 1h, policy: handler}", "{after: 1h, policy: fail}").replace(
        "on_timeout: {publish: {a: late}, dead_end: true}\n", ""
    )
    assert "on_timeout" not in explain(text).senders("Wait-1", "a")


def test_a_step_on_the_way_whose_wait_nobody_satisfies_bars_it() -> None:
    explained = explain(
        """
        flow: Barred
        channels: {c: string, lost: string}
        start: Split
        steps:
          Split: {go_to_many: [Work, Wait]}
          Work: {execute: work, go_to: Gate}
          Gate: {wait_for: {until: {channel: lost}}, go_to: Send}
          Send: {publish: {c: x}, dead_end: true}
          Wait: {wait_for: {until: {channel: c}}, dead_end: true}
        """
    )
    assert explained.verdict == "progressing"
    assert explained.senders("Wait-1", "c") == {
        "Send": ("never", "comes only after Gate, whose wait nobody can satisfy")
    }
    assert explained.summary == (
        "Work-1 is ready for a worker; Wait-1 waits for 1 message on c, which nobody can send"
    )


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("{channel: lost, when: input == 1}", "progressing"),
        ("{channel: lost, at_most: 3}", "progressing"),
        ("{channel: lost, at_least: '${input}'}", "progressing"),
        ("{channel: lost, for: 2}", "stuck"),
    ],
)
def test_of_a_wait_to_come_what_is_not_known_counts_as_possible(condition: str, verdict: str) -> None:
    play = settled(
        f"""
        flow: Ahead
        input: integer
        channels: {{c: string, lost: string, go: string}}
        start: Split
        steps:
          Split:
            input: integer
            go_to_many: [{{step: Work, input: 1}}, {{step: Wait}}]
          Work: {{input: integer, execute: work, go_to: Gate}}
          Gate: {{input: integer, wait_for: {{until: {condition}}}, publish: {{c: x}}, dead_end: true}}
          Wait: {{wait_for: {{until: {{channel: c}}}}, dead_end: true}}
        """,
        0,
    )
    can = Explained(play).execution("Wait-1")["can_move"]
    assert can == ("never" if verdict == "stuck" else "now")


@pytest.mark.parametrize(
    ("limit", "most"), [("capacity: 2", "2 messages"), ("delivery: latest", "1 message")]
)
def test_more_than_a_channel_can_hold_never_comes(limit: str, most: str) -> None:
    explained = explain(
        f"""
        flow: Full
        channels: {{c: {{type: string, external: true, {limit}}}}}
        start: Wait
        steps:
          Wait: {{wait_for: {{until: {{channel: c, for: 3}}}}, dead_end: true}}
        """
    )
    assert explained.verdict == "stuck"
    why = f"the channel never holds more than {most}"
    assert explained.summary == f"Wait-1 waits for 3 messages on c, but {why}"


@pytest.mark.rule(75)
def test_conditions_of_one_group_need_their_messages_together() -> None:
    text = """
        flow: Pair
        channels: {c: string}
        start: Split
        steps:
          Split: {publish: {c: x}, go_to: Wait}
          Wait:
            wait_for: {COMBINATOR: [{channel: c, for: 1, id: one}, {channel: c, for: 1, id: two}]}
            dead_end: true
        """
    explained = explain(text.replace("COMBINATOR", "all_of"))
    assert explained.condition("Wait-1", "one")["holds"]
    assert explained.verdict == "stuck"
    assert settled(text.replace("COMBINATOR", "any_of")).active == []


def test_one_combination_that_can_hold_is_enough() -> None:
    text = """
        flow: Combined
        channels: {a: string, b: {type: string, external: true}, c: string}
        start: Wait
        steps:
          Wait:
            wait_for:
              any_combination_of: [[a, b], [b, c]]
              conditions: {a: {channel: a}, b: {channel: b}, c: {channel: c}}
            dead_end: true
        rpcs: {send: {publish: {c: x}}}
        """
    explained = explain(text)
    assert explained.verdict == "waiting_for_outside"
    assert "Wait-1  waiting for one of these combinations\n  a and b; or b and c\n" in explained.text
    assert explain(text.replace("rpcs: {send: {publish: {c: x}}}", "")).verdict == "stuck"


def test_messages_that_an_execution_holds_do_not_count() -> None:
    play = settled(
        """
        flow: Held
        channels: {token: string}
        start: Begin
        steps:
          Begin: {publish: {token: x}, go_to_many: [Enter, Enter]}
          Enter: {wait_for: {until: {channel: token}}, execute: work, dead_end: true}
        """
    )
    explained = Explained(play, leased=["Enter-1"])
    assert explained.verdict == "progressing"
    assert explained.execution("Enter-2")["can_move"] == "never"


# --- Waiting for each other -------------------------------------------------------------------------------

RING = """
flow: Ring
channels: {a: string, b: string}
start: Split
steps:
  Split: {go_to_many: [A, B]}
  A: {wait_for: {until: {channel: a}}, publish: {b: x}, dead_end: true}
  B: {wait_for: {until: {channel: b}}, go_to: AfterB}
  AfterB: {publish: {a: x}, dead_end: true}
"""


def test_two_steps_that_wait_only_for_each_other_are_both_stuck() -> None:
    explained = explain(RING)
    assert explained.verdict == "stuck"
    assert explained.json["cycles"] == [
        {
            "step_execution_ids": ["A-1", "B-1"],
            "text": "A-1 and B-1 wait for each other: A-1 needs a, which only B-1 could send or lead to; "
            "B-1 needs b, which only A-1 could send or lead to",
        }
    ]
    assert explained.summary == explained.json["cycles"][0]["text"]
    assert explained.senders("A-1", "a") == {"AfterB": ("never", "comes only after B-1, which cannot move")}
    assert explained.senders("B-1", "b") == {"A": ("never", "A-1 cannot move")}


def test_a_ring_that_the_outside_can_open_is_not_stuck() -> None:
    explained = explain(RING.replace("a: string", "a: {type: string, external: true}"))
    assert (explained.verdict, explained.json["cycles"]) == ("waiting_for_outside", [])
    assert explained.summary == "A waits for a, which a client may send"
    assert explained.senders("B-1", "b") == {"A": ("outside", "A-1 (waiting)")}


LOST = """
flow: Lost
channels: {token: string, finished: string}
start: Begin
steps:
  Begin:
    go_to_many: [Enter, Enter, Finish]
  Enter: {wait_for: {until: {channel: token}}, go_to: Work}
  Work: {publish: {token: x, finished: x}, dead_end: true}
  Finish: {wait_for: {until: {channel: finished, for: 2}}, graceful_complete: null}
"""


def test_a_lost_token_leaves_its_waiters_waiting_for_themselves() -> None:
    explained = explain(LOST)
    assert explained.verdict == "stuck"
    assert explained.summary == (
        "Enter-1 and Enter-2 need token, which only they themselves could send or lead to; "
        "Finish-1 waits for 2 messages on finished, which nobody can send"
    )
    assert explained.json["cycles"][0]["step_execution_ids"] == ["Enter-1", "Enter-2"]


def test_executions_that_wait_alike_are_shown_once() -> None:
    text = explain(LOST.replace("[Enter, Enter, Finish]", "[Enter, Enter, Enter, Enter, Enter, Finish]")).text
    assert "Enter-1, Enter-2, Enter-3 and 2 more  cannot move, waiting" in text
    assert text.count("0 of 1 message on token") == 1


def test_a_stuck_execution_that_another_may_cancel_says_so() -> None:
    play = settled(
        """
        flow: Race
        channels: {lost: string}
        start: Split
        steps:
          Split: {go_to_many: [Wait, Win, Sibling]}
          Wait: {wait_for: {until: {channel: lost}}, dead_end: true}
          Win: {execute: win, cancel: [Wait], dead_end: true}
          Sibling: {execute: win, cancel_siblings: [Wait], dead_end: true}
          Never: {cancel: [Wait], dead_end: true}
        """
    )
    assert Explained(play).execution("Wait-1")["ended_by"] == ["step Win", "step Sibling"]


# --- Joins, locks, subflows -------------------------------------------------------------------------------

JOIN = """
flow: Fork
joins: {done: string}
channels: {never: string}
start: Split
steps:
  Split:
    go_to_many: [{for_each: "${range(3)}", step: Work}, Collect]
    join: done
  Work:
    execute: work
    decide:
      - {choice: leave, dead_end: true}
      - {choice: hang, go_to: Hang}
      - {report: {done: x}, dead_end: true}
  Hang: {wait_for: {until: {channel: never}}, report: {done: x}, dead_end: true}
  Collect:
    wait_for: {until: {join: done, need: NEED}}
    graceful_complete: null
"""


def test_a_join_says_who_has_reported_and_who_still_counts() -> None:
    play = settled(JOIN.replace("NEED", "all"))
    play.succeed("Work-1")
    condition = Explained(play).condition("Collect-1", "done")
    assert condition["text"] == (
        "`need: all` of join done: 1 report from 3 branches, Work-2 and Work-3 can still report"
    )
    assert (condition["have"], condition["branches"]) == (1, 3)
    assert condition["counting"] == ["Work-2", "Work-3"]
    assert condition["can"] == "now"


def test_a_starved_join_says_so() -> None:
    play = settled(JOIN.replace("NEED", "all"))
    play.succeed("Work-1")
    play.succeed("Work-2", choice="leave")
    explained = Explained(play, leased=["Work-3"])
    condition = explained.condition("Collect-1", "done")
    assert (condition["is_starved"], condition["missed"], condition["can"]) == (True, 1, "never")
    assert condition["why"] == "starved: 1 ended or were cancelled without a report"
    assert explained.verdict == "progressing"


def test_a_join_that_needs_more_reports_than_branches_is_starved() -> None:
    explained = explain(JOIN.replace("NEED", "5"))
    why = "starved: it needs 5 reports, and the round has only 3"
    assert explained.condition("Collect-1", "done")["why"] == why


@pytest.mark.parametrize("need", ["all", "active"])
def test_a_branch_that_cannot_move_holds_up_its_join(need: str) -> None:
    play = settled(JOIN.replace("NEED", need))
    for id in ("Work-1", "Work-2"):
        play.succeed(id, choice="hang")
    play.succeed("Work-3")
    explained = Explained(play)
    assert explained.verdict == "stuck"
    assert explained.condition("Collect-1", "done")["why"] == "Hang-1 and Hang-2 cannot move"


def test_a_cancel_of_what_counts_satisfies_an_active_join() -> None:
    text = JOIN.replace("NEED", "active") + "rpcs: {give_up: {cancel: [Hang]}}\n"
    play = settled(text)
    for id in ("Work-1", "Work-2", "Work-3"):
        play.succeed(id, choice="hang")
    assert Explained(play).condition("Collect-1", "done")["can"] == "outside"
    play.send(RpcCalled(at=play.now, name="give_up"))
    play.settle()
    assert play.run.status == "COMPLETED"


def test_locks_are_shown_with_their_holders() -> None:
    play = settled(
        """
        flow: Locks
        attributes: {n: integer, m: {type: integer, map: true}}
        start: Split
        steps:
          Split: {go_to_many: [A, B]}
          A: {execute: {handler: a, locks: [n]}, dead_end: true}
          B: {execute: {handler: b, locks: [n, {m: x}]}, dead_end: true}
        """
    )
    explained = Explained(play, leased=["A-1"])
    assert explained.verdict == "progressing"
    assert explained.execution("B-1")["locks"] == [
        {"lock": "n", "holder": "A-1"},
        {"lock": "m/x", "holder": None},
    ]
    assert explained.execution("B-1")["can_move"] == "now"
    assert "B-1  waiting for locks\n  lock n: held by A-1\n  lock m/x: free" in explained.text


PARENT = """
flow: Parent
start: A
steps:
  A:
    wait_for: {until: {subflow: Child, id: child}}
    graceful_complete: null
"""


def test_a_subflow_is_shown_with_its_id_and_status() -> None:
    play = settled(PARENT)
    explained = Explained(play)
    assert explained.verdict == "waiting_for_subflow"
    assert explained.summary == "A-1 waits for run SubFlow:f-A-1-0"
    condition = explained.condition("A-1", "child")
    assert (condition["subflow"], condition["status"]) == ("SubFlow:f-A-1-0", "RUNNING")
    assert condition["help"][0]["command"] == "orchestrator explain SubFlow:f-A-1-0"
    play.send(
        SubflowClosed(
            at=play.now, execution_id="A-1", condition=0, flow_id="SubFlow:f-A-1-0", status="COMPLETED"
        )
    )
    play.settle()
    assert play.run.status == "COMPLETED"


@pytest.mark.parametrize(
    ("external", "verdict"), [("", "stuck"), (", external: true", "waiting_for_outside")]
)
def test_a_child_that_is_stuck_or_waits_for_the_outside_holds_up_its_parent(
    external: str, verdict: str
) -> None:
    child = explain(
        f"flow: Child\nstart: W\nchannels: {{c: {{type: string{external}}}}}\n"
        "steps: {W: {wait_for: {until: {channel: c}}, dead_end: true}}"
    )
    play = settled(PARENT)
    explained = Explained(play, children={"SubFlow:f-A-1-0": child.explanation})
    assert explained.verdict == verdict
    assert child.summary in str(explained.condition("A-1", "child")["why"])
    assert child.summary in explained.text


def test_a_run_of_many_waiting_executions_is_explained_in_one_paragraph_for_all() -> None:
    play = Play(
        """
        flow: Many
        channels: {go: {type: string, external: true}}
        start: Split
        steps:
          Split: {go_to_many: [{for_each: "${range(500)}", step: Wait}]}
          Wait: {wait_for: {until: {channel: go}}, dead_end: true}
        """
    )
    play.settle()
    explained = Explained(play)
    assert explained.summary == "Wait waits for go, which a client may send"
    assert len(explained.text.splitlines()) < 10
