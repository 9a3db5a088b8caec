"""WAI002, 007, 010: how long a wait can last."""

from __future__ import annotations

import pytest

from tests.support.linted import fixed, found, places


def flow(steps: str, head: str = "", channels: str = "c: {type: string, external: true}") -> str:
    declared = f"channels:\n  {channels}\n  d: {{type: string, external: true}}\n"
    return f"flow: F\n{head}{declared}start: A\nsteps:\n{steps}"


END = "graceful_complete: "


@pytest.mark.parametrize(
    "wait",
    [
        "{until: {channel: c}}",
        "{any_of: [{channel: c}, {channel: d}]}",
        "{all_of: [{channel: c}, {timer: 1h}]}",
        "{any_combination_of: [[a, t], [b]], conditions: {a: {channel: c}, b: {channel: d}, t: {timer: 1h}}}",
    ],
)
def test_a_wait_that_only_clients_can_end_is_unbounded(wait: str) -> None:
    assert len(found(flow(f"  A: {{wait_for: {wait}, {END}}}\n"), "WAI002")) == 1


@pytest.mark.parametrize(
    "wait",
    [
        "{any_of: [{channel: c}, {timer: 1h}]}",
        "{any_of: [{channel: c}, {subflow: Child}]}",
        "{until: {channel: c, at_most: 3}}",
        "{until: {channel: c, when: step.attempt > 1}}",
        "{handler: plan, conditions: {a: {channel: c}}}",
        "{all_of: [{timer: 1h}]}",
    ],
)
def test_a_wait_that_something_else_can_end_is_bounded(wait: str) -> None:
    assert found(flow(f"  A: {{wait_for: {wait}, {END}}}\n"), "WAI002") == []


WAIT = f"  A: {{wait_for: {{until: {{channel: c}}}}, {END}}}\n"


@pytest.mark.parametrize(
    "head",
    [
        "timeout: 1d\n",
        "verify: {open_ended: true}\n",
        "verify: {external: {c: [1]}}\n",
        "verify: {external: {c: [1, 2]}}\n",
    ],
)
def test_a_timeout_and_promises_to_the_verifier_count(head: str) -> None:
    assert found(flow(WAIT, head), "WAI002") == []


def test_a_promise_that_no_message_may_come_is_none() -> None:
    assert len(found(flow(WAIT, "verify: {external: {c: [0, 1]}}\n"), "WAI002")) == 1


def test_steps_of_the_flow_that_publish_too_are_trusted() -> None:
    steps = WAIT + f"  B: {{publish: {{c: now}}, {END}}}\n"
    assert found(flow(steps), "WAI002") == []


@pytest.mark.parametrize(
    ("other", "count"),
    [
        ("B: {wait_for: {until: {timer: 1h}}, force_complete: late}", 0),
        ("B: {wait_for: {until: {timer: 1h}}, cancel: [Listen], graceful_complete: late}", 0),
        ("B: {execute: {handler: work, may: {cancel: [Listen]}}, graceful_complete: late}", 0),
        ("B: {wait_for: {until: {timer: 1h}}, graceful_complete: late}", 1),
    ],
)
def test_a_branch_beside_it_may_end_the_wait(other: str, count: int) -> None:
    listen = f"  Listen: {{wait_for: {{until: {{channel: c}}}}, {END}}}\n"
    steps = f"  A: {{go_to_many: [Listen, B]}}\n{listen}  {other}\n"
    assert len(found(flow(steps), "WAI002")) == count


def test_the_fix_adds_a_deadline() -> None:
    assert fixed(flow(WAIT), "WAI002") == flow(
        f"  A: {{wait_for: {{any_of: [{{channel: c}}, {{timer: 7d, id: deadline}}]}}, {END}}}\n"
    )
    block = (
        f"  A:\n    wait_for:\n      any_of:\n        - {{channel: c}}\n        - {{channel: d}}\n    {END}\n"
    )
    expected = block.replace("d}\n", "d}\n        - {timer: 7d, id: deadline}\n")
    assert fixed(flow(block), "WAI002") == flow(expected)


# --- WAI007, WAI010 -----------------------------------------------------------------------------------------


def counted(count: str, type_: str, publisher: str = "") -> str:
    steps = f"  A: {{input: {type_}, wait_for: {{until: {{channel: c, for: {count}}}}}, {END}}}\n{publisher}"
    return flow(steps, "timeout: 1d\n")


@pytest.mark.parametrize(
    ("count", "type_"),
    [
        ("0", "integer"),
        ('"${input}"', "integer"),
        ('"${input}"', "{type: integer, minimum: 0}"),
        ('"${input}"', "{enum: [0, 1]}"),
    ],
)
def test_a_count_that_can_be_zero_is_told(count: str, type_: str) -> None:
    assert len(found(counted(count, type_), "WAI007")) == 1


@pytest.mark.parametrize(
    ("count", "type_"),
    [
        ("1", "integer"),
        ('"${input}"', "{type: integer, minimum: 1}"),
        ('"${input}"', "{type: integer, exclusiveMinimum: 0}"),
        ('"${input}"', "{enum: [1, 2]}"),
        ('"${max([input, 1])}"', "integer"),
        ('"${size(input)}"', "list of string"),
    ],
)
def test_a_count_that_cannot_be_zero_or_is_computed_is_not(count: str, type_: str) -> None:
    assert found(counted(count, type_), "WAI007") == []


def test_the_steps_own_messages_may_be_none_at_all() -> None:
    publisher = f"  B: {{publish: {{c: now}}, {END}}}\n"
    assert found(counted('"${input}"', "integer", publisher), "WAI007") == []


@pytest.mark.parametrize("bound", ["at_most: 3", "at_least: 0"])
def test_a_minimum_of_zero_beside_alternatives_always_wins(bound: str) -> None:
    steps = f"  A: {{wait_for: {{any_of: [{{channel: c, {bound}}}, {{timer: 1h}}]}}, {END}}}\n"
    assert places(flow(steps), "WAI010") == [f"7:{42 + len(bound.split(':')[0])}"]


@pytest.mark.parametrize(
    "wait",
    [
        "{until: {channel: c, at_most: 3}}",
        "{all_of: [{channel: c, at_most: 3}, {timer: 1h}]}",
        "{any_of: [{channel: c, at_least: 1, at_most: 3}, {timer: 1h}]}",
        "{any_of: [{channel: c, at_most: 3, when: step.attempt > 1}, {timer: 1h}]}",
    ],
)
def test_taking_what_is_there_is_fine_alone_and_in_a_combination(wait: str) -> None:
    assert found(flow(f"  A: {{wait_for: {wait}, {END}}}\n"), "WAI010") == []
