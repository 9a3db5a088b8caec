"""CHN: who publishes the first message, and what is mixed in one channel."""

from __future__ import annotations

import pytest

from tests.support.linted import found

RELAY = """
flow: Relay
channels: {{baton: {channel}}}
start: Begin
steps:
  Begin: {begin}
  Run:
    wait_for: {wait}
    publish: {{baton: null}}
    go_to: Run
"""


def relay(
    *,
    channel: str = "none",
    begin: str = "{go_to: Run}",
    wait: str = "{until: {channel: baton}}",
    rest: str = "",
) -> str:
    return RELAY.format(channel=channel, begin=begin, wait=wait) + rest


@pytest.mark.parametrize(
    "wait",
    [
        "{until: {channel: baton}}",
        "{until: {channel: baton, for: 2}}",
        "{until: {channel: baton, at_least: 1}}",
        "{all_of: [{channel: baton}, {timer: 1s}]}",
        "{any_of: [{channel: baton}, {channel: baton, for: 3}]}",
    ],
)
def test_only_those_that_have_waited_publish(wait: str) -> None:
    (problem,) = found(relay(wait=wait), "CHN005")
    assert problem.severity == "error"
    assert problem.message.startswith("`Run` waits for `baton`")


@pytest.mark.parametrize(
    "text",
    [
        relay(begin="{publish: {baton: null}, go_to: Run}"),
        relay(begin="{wait_for: {publish: {baton: null}}, go_to: Run}"),
        relay(channel="{type: none, external: true}"),
        relay(wait="{any_of: [{channel: baton}, {timer: 1m}]}"),
        relay(wait="{until: {channel: baton, at_least: 0}}"),
        relay(wait="{until: {channel: baton, at_most: 1}}"),
        relay(wait="{until: {channel: baton, when: run.flow_id == 'a'}}"),
        relay(wait="{until: {channel: baton}, publish: {baton: null}}"),
        relay(rest="rpcs: {go: {publish: {baton: null}}}\n"),
        relay(rest="timeout: 1d\non_timeout: {publish: {baton: null}, go_to: Run}\n"),
        relay(begin="{go_to_many: [Run, Seed]}", rest="  Seed: {publish: {baton: null}, dead_end: true}\n"),
    ],
    ids=[
        "before",
        "by a wait",
        "outside",
        "timer",
        "zero",
        "at most",
        "guarded",
        "own wait",
        "rpc",
        "timeout",
        "beside",
    ],
)
def test_somebody_can_publish_the_first_message(text: str) -> None:
    assert found(text, "CHN005") == []


def test_a_wait_that_goes_on_after_a_failure_may_come_first() -> None:
    text = "handlers: h\n" + relay(
        wait="{handler: build, conditions: {baton: {channel: baton}}, on_failure: proceed}"
    )
    assert found(text, "CHN005") == []


def test_a_section_without_seed_is_reported_once() -> None:
    text = """
    flow: Workers
    channels: {slot: none}
    start: Begin
    steps:
      Begin: {go_to_many: [Enter, Enter]}
      Enter: {wait_for: {until: {channel: slot}}, publish: {slot: null}, dead_end: true}
    """
    assert [problem.code for family in ("TOK", "CHN") for problem in found(text, family)] == ["TOK001"]


DESK = """
flow: Desk
channels: {desk: string}
start: Begin
steps:
  Begin:
    publish: {desk: pen}
    go_to_many: [Take, Take, Read]
  Take:
    wait_for: {until: {channel: desk}}
    publish: {desk: pen}
    dead_end: true
  Read:
    wait_for: {until: {channel: desk}}
    decide:
      - {when: wait.desk.message == 'stop', dead_end: true}
      - go_to: Read
"""


def test_tokens_and_data_in_one_channel() -> None:
    assert [problem.code for problem in found(DESK, "CHN004")] == ["CHN004"]


def test_a_pool_whose_members_all_look_at_what_they_take() -> None:
    text = DESK.replace(
        "    publish: {desk: pen}\n    dead_end: true",
        '    publish: {desk: "${wait.desk.message}"}\n    dead_end: true',
    )
    assert found(text, "CHN004") == []


COUNT = """
flow: Count
channels: {done: string}
start: Begin
steps:
  Begin: {go_to_many: [Work, Work, Collect]}
  Work: {publish: {done: work}, dead_end: true}
  Collect: {wait_for: {until: {channel: done, for: 2}}, graceful_complete: }
"""


def test_an_rpc_whose_messages_are_counted_among_those_of_branches() -> None:
    text = COUNT + "rpcs: {finish: {publish: {done: call}}}\n"
    (problem,) = found(text, "CHN006")
    assert problem.severity == "warning"


@pytest.mark.parametrize(
    "text",
    [
        COUNT,
        COUNT.replace(", for: 2", "") + "rpcs: {finish: {publish: {done: call}}}\n",
        COUNT.replace("{publish: {done: work}, dead_end: true}", "{dead_end: true}")
        + "rpcs: {finish: {publish: {done: call}}}\n",
    ],
    ids=["no rpc", "not counted", "only rpcs"],
)
def test_an_rpc_and_branches_are_not_mixed_up(text: str) -> None:
    assert found(text, "CHN006") == []
