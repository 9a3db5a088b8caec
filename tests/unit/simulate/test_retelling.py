"""Data are found with which a run goes as it is told; where there are none, that is said.

Every story that is found is written as a rehearsal and must play the same from the file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.stories import differences_of, rehearsal_text, retold, story

CHOICE = """
    flow: Sorting
    start: Sort
    steps:
      Sort:
        execute: sort
        result: {name: mail, type: {type: object, required: [size], properties: {size: {type: integer}}}}
        decide:
          - {choice: spam, dead_end: true}
          - {when: mail.size > 1000, go_to: Shrink}
          - {go_to: File}
      Shrink: {dead_end: true}
      File: {graceful_complete: filed}
"""


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ("Sort-1 > 1", "RUNNING"),
        ("Sort-1 > 2: Shrink-1\nShrink-1 > 1", "RUNNING"),
        ("Sort-1 > 3: File-1\nFile-1 > 1\ncompleted", "COMPLETED"),
    ],
)
def test_results_are_such_that_the_decision_is_taken(told: str, status: str, tmp_path: Path) -> None:
    found = retold(CHOICE, story(told, status, is_at_rest=True), tmp_path)
    assert found.take is not None, found.reason
    assert differences_of(rehearsal_text(found), tmp_path) == []


RELAY = """
    flow: Relay
    input: {type: object, required: [amount, colour], properties: {
      amount: {type: integer}, colour: {enum: [red, green]}}}
    start: Take
    steps:
      Take: {go_to: {step: Weigh, input: {is_much: "${input.amount >= 500}", colour: "${input.colour}"}}}
      Weigh:
        input: {type: object, properties: {is_much: {type: boolean}, colour: {type: string}}}
        decide:
          - {when: input.is_much && input.colour == 'green', force_fail: too much}
          - {graceful_complete: fine}
"""


def test_a_later_decision_may_need_another_start_input(tmp_path: Path) -> None:
    told = story("Take-1 > 1: Weigh-1\nWeigh-1 > 1", "FAILED")
    found = retold(RELAY, told, tmp_path)
    assert found.take is not None, found.reason
    assert found.take.input["colour"] == "green"
    assert found.take.input["amount"] >= 500
    assert found.attempt_count > 1
    assert differences_of(rehearsal_text(found), tmp_path) == []


def test_a_story_that_no_data_tell_is_given_up_with_a_reason(tmp_path: Path) -> None:
    flow = """
        flow: Sure
        start: Begin
        steps:
          Begin: {set: {n: 1}, go_to: Look}
          Look:
            decide:
              - {when: attributes.n == 1, graceful_complete: one}
              - {dead_end: true}
        attributes: {n: integer}
    """
    found = retold(flow, story("Begin-1 > 1: Look-1\nLook-1 > 2", is_at_rest=True), tmp_path)
    assert found.take is None
    assert found.reason == "Look-1 takes decision 1"


def test_the_end_must_be_as_told_too(tmp_path: Path) -> None:
    found = retold(CHOICE, story("Sort-1 > 1", active="File-1", is_at_rest=True), tmp_path)
    assert found.take is None
    assert found.reason == "active are none, not File"


FORK = """
    flow: Fork
    input: integer
    channels: {token: string}
    start: Begin
    steps:
      Begin:
        publish: {token: t}
        go_to_many: [{for_each: "${range(input)}", as: i, step: Work, input: "${i}"}]
      Work:
        input: integer
        wait_for: {until: {channel: token}}
        execute: {handler: work, retry: {maximum_attempts: 3}}
        on_failure: Mend
        publish: {token: t}
        dead_end: true
      Mend: {input: integer, dead_end: true}
"""


def test_a_failure_comes_without_retries_and_others_wait_for_ever(tmp_path: Path) -> None:
    told = story(
        """
        Begin-1 > 1 [size(range(input)) = 2]: Work-1 Work-2
        Work-1 ? token
        Work-1 !: Mend-1
        Mend-1 > 1
        """,
        active="Work-2",
        is_at_rest=True,
    )
    found = retold(FORK, told, tmp_path)
    text = rehearsal_text(found)
    assert "raises: RuntimeError" in text and "non_retryable: true" in text
    assert "active: [Work-2]" in text
    assert differences_of(text, tmp_path) == []


def test_alike_executions_may_be_told_in_another_order_than_the_engine_serves_them(tmp_path: Path) -> None:
    told = story(
        """
        Begin-1 > 1 [size(range(input)) = 2]: Work-1 Work-2
        Work-2 ? token
        Work-2 > 1
        Work-1 ? token
        Work-1 !: Mend-1
        Mend-1 > 1
        """,
        is_at_rest=True,
    )
    found = retold(FORK, told, tmp_path)
    assert found.take is not None, found.reason
    assert differences_of(rehearsal_text(found), tmp_path) == []


def test_what_happens_at_once_is_seen_while_it_goes_on(tmp_path: Path) -> None:
    flow = FORK.replace("        wait_for: {until: {channel: token}}\n", "")
    told = story("Begin-1 > 1 [size = 2]: Work-1 Work-2", active="Work-1 Work-2", unread={"token": 1})
    text = rehearsal_text(retold(flow, told, tmp_path))
    assert "until: 0s" in text and "active: [Work-1, Work-2]" in text
    assert differences_of(text, tmp_path) == []


CLIENTS = """
    flow: Clients
    channels: {answer: {type: {enum: ["no", "yes"]}, external: true}, go: string}
    attributes: {last: string}
    start: Ask
    steps:
      Ask:
        wait_for:
          any_of: [{channel: answer}, {timer: 1h, id: late}, {channel: go}]
        decide:
          - {when: wait.late.satisfied, force_fail: nobody answers}
          - {when: wait.answer.satisfied && wait.answer.message == 'yes', graceful_complete: yes!}
          - {go_to: Ask}
    rpcs:
      steer:
        input: integer
        decide:
          - {when: input > 7, publish: {go: on}}
          - {reject: too little}
      tell:
        handler: tell
        result: {name: word, type: string}
        decide:
          - {when: word == 'now', publish: {go: on}}
          - {returns: "${word}"}
    timeout: 2h
    on_timeout: {decide: [{when: attributes.last == 'x', force_fail: x}, {force_fail: over}]}
"""


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ("publish answer\nAsk-1 ? answer\nAsk-1 > 2\ncompleted", "COMPLETED"),
        ("Ask-1 ? late\nAsk-1 > 1", "FAILED"),
        ("rpc steer > 1\nAsk-1 ? go\nAsk-1 > 3: Ask-2\nAsk-2 ? late\nAsk-2 > 1", "FAILED"),
        (
            "rpc tell > 1\nAsk-1 ? go\nAsk-1 > 3: Ask-2\npublish answer\nAsk-2 ? answer\nAsk-2 > 2",
            "COMPLETED",
        ),
        ("deadline > 2", "FAILED"),
    ],
)
def test_clients_timers_and_the_deadline_do_as_told(told: str, status: str, tmp_path: Path) -> None:
    found = retold(CLIENTS, story(told, status), tmp_path)
    assert found.take is not None, found.reason
    assert differences_of(rehearsal_text(found), tmp_path) == []


def test_a_client_may_come_before_the_first_step(tmp_path: Path) -> None:
    flow = """
        flow: Early
        start: First
        steps:
          First: {dead_end: true}
          Stop: {force_complete: stopped}
        rpcs: {stop: {go_to: Stop}}
    """
    found = retold(flow, story("rpc stop > 1: Stop-1\nStop-1 > 1", "COMPLETED"), tmp_path)
    text = rehearsal_text(found)
    assert "delay: 1h" in text
    assert differences_of(text, tmp_path) == []


MADE = """
    flow: Made
    channels: {a: string, b: string, done: string}
    attributes: {mark: string}
    start: Wait
    steps:
      Wait:
        wait_for:
          handler: build
          may: {publish: {a: {min: 0, max: 1}}}
          conditions: {x: {channel: a}, y: {channel: b}}
          on_failure: proceed
        execute: {handler: work, may: {publish: {done: {min: 0, max: 2}}, set: [mark]}}
        decide:
          - {when: attributes.mark == 'm', dead_end: true}
          - {graceful_complete: }
"""


def test_handlers_build_waits_and_publish_as_told(tmp_path: Path) -> None:
    told = story(
        """
        Wait-1 ~ [wait = any_of x y, publishes a = 1]
        Wait-1 ? x
        Wait-1 > 2 [publishes done = 2]
        completed
        """,
        "COMPLETED",
        unread={"done": 2},
    )
    text = rehearsal_text(retold(MADE, told, tmp_path))
    assert "any_of: [x, y]" in text
    assert differences_of(text, tmp_path) == []


def test_what_a_handler_writes_may_decide(tmp_path: Path) -> None:
    told = story("Wait-1 ~ [wait = none]\nWait-1 > 1", is_at_rest=True)
    text = rehearsal_text(retold(MADE, told, tmp_path))
    assert "set: {mark: m}" in text
    assert differences_of(text, tmp_path) == []


PARENT = """
    flow: Parent
    start: Call
    steps:
      Call:
        wait_for: {until: {subflow: Child}}
        decide:
          - {when: wait.Child.status != 'COMPLETED', force_fail: no}
          - {graceful_complete: "${wait.Child.output}"}
"""


@pytest.mark.parametrize(
    ("end", "decision", "status"), [("FAILED", 1, "FAILED"), ("COMPLETED", 2, "COMPLETED")]
)
def test_children_end_as_told(end: str, decision: int, status: str, tmp_path: Path) -> None:
    told = story(f"Call-1 @ Child [Child = {end}]\nCall-1 ? Child\nCall-1 > {decision}", status)
    text = rehearsal_text(retold(PARENT, told, tmp_path))
    assert differences_of(text, tmp_path) == []


def test_a_child_that_never_ends_keeps_its_parent_waiting(tmp_path: Path) -> None:
    flow = PARENT.replace("start: Call", "start: Begin").replace(
        "steps:\n", "steps:\n      Begin: {go_to: Call}\n", 1
    )
    told = story("Begin-1 > 1: Call-1", active="Call-1")
    assert differences_of(rehearsal_text(retold(flow, told, tmp_path)), tmp_path) == []


def test_a_client_may_act_right_after_a_step_before_others_begin_to_wait(tmp_path: Path) -> None:
    flow = """
        flow: Quick
        channels: {desk: string, verdict: {type: string, external: true}}
        start: Begin
        steps:
          Begin: {publish: {desk: free}, go_to_many: [Both, One]}
          Both: {wait_for: {all_of: [{channel: verdict}, {channel: desk}]}, dead_end: true}
          One: {wait_for: {until: {channel: desk}}, dead_end: true}
    """
    told = story(
        """
        Begin-1 > 1: Both-1 One-1
        publish verdict
        Both-1 ? verdict desk
        Both-1 > 1
        """,
        active="One-1",
        is_at_rest=True,
    )
    text = rehearsal_text(retold(flow, told, tmp_path))
    assert "after: Begin-1" in text
    assert differences_of(text, tmp_path) == []


def test_the_end_of_a_step_that_nothing_holds_up_need_not_be_told(tmp_path: Path) -> None:
    flow = FORK.replace("go_to_many: [", "go_to_many: [{step: Close}, ").replace(
        "      Mend:", "      Close: {graceful_complete: done}\n      Mend:"
    )
    told = story("Begin-1 > 1 [size = 1]: Close-1 Work-1\nWork-1 ? token", active="Close-1 Work-1")
    assert differences_of(rehearsal_text(retold(flow, told, tmp_path)), tmp_path) == []
    told = story("Begin-1 > 1 [size = 1]: Close-1 Work-1\nWork-1 ? token", active="Work-1")
    assert retold(flow, told, tmp_path).take is None
