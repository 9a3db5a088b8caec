"""What changed between two versions, in words, with the lines of both."""

from __future__ import annotations

import pytest

from orchestrator.core.migration.renaming import NO_RENAMING, Renaming
from orchestrator.diff.change import ChangeKind
from orchestrator.diff.comparing import compare, renamed_steps
from tests.support.play import flow_of

BASE = """flow: Order
description: Orders.
handlers: handlers.order
input: string
channels:
  paid: {type: integer, external: true}
  news: string
attributes:
  total: {type: integer, initial: 0}
start: Take
steps:
  Take:
    input: string
    execute: {handler: take, timeout: 5m, retry: {maximum_attempts: 3}}
    go_to: Wait
  Wait:
    input: string
    wait_for: {any_of: [{channel: paid}, {timer: 3d, id: late}]}
    decide:
      - {when: wait.late.fired, graceful_complete: null}
      - {set: {total: "${wait.paid.message}"}, publish: {news: paid}, go_to: Send}
  Send: {input: string, execute: send, graceful_complete: null}
rpcs:
  look: {output: integer, returns: "${attributes.total}"}
"""


def told(*replacements: tuple[str, str], renaming: Renaming = NO_RENAMING) -> list[str]:
    text = BASE
    for before, after in replacements:
        assert before in text, before
        text = text.replace(before, after)
    return [f"{each.kind}: {each.text}" for each in compare(flow_of(BASE), flow_of(text), renaming)]


CASES = {
    "nothing": ((), []),
    "a description": ((("description: Orders.", "description: All orders."),), []),
    "a retry": (
        (("maximum_attempts: 3", "maximum_attempts: 5"),),
        ["changed: step Take: execute.retry.maximum_attempts: 3 → 5"],
    ),
    "a timeout that is gone": (
        (("timeout: 5m, ", ""),),
        ["changed: step Take: execute.timeout 5m is removed"],
    ),
    "a handler": ((("execute: send", "execute: ship"),), ["changed: step Send: execute: send → ship"]),
    "a type": (
        (("news: string", "news: any"),),
        ["changed: channel news: type: string → any"],
    ),
    "a condition": (
        (("timer: 3d, id: late}", "timer: 5d, id: late}, {channel: news}"),),
        [
            "changed: step Wait: wait_for condition late: timer 3d → timer 5d",
            "changed: step Wait: wait_for condition news news.for 1 is added",
        ],
    ),
    "a guard": (
        (("when: wait.late.fired", "when: wait.late.fired && attributes.total == 0"),),
        [
            "changed: step Wait: decision 1: `when wait.late.fired` → "
            "`when wait.late.fired && attributes.total == 0`"
        ],
    ),
    "an effect": (
        (("publish: {news: paid}, ", ""),),
        ["changed: step Wait: decision 2: `publish news = paid` is removed"],
    ),
    "a new decision": (
        (("      - {set:", "      - {when: wait.paid.message > 9, dead_end: true}\n      - {set:"),),
        ["changed: step Wait: may decide `when wait.paid.message > 9, dead_end`"],
    ),
    "a failure route": (
        (("    go_to: Wait", "    on_failure: Send\n    go_to: Wait"),),
        ["changed: step Take: on_failure Send is added"],
    ),
    "a deadline": (
        (("start: Take", "timeout: {after: 9d, policy: cancel}\nstart: Take"),),
        [
            "changed: flow: timeout yes is added",
            "changed: flow: timeout.after 9d is added",
            "changed: flow: timeout.policy cancel is added",
        ],
    ),
    "the output of an RPC": (
        (("output: integer", "output: number"),),
        ["changed: rpc look: output: integer → number"],
    ),
    "what is added and removed": (
        (
            ("  news: string\n", ""),
            ("publish: {news: paid}, ", ""),
            ("initial: 0}", "initial: 0}\n  rate: {type: number, map: true}"),
        ),
        [
            "removed: channel news",
            "added: attribute rate",
            "changed: step Wait: decision 2: `publish news = paid` is removed",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_told(name: str) -> None:
    replacements, expected = CASES[name]
    assert told(*replacements) == expected


def test_a_step_with_the_same_contents_under_another_name_is_renamed() -> None:
    text = BASE.replace("Send", "Ship")
    changes = compare(flow_of(BASE), flow_of(text), NO_RENAMING)
    assert renamed_steps(changes) == {"Send": "Ship"}
    assert [each.text for each in changes] == [
        "step Wait: decision 2: `go_to Send` → `go_to Ship`",
        "step Send is now Ship",
    ]


def test_what_is_little_alike_is_removed_and_added_unless_the_author_says_otherwise() -> None:
    other = (
        "  Send: {input: string, execute: send, graceful_complete: null}",
        "  Ship: {execute: {handler: ship, timeout: 1m}, wait_for: {until: {channel: paid}}, dead_end: true}",
    )
    move = ("go_to: Send", "go_to: {step: Ship}")
    kinds = {line.partition(":")[0] for line in told(other, move)}
    assert {ChangeKind.REMOVED, ChangeKind.ADDED} <= kinds
    assert ChangeKind.RENAMED not in kinds
    said = told(other, move, renaming=Renaming(steps={"Send": "Ship"}))
    assert "renamed: step Send is now Ship" in said
    assert "changed: step Ship: execute: send → ship" in said


def test_places_are_those_of_both_files() -> None:
    text = BASE.replace("handlers: handlers.order\n", "").replace(
        "maximum_attempts: 3", "maximum_attempts: 5"
    )
    change = next(c for c in compare(flow_of(BASE), flow_of(text), NO_RENAMING) if c.name == "Take")
    assert change.old is not None and change.new is not None
    assert (change.old.line, change.new.line) == (14, 13)
    assert BASE.splitlines()[13][change.old.column - 1 :].startswith("maximum_attempts")
