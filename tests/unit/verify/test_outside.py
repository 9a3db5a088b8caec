"""How much comes from outside where the author does not say: enough for every part to come into play."""

from __future__ import annotations

import pytest

from orchestrator.verify.report import Verdict
from orchestrator.verify.verifying import verify_flow
from tests.support.play import flow_of
from tests.unit.verify.searching import report_of, verified, violated

VOTES = """
    flow: Votes
    channels: {vote: {type: string, external: true}}
    start: Count
    steps:
      Count:
        wait_for: WAIT
        graceful_complete:
"""


@pytest.mark.parametrize(
    ("wait", "most"),
    [
        ("{until: {channel: vote}}", 2),
        ("{until: {channel: vote, for: 3}}", 3),
        ("{until: {channel: vote, at_least: 5}}", 5),
        ("{until: {channel: vote, at_least: 4, at_most: 9}}", 4),
        ("{all_of: [{channel: vote, for: 2}, {channel: vote, for: 3, id: more}]}", 5),
        ("{any_of: [{channel: vote, for: 3}, {timer: 1d}]}", 3),
    ],
)
def test_as_many_as_one_wait_asks_for(wait: str, most: int) -> None:
    report = verified(VOTES.replace("WAIT", wait))
    assert report.external == {"vote": (0, most)}
    assert "dead_transition" not in violated(report)


def test_as_many_calls_of_an_rpc_as_the_wait_for_its_messages_asks_for() -> None:
    report = verified(
        VOTES.replace("{type: string, external: true}", "string").replace(
            "WAIT", "{until: {channel: vote, for: 4}}"
        )
        + '    rpcs: {cast: {input: string, publish: {vote: "${input}"}}, reset: {go_to: Count}}\n'
    )
    assert report.external == {"cast": (0, 4), "reset": (0, 2)}
    assert not violated(report)


STAGES = """
    flow: Stages
    channels: {approval: {type: string, external: true}}
    start: S1
    steps:
      S1: {wait_for: {until: {channel: approval}}, go_to: S2}
      S2: {wait_for: {until: {channel: approval}}, go_to: S3}
      S3: {wait_for: {until: {channel: approval}}, END}
"""


def test_several_steps_that_wait_for_one_message_each() -> None:
    assert not violated(verified(STAGES.replace("END", "graceful_complete: ")))


def test_what_is_wrong_behind_the_waits_is_found() -> None:
    """With two messages no run comes there, and all would count as checked."""
    assert violated(verified(STAGES.replace("END", "dead_end: true"))) == {"zombie"}


def test_a_loop_that_counts_what_comes() -> None:
    text = """
        flow: Counting
        attributes: {n: {type: integer, initial: 0}}
        channels: {vote: {type: string, external: true}}
        start: Count
        steps:
          Count:
            wait_for: {until: {channel: vote}}
            set: {n: "${attributes.n + 1}"}
            decide:
              - {when: attributes.n >= 4, END}
              - go_to: Count
    """
    assert not violated(verified(text.replace("END", "graceful_complete: ")))
    assert violated(verified(text.replace("END", "dead_end: true"))) == {"zombie"}


def test_what_the_author_says_stays() -> None:
    report = verified(
        STAGES.replace("END", "graceful_complete: ") + "    verify: {external: {approval: [0, 1]}}\n"
    )
    assert report.external == {"approval": (0, 1)}
    assert "dead_transition" in violated(report)


def test_more_from_outside_does_not_hide_what_is_dead_anyway() -> None:
    guard = "wait.approval.message == 'x' && wait.approval.message == 'y'"
    end = f"decide: [{{when: {guard}, force_fail: x}}, {{graceful_complete: }}]"
    assert violated(verified(STAGES.replace("END", end))) == {"dead_transition"}


def test_where_the_search_did_not_end_nothing_is_said_about_what_is_dead() -> None:
    report = verify_flow(flow_of(STAGES.replace("END", "graceful_complete: ")), max_states=3)
    assert report_of(report, "dead_transition").verdict is Verdict.UNKNOWN
