"""What a guard gives where only a part of what it reads is known."""

from __future__ import annotations

import pytest

from orchestrator.graph.truth import UNKNOWN, Known, truth
from tests.support.play import flow_of

KNOWN: Known = {
    ("wait", "token", "satisfied"): True,
    ("wait", "token", "messages"): [UNKNOWN],
    ("wait", "closing", "satisfied"): False,
    ("wait", "closing", "message"): None,
    ("wait_for_failed",): False,
}
FLOW = """
flow: F
channels: {{token: string, closing: string}}
attributes: {{x: {{type: boolean, initial: true}}, n: {{type: integer, initial: 0}}}}
start: A
steps:
  A:
    wait_for: {{any_of: [{{channel: token}}, {{channel: closing}}, {{timer: 1s}}]}}
    let: {{got: "${{wait.token.satisfied}}"}}
    decide:
      - when: >-
          {guard}
        dead_end: true
      - dead_end: true
"""


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ("wait.token.satisfied", True),
        ("!wait.token.satisfied", False),
        ("got && !wait.closing.satisfied", True),
        ("got || attributes.x", True),
        ("got && attributes.x", None),
        ("wait.closing.satisfied && attributes.x", False),
        ("wait.closing.satisfied || attributes.x", None),
        ("wait.closing.satisfied ? attributes.x : got", True),
        ("attributes.x ? got : got", None),
        ("size(wait.token.messages) == 1", True),
        ("size(wait.token.messages) > 1", False),
        ("size(wait.token.messages) >= attributes.n", None),
        ("wait.token.messages == []", False),
        ("wait.token.messages != []", True),
        ("wait.token.messages == ['a']", None),
        ("wait.closing.message == null", True),
        ("wait.closing.message != null", False),
        ("wait_for_failed == false", True),
        ("attributes.n < 3", None),
        ("2 < 3", True),
        ("3 == 2", False),
        ("wait.timer.fired", None),
    ],
)
def test_a_guard_is_settled_by_what_is_known_or_not_at_all(guard: str, expected: bool | None) -> None:
    flow = flow_of(FLOW.format(guard=guard))
    assert truth(flow.steps["A"].decisions[0].when, KNOWN) is expected


def test_no_guard_holds() -> None:
    assert truth(None, {}) is True
