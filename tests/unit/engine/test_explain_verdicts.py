"""`explain`: the verdict comes first, and says who moves the run, or that nobody can."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.explained import Explained, explain, settled
from tests.support.play import Play

WORK = """
flow: Work
start: Charge
steps:
  Charge:
    execute: {handler: charge, retry: {initial_interval: 20s, maximum_attempts: 3}}
    dead_end: true
"""
REVIEW = """
flow: Review
channels:
  approval: {type: string, external: true}
start: Review
steps:
  Review:
    wait_for:
      any_of:
        - {channel: approval}
        - {timer: 30m, id: deadline}
    graceful_complete: null
"""


def test_a_step_in_a_worker_is_progress() -> None:
    explained = Explained(settled(WORK), leased=["Charge-1"])
    assert (explained.verdict, explained.summary) == ("progressing", "Charge-1 is running")
    assert explained.execution("Charge-1")["text"] == "running execute, attempt 1 of 3"


def test_a_ready_step_that_nobody_takes_asks_for_a_worker() -> None:
    play = settled(WORK)
    play.advance(180)
    explained = Explained(play)
    assert explained.verdict == "progressing"
    assert explained.summary == "Charge-1 has been ready for 3m, and no worker has taken it"
    assert explained.execution("Charge-1")["help"][0]["command"] == "orchestrator worker"


def test_a_retry_says_when_why_and_how_often() -> None:
    play = settled(WORK)
    play.fail("Charge-1", "OSError", "the disk is full")
    explained = Explained(play)
    assert explained.verdict == "waiting_for_timer"
    assert explained.summary == "Charge-1 tries again (attempt 2) in 20s (2030-01-01 00:00:20Z)"
    assert explained.json["next_due"]["what"] == "retry"
    assert explained.execution("Charge-1")["last_failure"] == {
        "type": "OSError",
        "message": "the disk is full",
        "attempt": 1,
        "maximum_attempts": 3,
    }
    assert "  attempt 1 of 3 failed: OSError: the disk is full" in explained.text
    assert "try again at once: orchestrator retry-now f Charge-1" in explained.text


def test_a_delayed_start_says_when() -> None:
    explained = explain(WORK, delay=timedelta(hours=2))
    assert explained.summary == "Charge-1 begins in 2h (2030-01-01 02:00:00Z)"
    assert explained.json["next_due"]["what"] == "start"


def test_a_timer_says_when_and_how_to_skip_it() -> None:
    explained = explain(REVIEW)
    assert explained.verdict == "waiting_for_timer"
    assert explained.summary == "deadline of Review-1 fires in 30m (2030-01-01 00:30:00Z)"
    timer = explained.condition("Review-1", "deadline")
    assert timer["help"][0]["command"] == "orchestrator skip-timer f Review-1"
    assert explained.senders("Review-1", "approval") == {"client": ("outside", "may publish there")}


def test_of_several_timers_the_skipped_one_is_named() -> None:
    text = REVIEW.replace("- {channel: approval}", "- {timer: 1h, id: later}")
    explained = explain(text)
    later = explained.condition("Review-1", "later")
    assert later["help"][0]["command"] == "orchestrator skip-timer f Review-1 later"


def test_a_due_timer_is_progress() -> None:
    play = settled(REVIEW)
    play.advance(1800)
    assert Explained(play).verdict == "progressing"


def test_a_client_is_awaited_by_name_and_command() -> None:
    text = REVIEW.replace("- {timer: 30m, id: deadline}", "")
    explained = explain(text)
    assert explained.verdict == "waiting_for_outside"
    assert explained.summary == "Review waits for approval, which a client may send"
    assert "client  can: orchestrator publish f approval VALUE" in explained.text


def test_what_nobody_can_send_is_said_plainly() -> None:
    text = REVIEW.replace("- {timer: 30m, id: deadline}", "").replace(", external: true", "")
    explained = explain(text)
    assert explained.verdict == "stuck"
    assert explained.summary == "Review-1 waits for 1 message on approval, which nobody can send"
    assert (
        explained.condition("Review-1", "approval")["why"]
        == "nothing in the definition publishes to approval"
    )
    assert explained.commands == ["orchestrator stop f --type fail --reason TEXT"]
    assert "stuck, nobody can move it: " in explained.text


def test_a_timer_that_cannot_end_its_wait_moves_nothing() -> None:
    text = REVIEW.replace("any_of", "all_of").replace(", external: true", "")
    explained = explain(text)
    assert (explained.verdict, explained.json["next_due"]) == ("stuck", None)


# --- No active step, closed runs, the deadline ------------------------------------------------------------

DEAD = """
flow: Dead
start: A
steps: {A: {dead_end: true}, B: {dead_end: true}}
"""


def test_a_run_without_active_step_is_stuck() -> None:
    explained = explain(DEAD)
    assert (explained.verdict, explained.summary) == ("stuck", "no step is active, and no RPC starts one")


def test_a_run_without_active_step_waits_for_rpcs_that_start_one() -> None:
    explained = explain(DEAD + "rpcs: {look: {returns: 1}, again: {input: string, go_to: B}}\n")
    assert explained.verdict == "waiting_for_outside"
    assert explained.summary == "no step is active; RPC again may start one"
    assert explained.commands == ["orchestrator rpc f again INPUT"]


@pytest.mark.parametrize(
    ("policy", "words"),
    [("fail", "the run fails"), ("cancel", "the run is canceled"), ("handler", "on_timeout runs")],
)
def test_a_deadline_moves_what_nobody_else_can(policy: str, words: str) -> None:
    text = DEAD + f"timeout: {{after: 1h, policy: {policy}}}\n"
    text += "on_timeout: {force_fail: too late}\n" if policy == "handler" else ""
    explained = explain(text)
    assert explained.verdict == "waiting_for_timer"
    assert explained.summary == f"{words} at its deadline, in 1h (2030-01-01 01:00:00Z)"
    assert explained.commands == ["orchestrator skip-timer f --deadline"]


def test_a_completed_run_says_with_whose_output() -> None:
    play = settled("flow: Done\nstart: A\nsteps: {A: {graceful_complete: 1}}")
    explained = Explained(play)
    assert (explained.verdict, explained.summary) == ("closed", "completed, with output of A-1")
    assert explained.json["active"] == []


def test_a_failed_run_says_where_and_why() -> None:
    play = settled(WORK)
    play.fail("Charge-1", "OSError", "gone", is_retryable=False)
    summary = Explained(play).summary
    assert summary == "failed, step_failed at Charge-1: Charge-1 failed: OSError: gone"


@pytest.mark.parametrize(
    ("event", "words"),
    [("StopRequested", "canceled by a client"), ("TimerDue", "canceled at its deadline"), (None, "canceled")],
)
def test_a_canceled_run_says_by_whom(event: str | None, words: str) -> None:
    play = settled(REVIEW)
    play.stop()
    assert Explained(play, closing_event=event).summary == words


def test_a_terminated_run_says_so() -> None:
    play = settled(REVIEW)
    play.stop("terminate")
    assert Explained(play).summary == "terminated by a client"


# --- RPCs -------------------------------------------------------------------------------------------------

ASK = """
flow: Ask
channels: {approval: string}
start: Review
rpcs:
  approve: {input: string, publish: {approval: "${input}"}}
  withdraw: {cancel: [Review]}
steps:
  Review: {wait_for: {until: {channel: approval}}, graceful_complete: null}
"""


def test_an_rpc_that_publishes_is_awaited_by_name_and_command() -> None:
    explained = explain(ASK)
    assert explained.verdict == "waiting_for_outside"
    assert explained.summary == "Review waits for approval, which RPC approve may send"
    assert explained.senders("Review-1", "approval") == {"approve": ("outside", "may be called at any time")}
    assert "RPC approve  can: orchestrator rpc f approve INPUT" in explained.text
    assert explained.execution("Review-1")["ended_by"] == ["RPC withdraw"]


def test_an_rpc_that_only_cancels_is_named() -> None:
    text = ASK.replace('  approve: {input: string, publish: {approval: "${input}"}}\n', "")
    explained = explain(text)
    assert explained.verdict == "waiting_for_outside"
    assert explained.summary == "Review-1 cannot move unless RPC withdraw is called"
    assert explained.execution("Review-1")["can_move"] == "never"
    assert explained.commands[0] == "orchestrator rpc f withdraw"


def test_a_step_that_an_rpc_starts_may_publish() -> None:
    text = ASK.replace('publish: {approval: "${input}"}', "go_to: Answer") + (
        "  Answer: {publish: {approval: yes}, dead_end: true}\n"
    )
    explained = explain(text)
    assert explained.senders("Review-1", "approval") == {
        "Answer": ("outside", "comes after a call of RPC approve")
    }
    assert explained.verdict == "waiting_for_outside"
    assert explained.summary == "Review-1 cannot move unless RPC approve or RPC withdraw is called"


def test_an_rpc_that_starts_what_cannot_help_does_not_count() -> None:
    text = ASK.replace('publish: {approval: "${input}"}', "go_to: Idle").replace(
        "  withdraw: {cancel: [Review]}\n", ""
    )
    assert explain(text + "  Idle: {dead_end: true}\n").verdict == "stuck"
    assert explain(text + "  Idle: {force_complete: null}\n").verdict == "waiting_for_outside"


def test_flow_ids_and_keys_are_quoted_in_commands() -> None:
    play = Play(REVIEW)
    play.settle()
    play.run.flow_id = "order 7"
    sender = Explained(play).condition("Review-1", "approval")["senders"][0]
    assert sender["command"] == "orchestrator publish 'order 7' approval VALUE"
