"""RPCs (rules 165-172; language.md 7)."""

from __future__ import annotations

import pytest

from orchestrator.core.events import HandlerEffects, Write
from orchestrator.errors import HandlerFailed, InvalidValue, NotActive, NotFound, Rejected
from tests.support.play import Play

FLOW = """
flow: Rpcs
attributes: {status: {type: string, initial: waiting}, note: string}
channels: {approval: string, flag: {type: integer, capacity: 1, leftover: true}}
start: Await
steps:
  Await:
    wait_for: {until: {channel: approval}}
    graceful_complete: "${wait.approval.message}"
  Extra:
    input: string
    execute: extra
    dead_end: true
rpcs:
  describe: {output: string or none, returns: "${attributes.status}"}
  approve:
    input: string
    output: boolean
    decide:
      - when: attributes.status == 'waiting'
        set: {status: approved}
        publish: {approval: "${input}"}
        returns: true
      - {reject: "not waiting but ${attributes.status}"}
  only_big:
    input: integer
    decide: [{when: input > 10, returns: big}]
  begin: {input: string, go_to: {step: Extra, input: "${input}"}, returns: begun}
  stop_extra: {cancel: [Extra], go_to: {step: Extra, input: last}}
  raise_flag: {publish: {flag: 1}, set: {note: raised}}
  handled:
    handler: handle
    may: {set: [note]}
    result: {type: integer}
    set: {status: "${string(result)}"}
"""


@pytest.mark.rule(165)
@pytest.mark.rule(166)
def test_an_rpc_writes_publishes_and_answers_in_one_commit() -> None:
    play = Play(FLOW)
    play.settle()
    version = play.run.version
    assert play.rpc("approve", "ann") is True
    assert play.run.version == version + 1
    assert play.attributes == {"status": "approved"}
    assert play.outputs == ["ann"]


@pytest.mark.rule(166)
def test_a_rejected_rpc_commits_nothing_and_says_why() -> None:
    play = Play(FLOW, attributes={"status": "closed"})
    play.settle()
    with pytest.raises(Rejected, match="not waiting but closed"):
        play.rpc("approve", "ann")
    assert play.attributes == {"status": "closed"}


def test_without_a_decision_that_holds_the_call_is_rejected() -> None:
    play = Play(FLOW)
    assert play.rpc("only_big", 11) == "big"
    with pytest.raises(Rejected, match="no decision"):
        play.rpc("only_big", 3)


def test_without_a_movement_left_the_call_is_rejected_in_the_name_of_the_rpc() -> None:
    play = Play(FLOW + "  each: {input: list of string, go_to_many: [{step: Extra, for_each: '${input}'}]}\n")
    with pytest.raises(Rejected, match="no movement of RPC each is left"):
        play.rpc("each", [])


@pytest.mark.rule(171)
@pytest.mark.rule(12)
def test_a_step_that_an_rpc_starts_knows_the_rpc() -> None:
    play = Play(FLOW)
    assert play.rpc("begin", "x") == "begun"
    assert play.run.executions["Extra-1"].origin == "__rpc/begin"


@pytest.mark.rule(133)
@pytest.mark.rule(171)
def test_an_rpc_never_cancels_what_it_starts() -> None:
    play = Play(FLOW)
    play.rpc("begin", "a")
    play.rpc("begin", "b")
    play.rpc("stop_extra")
    assert [id for id in play.active if id.startswith("Extra")] == ["Extra-3"]


def test_a_full_channel_refuses_the_whole_call() -> None:
    play = Play(FLOW)
    play.rpc("raise_flag")
    with pytest.raises(HandlerFailed, match="at most 1"):
        play.rpc("raise_flag")
    assert play.unread("flag") == [1]


def test_a_handlers_writes_and_result_are_part_of_the_call() -> None:
    play = Play(FLOW)
    effects = HandlerEffects(writes=(Write("note", "n"),))
    assert play.rpc("handled", result=5, effects=effects) == 5
    assert play.attributes == {"status": "5", "note": "n"}
    with pytest.raises(HandlerFailed, match="result of handle"):
        play.rpc("handled", result="five", effects=effects)


@pytest.mark.rule(168)
@pytest.mark.rule(21)
def test_on_a_closed_run_only_rpcs_without_effects_work() -> None:
    play = Play(FLOW)
    play.stop()
    assert play.rpc("describe") == "waiting"
    with pytest.raises(NotActive, match="has effects"):
        play.rpc("approve", "ann")


@pytest.mark.rule(170)
def test_a_request_id_makes_a_repeated_call_answer_without_effect() -> None:
    play = Play(FLOW)
    assert play.rpc("begin", "x", request_id="1") == "begun"
    assert play.rpc("begin", "x", request_id="1") == "begun"
    assert play.rpc("begin", "x", request_id="2") == "begun"
    assert play.run.counters["Extra"] == 2


def test_unknown_rpcs_and_wrong_inputs_are_refused() -> None:
    play = Play(FLOW)
    with pytest.raises(NotFound, match="it has: approve"):
        play.rpc("aprove", "x")
    with pytest.raises(InvalidValue, match="input of RPC approve"):
        play.rpc("approve", 1)
    with pytest.raises(InvalidValue, match="takes no input"):
        play.rpc("describe", 1)
