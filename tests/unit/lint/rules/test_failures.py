"""FAI: routes, retries, cancels without effect, runs that never end."""

from __future__ import annotations

import pytest

from tests.support.linted import fixed, found

CHAIN = """
flow: Chain
handlers: h
start: First
steps:
  First: {{execute: first, {first} go_to: Second}}
  Second: {{execute: second, {second} graceful_complete: }}
  Undo: {{execute: undo, graceful_complete: }}
"""


def chain(first: str = "", second: str = "") -> str:
    return CHAIN.format(first=first, second=second)


def test_a_step_without_a_route_after_one_with_a_route() -> None:
    (problem,) = found(chain("on_failure: Undo,"), "FAI001")
    assert problem.severity == "info"
    assert problem.message.startswith("when `Second` fails the run fails")


@pytest.mark.parametrize(
    "text",
    [
        chain(),
        chain("on_failure: Undo,", "on_failure: Undo,"),
        chain("", "on_failure: Undo,"),
        chain("on_failure: Undo,").replace("execute: second, ", ""),
    ],
    ids=["no routes at all", "both", "only the last", "nothing that fails"],
)
def test_a_missing_route_that_nobody_misses(text: str) -> None:
    assert found(text, "FAI001") == []


def test_a_route_given_by_a_movement_is_one() -> None:
    text = chain("on_failure: Undo,").replace(
        "go_to: Second", "go_to: {step: Second, options: {on_failure: Undo}}"
    )
    assert found(text, "FAI001") == []


SECTION = """
flow: Section
handlers: h
channels: {{slot: none}}
start: Begin
steps:
  Begin: {{publish: {{slot: null}}, go_to_many: [Enter, Enter]}}
  Enter: {{wait_for: {{until: {{channel: slot}}}}, go_to: Work}}
  Work: {{execute: work, {route} publish: {{slot: null}}, dead_end: true}}
  Release: {{execute: release, publish: {{slot: null}}, dead_end: true}}
"""


def test_a_member_of_a_section_without_a_route() -> None:
    assert [p.message.split(" and")[0] for p in found(SECTION.format(route=""), "FAI002")] == [
        "`Work` holds `slot`"
    ]


def test_a_member_of_a_section_with_a_route_and_its_recovery_step() -> None:
    assert found(SECTION.format(route="on_failure: Release,"), "FAI002") == []


def test_a_step_that_is_its_own_route() -> None:
    assert [p.severity for p in found(chain("on_failure: First,"), "FAI003")] == ["error"]


def test_a_route_by_a_movement_back_to_the_step_itself() -> None:
    text = chain().replace("go_to: Second", "go_to: {step: Second, options: {on_failure: Second}}")
    assert len(found(text, "FAI003")) == 1


ASYNC = "{handler: first, durability: async}"


def test_async_beside_a_route_is_without_effect() -> None:
    text = chain("on_failure: Undo,").replace("execute: first,", f"execute: {ASYNC},")
    (problem,) = found(text, "FAI004")
    assert problem.fix is not None and problem.fix.is_safe
    assert "{handler: first, durability: sync}" in fixed(text, "FAI004")


def test_async_without_a_route_and_sync_with_one() -> None:
    assert found(chain().replace("execute: first,", f"execute: {ASYNC},"), "FAI004") == []
    sync = ASYNC.replace("async", "sync")
    assert found(chain("on_failure: Undo,").replace("execute: first,", f"execute: {sync},"), "FAI004") == []


def retried(retry: str, timeout: str = "timeout: 1h\n") -> str:
    return timeout + chain().replace("execute: first,", f"execute: {{handler: first, retry: {{{retry}}}}},")


@pytest.mark.parametrize(
    "retry",
    [
        "total_duration: 2h",
        "initial_interval: 1h, maximum_interval: 1h, maximum_attempts: 3",
        "maximum_interval: 1000s, maximum_attempts: 14",
    ],
)
def test_retries_that_go_on_after_the_run_has_timed_out(retry: str) -> None:
    assert [p.code for p in found(retried(retry), "FAI007")] == ["FAI007"]


@pytest.mark.parametrize(
    ("retry", "timeout"),
    [
        ("total_duration: 2h", ""),
        ("total_duration: 30m", "timeout: 1h\n"),
        ("maximum_attempts: 3", "timeout: 1h\n"),
        ("initial_interval: 1s", "timeout: 1h\n"),
        (
            "initial_interval: 1h, maximum_interval: 1h, maximum_attempts: 9, total_duration: 10m",
            "timeout: 1h\n",
        ),
    ],
    ids=["no timeout", "shorter", "few attempts", "the default duration", "whichever ends first"],
)
def test_retries_that_end_in_time_or_by_default(retry: str, timeout: str) -> None:
    assert found(retried(retry, timeout), "FAI007") == []


def test_a_million_attempts_are_added_up_at_once() -> None:
    assert (
        len(
            found(retried("maximum_attempts: 1000000000, maximum_interval: 1s, total_duration: 2h"), "FAI007")
        )
        == 1
    )


CANCEL = """
flow: Cancel
handlers: h
start: Begin
steps:
  Begin: {{execute: begin, {begin}}}
  Left: {{wait_for: {{until: {{timer: 1h}}}}, {left}}}
  Right: {{wait_for: {{until: {{timer: 2h}}}}, {right}}}
"""


def cancelling(begin: str, left: str, right: str) -> str:
    return CANCEL.format(begin=begin, left=left, right=right)


BOTH = "go_to_many: [Left, Right]"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (cancelling(BOTH, "cancel: [Right], graceful_complete: ", "dead_end: true"), []),
        (cancelling(BOTH, "cancel: [Left], graceful_complete: ", "dead_end: true"), ["FAI010"]),
        (cancelling("go_to_many: [Left, Left]", "cancel: [Left], graceful_complete: ", "dead_end: true"), []),
        (cancelling("go_to: Left", "cancel: [Right], go_to: Right", "graceful_complete: "), ["FAI010"]),
        (cancelling("go_to: Left", "go_to: Right", "cancel: [Begin], graceful_complete: "), ["FAI011"]),
        (cancelling(BOTH, "cancel: [Right], go_to: Right", "graceful_complete: "), []),
        (
            cancelling("go_to: Left", "cancel_siblings: [Begin], go_to: Right", "graceful_complete: "),
            ["FAI011"],
        ),
    ],
    ids=["beside", "itself", "its equals", "its child", "before it", "restarted", "siblings"],
)
def test_cancels_without_effect(text: str, codes: list[str]) -> None:
    assert [problem.code for problem in found(text, "FAI01")] == codes


def test_an_rpc_may_cancel_what_it_starts() -> None:
    text = cancelling("go_to: Left", "go_to: Right", "graceful_complete: ")
    assert found(text + "rpcs: {again: {cancel: [Left, Right], go_to: Left}}\n", "FAI01") == []


def test_what_an_rpc_starts_may_be_active_at_any_time() -> None:
    text = cancelling("go_to: Left", "cancel: [Right], graceful_complete: ", "dead_end: true")
    assert found(text + "rpcs: {more: {go_to: Right}}\n", "FAI01") == []


def test_a_handler_that_may_cancel_what_cannot_be_active() -> None:
    text = cancelling("go_to: Left", "graceful_complete: ", "dead_end: true").replace(
        "execute: begin", "execute: {handler: begin, may: {cancel: [Begin]}}"
    )
    assert [problem.code for problem in found(text, "FAI01")] == ["FAI010"]


def test_the_cancel_is_taken_out() -> None:
    text = cancelling(BOTH, "cancel: [Left, Right], graceful_complete: ", "dead_end: true")
    assert "cancel: [Right]" in fixed(text, "FAI010")


OPEN = """
flow: Open
channels: {{go: {channel}}}
start: Wait
steps:
  Wait: {{wait_for: {wait}, graceful_complete: }}
rpcs: {{call: {{publish: {{go: null}}}}}}
{rest}
"""


def open_ended(channel: str = "none", wait: str = "{until: {channel: go}}", rest: str = "") -> str:
    return OPEN.format(channel=channel, wait=wait, rest=rest)


def test_a_run_that_waits_for_a_call_for_ever() -> None:
    assert [p.severity for p in found(open_ended(), "FAI013")] == ["info"]


@pytest.mark.parametrize(
    "text",
    [
        open_ended(rest="timeout: 1d"),
        open_ended(rest="verify: {open_ended: true}"),
        open_ended(wait="{any_of: [{channel: go}, {timer: 1d}]}"),
        open_ended(channel="{type: none, external: true}"),
    ],
    ids=["timeout", "meant so", "timer", "a matter of WAI002"],
)
def test_a_run_that_need_not_wait_for_ever(text: str) -> None:
    assert found(text, "FAI013") == []
