"""WAI001, 003 to 006, 008, 009: waits that never wait, alternatives that never win, results nobody reads."""

from __future__ import annotations

import pytest

from tests.support.linted import fixed, found, places


def waiting(wait: str, rest: str = "graceful_complete: ", head: str = "") -> str:
    return f"""\
flow: F
{head}channels: {{c: {{type: string, external: true}}, d: {{type: string, external: true}}}}
start: A
steps:
  A:
    wait_for: {wait}
    {rest}
"""


@pytest.mark.parametrize("wait", ["{}", "{on_failure: proceed}", "{all_of: []}"])
def test_a_wait_without_condition_and_effect_is_removed(wait: str) -> None:
    text = waiting(wait)
    assert places(text, "WAI001") == ["6:5"]
    assert fixed(text, "WAI001") == text.replace(f"    wait_for: {wait}\n", "")


def test_an_empty_all_of_beside_effects_goes_and_the_effects_stay() -> None:
    text = waiting("{all_of: [], publish: {c: now}}")
    assert places(text, "WAI001") == ["6:16"]
    assert fixed(text, "WAI001") == waiting("{publish: {c: now}}")


def test_a_loop_over_an_empty_all_of_never_waits() -> None:
    assert places(waiting("{all_of: []}", "go_to: A"), "GRA006") == ["7:12"]


@pytest.mark.parametrize("wait", ["{local: {a: 1}}", "{publish: {c: now}}", "{until: {channel: c}}"])
def test_a_wait_for_something_or_with_an_effect_is_not_empty(wait: str) -> None:
    assert found(waiting(wait), "WAI001") == []


@pytest.mark.parametrize(("timer", "count"), [("2h", 1), ("1h", 1), ("59m", 0), ('"${seconds(7200)}"', 0)])
def test_a_timer_as_long_as_the_timeout_of_the_run_never_fires(timer: str, count: int) -> None:
    text = waiting(f"{{any_of: [{{channel: c}}, {{timer: {timer}}}]}}", head="timeout: 1h\n")
    assert len(found(text, "WAI003")) == count


@pytest.mark.rule(181)
@pytest.mark.parametrize("head", ["", "timeout: 0\n", "timeout: {after: 0s}\n"])
def test_without_a_timeout_a_timer_may_be_long(head: str) -> None:
    assert found(waiting("{any_of: [{channel: c}, {timer: 1000d}]}", head=head), "WAI003") == []
    assert len(found(waiting("{until: {channel: c}}", head=head), "WAI002")) == 1


# --- WAI004 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wait", "column"),
    [
        ("{any_of: [{channel: c}, {channel: c, for: 2, id: two}]}", 39),
        ("{any_of: [{channel: c}, {channel: c, id: again}]}", 39),
        ("{any_of: [{channel: c, at_least: 2}, {channel: c, for: 3, id: three}]}", 52),
        ("{any_of: [{timer: 1h}, {timer: 2h, id: late}, {channel: c}]}", 38),
        (
            "{any_combination_of: [[a], [a, b]], conditions: {a: {channel: c}, b: {channel: d}}}",
            42,
        ),
    ],
)
def test_an_alternative_that_another_one_always_forestalls_is_found(wait: str, column: int) -> None:
    assert places(waiting(wait), "WAI004") == [f"6:{column}"]


@pytest.mark.parametrize(
    "wait",
    [
        "{any_of: [{channel: c, for: 2}, {channel: c, id: one}]}",
        "{any_of: [{channel: c}, {channel: d}]}",
        "{any_of: [{timer: 2h}, {timer: 1h, id: soon}, {channel: c}]}",
        "{any_of: [{channel: c, when: 1 < step.attempt}, {channel: c, for: 2, id: two}]}",
        '{any_of: [{timer: "${seconds(1)}"}, {timer: 2h, id: late}, {channel: c}]}',
        "{all_of: [{timer: 1h}, {timer: 2h, id: late}]}",
        "{any_combination_of: [[a, b], [a]], conditions: {a: {channel: c}, b: {channel: d}}}",
    ],
)
def test_a_stronger_alternative_first_or_one_on_something_else_is_fine(wait: str) -> None:
    assert found(waiting(wait), "WAI004") == []


def test_channel_maps_have_a_queue_for_each_key() -> None:
    text = """\
        flow: F
        channels: {c: {type: string, external: true, map: true}}
        start: A
        steps:
          A:
            wait_for:
              any_of: [{channel: c, key: x}, {channel: c, key: y, id: y}, {channel: c, key: x, id: z}]
            graceful_complete:
        """
    assert [problem.message[:5] for problem in found(text, "WAI004")] == ["`z` o"]


def test_the_alternative_is_removed_where_nobody_reads_its_result() -> None:
    wait = "{any_of: [{timer: 1h}, {timer: 2h, id: late}, {channel: c}]}"
    assert fixed(waiting(wait), "WAI004") == waiting("{any_of: [{timer: 1h}, {channel: c}]}")
    last = "{any_of: [{channel: c}, {timer: 1h}, {timer: 2h, id: late}]}"
    assert fixed(waiting(last), "WAI004") == waiting("{any_of: [{channel: c}, {timer: 1h}]}")


@pytest.mark.parametrize(
    "rest", ["graceful_complete: ${wait.late.satisfied}", "execute: act\n    graceful_complete:"]
)
def test_it_stays_where_an_expression_or_a_handler_may_read_its_result(rest: str) -> None:
    (problem,) = found(
        waiting("{any_of: [{timer: 1h}, {timer: 2h, id: late}, {channel: c}]}", rest), "WAI004"
    )
    assert problem.fix is None


# --- WAI005, WAI006 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wait", "count"),
    [
        ("{any_of: [{channel: c}, {timer: 0s}]}", 1),
        ("{any_of: [{channel: c}, {timer: 0}]}", 1),
        ("{any_of: [{channel: c}, {timer: 0s, when: step.attempt > 1}]}", 0),
        ("{any_of: [{channel: c}, {timer: 1s}]}", 0),
        ("{all_of: [{channel: c}, {timer: 0s}]}", 0),
        ("{until: {timer: 0s}}", 0),
    ],
)
def test_a_timer_of_no_length_wins_over_every_alternative(wait: str, count: int) -> None:
    assert len(found(waiting(wait), "WAI005")) == count


def test_two_conditions_on_one_channel_are_merged() -> None:
    text = waiting("{all_of: [{channel: c, for: 2}, {channel: d}, {channel: c, id: again}]}")
    (problem,) = found(text, "WAI006")
    assert problem.message == "`A` waits for `c` twice in one combination: 2 + 1 = 3 messages"
    assert fixed(text, "WAI006") == waiting("{all_of: [{channel: c, for: 3}, {channel: d}]}")
    assert fixed(waiting("{all_of: [{channel: c}, {channel: c, id: again}]}"), "WAI006") == waiting(
        "{all_of: [{channel: c, for: 2}]}"
    )


def test_a_combination_with_one_channel_twice_is_told_and_left_alone() -> None:
    wait = "{any_combination_of: [[a, b], [a]], conditions: {a: {channel: c}, b: {channel: c}}}"
    (problem,) = found(waiting(wait), "WAI006")
    assert problem.fix is None


@pytest.mark.parametrize(
    "wait",
    [
        "{any_of: [{channel: c, for: 2}, {channel: c, id: one}]}",
        "{all_of: [{channel: c}, {channel: d}]}",
        "{any_combination_of: [[a], [b]], conditions: {a: {channel: c, for: 2}, b: {channel: c}}}",
        "{handler: plan, conditions: {a: {channel: c}, b: {channel: c}}}",
    ],
)
def test_alternatives_on_one_channel_are_no_sum(wait: str) -> None:
    assert found(waiting(wait), "WAI006") == []


# --- WAI008, WAI009 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rest", "count"),
    [
        ("graceful_complete:", 1),
        ("graceful_complete: ${wait.timer.satisfied}", 0),
        ("graceful_complete: ${wait.c.satisfied}", 0),
        ("execute: act\n    graceful_complete:", 0),
        ('let: {late: "${wait.timer.fired}"}\n    graceful_complete: ${late}', 0),
    ],
)
def test_a_timer_that_nobody_tests_is_told(rest: str, count: int) -> None:
    assert len(found(waiting("{any_of: [{channel: c}, {timer: 1h}]}", rest), "WAI008")) == count


def test_a_timer_alone_is_a_pause() -> None:
    assert found(waiting("{until: {timer: 1h}}"), "WAI008") == []
    assert (
        found(waiting("{any_of: [{timer: 1h}, {timer_at: 2030-01-01T00:00:00Z, id: new_year}]}"), "WAI008")
        == []
    )


@pytest.mark.parametrize(
    ("rest", "count"),
    [
        ("graceful_complete:", 1),
        ("graceful_complete: ${wait.c.satisfied}", 1),
        ("graceful_complete: ${wait.c.message}", 0),
        ("graceful_complete: ${wait.c.messages}", 0),
        ("graceful_complete: ${wait}", 0),
        ("execute: act\n    graceful_complete:", 0),
    ],
)
def test_a_message_that_is_taken_and_never_read_is_told(rest: str, count: int) -> None:
    assert len(found(waiting("{until: {channel: c}}", rest), "WAI009")) == count


@pytest.mark.parametrize(
    ("type_", "again"), [("none", ""), ("string", "publish: {c: token}, "), ("{enum: [go]}", "")]
)
def test_signals_and_tokens_that_are_given_back_have_no_content(type_: str, again: str) -> None:
    text = f"""\
        flow: F
        channels: {{c: {{type: {type_}, external: true}}}}
        start: A
        steps:
          A: {{wait_for: {{until: {{channel: c}}}}, {again}graceful_complete: }}
        """
    assert found(text, "WAI009") == []
