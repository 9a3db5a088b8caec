"""GRA001, 002, 008 to 012: what is not reached, never ends, starts twice."""

from __future__ import annotations

import pytest

from tests.support.linted import fixed, found, places

ISLAND = """\
flow: F
start: A
steps:
  A: {go_to: B}
  B: {graceful_complete: done}
  C: {go_to: D}
  D: {go_to: C}
"""


def test_an_island_is_not_reached_though_its_steps_lead_to_each_other() -> None:
    assert places(ISLAND, "GRA001") == ["6:3", "7:3"]
    first = found(ISLAND, "GRA001")[0]
    assert [span.label for span in first.spans] == ["`D` is not reached either"]


def test_an_island_is_deleted_as_a_whole() -> None:
    assert fixed(ISLAND, "GRA001") == ISLAND[: ISLAND.index("  C:")]


@pytest.mark.parametrize(
    "entry",
    [
        "A: {execute: a, on_failure: X, graceful_complete: done}",
        "A: {go_to: {step: B, options: {on_failure: X}}}",
        "A: {execute: a, on_failure: {step: B, options: {on_failure: X}}, graceful_complete: done}",
        "A: {go_to_many: [{step: B, when: 1 > 2}], otherwise: {go_to: X}}",
        "A: {force_complete_if_channels_empty: {channels: [c], otherwise: {go_to: X}}}",
        "A: {decide: [{when: step.attempt > 3, go_to: X}, {go_to: B}]}",
    ],
)
def test_routes_options_and_otherwise_lead_to_steps(entry: str) -> None:
    rest = "  B: {graceful_complete: done}\n  X: {graceful_complete: done}\n"
    text = f"flow: F\nchannels: {{c: {{type: string, external: true}}}}\nstart: A\nsteps:\n  {entry}\n{rest}"
    assert [p.message for p in found(text, "GRA001") if "`X`" in p.message] == []


@pytest.mark.parametrize("root", ["rpcs: {go: {go_to: X}}", "timeout: 1h\non_timeout: {go_to: X}"])
def test_rpcs_and_the_timeout_handler_lead_to_steps(root: str) -> None:
    text = f"flow: F\nstart: A\n{root}\nsteps:\n  A: {{dead_end: true}}\n  X: {{graceful_complete: done}}\n"
    assert found(text, "GRA001") == []


def test_without_start_and_rpcs_nothing_is_reached() -> None:
    (problem,) = found("flow: F\nsteps:\n  A: {graceful_complete: done}\n", "GRA001")
    assert problem.message == "`A` cannot be reached by any RPC, and the flow has no `start`"
    assert problem.fix is None


def test_an_unreached_step_that_a_reached_one_cancels_is_not_deleted() -> None:
    text = "flow: F\nstart: A\nsteps:\n  A: {cancel: [B], graceful_complete: done}\n  B: {dead_end: true}\n"
    (problem,) = found(text, "GRA001")
    assert problem.fix is None


# --- GRA002, GRA009 -----------------------------------------------------------------------------------------


def test_a_flow_of_dead_ends_never_ends() -> None:
    assert places("flow: F\nstart: A\nsteps:\n  A: {go_to: B}\n  B: {dead_end: true}\n", "GRA002") == ["2:8"]


@pytest.mark.parametrize(
    "text",
    [
        "flow: F\nstart: A\ntimeout: 1h\nsteps: {A: {dead_end: true}}\n",
        "flow: F\nstart: A\nverify: {open_ended: true}\nsteps: {A: {dead_end: true}}\n",
        "flow: F\nrpcs: {go: {go_to: A}}\nsteps: {A: {dead_end: true}}\n",
        "flow: F\nstart: A\nsteps: {A: {force_fail: no}}\n",
        "flow: F\nstart: A\nrpcs: {end: {go_to: B}}\nsteps: {A: {dead_end: true}, B: {force_complete: }}\n",
        "flow: F\nattributes: {a: integer}\nrpcs: {put: {set: {a: 1}}}\n",
    ],
)
def test_a_flow_with_an_end_a_timeout_or_the_wish_to_stay_open_is_fine(text: str) -> None:
    assert found(text, "GRA002") == [] and found(text, "GRA009") == []


def test_an_end_that_is_not_reached_does_not_count() -> None:
    text = "flow: F\nstart: A\nsteps: {A: {dead_end: true}, B: {graceful_complete: done}}\n"
    assert places(text, "GRA002") == ["2:8"]


DEAD_END = """\
flow: F
input: integer
start: A
steps:
  A:
    decide:
      - {when: input == 0, dead_end: true}
      - {when: input == 1, go_to: B}
      - {when: input == 2, go_to_many: [B, C]}
      - {when: input == 3, go_to_many: [B, D]}
      - go_to: D
  B: {go_to: C}
  C: {dead_end: true}
  D: {graceful_complete: done}
"""


def test_a_way_on_which_nobody_completes_the_run_is_told_where_it_begins() -> None:
    assert places(DEAD_END, "GRA009") == ["7:28", "8:28", "9:28"]


def test_branches_may_dead_end_beside_one_that_completes() -> None:
    text = (
        "flow: F\nstart: A\n"
        "steps: {A: {go_to_many: [B, C]}, B: {dead_end: true}, C: {graceful_complete: done}}\n"
    )
    assert found(text, "GRA009") == []


def test_rpcs_that_start_steps_may_complete_the_run() -> None:
    assert found(DEAD_END + "rpcs: {end: {go_to: {step: D}}}\n", "GRA009") == []


# --- GRA008, GRA010, GRA011, GRA012 -------------------------------------------------------------------------


def test_the_same_movement_twice_is_found_and_the_second_one_deleted() -> None:
    text = (
        "flow: F\nstart: A\nsteps:\n  A:\n    go_to_many:\n      - B\n      - C\n      - B\n"
        "  B: {dead_end: true}\n  C: {graceful_complete: done}\n"
    )
    assert places(text, "GRA008") == ["8:9"]
    assert fixed(text, "GRA008") == text.replace("      - C\n      - B\n", "      - C\n")


@pytest.mark.parametrize(
    "movements",
    [
        "[{step: B, input: 1}, {step: B, input: 2}]",
        "[{step: B, when: input > 1}, {step: B, when: input > 2}]",
        '[{step: B, for_each: "${range(2)}"}]',
    ],
)
def test_movements_that_differ_are_no_repetition(movements: str) -> None:
    text = (
        f"flow: F\ninput: integer\nstart: A\nsteps:\n  A: {{go_to_many: {movements}}}\n"
        "  B: {input: integer, dead_end: true}\n"
    )
    assert found(text, "GRA008") == []


def fan_out(waiting: str, end: str) -> str:
    return f"""\
flow: F
channels: {{done: none}}
joins: {{all: none}}
start: A
steps:
  A: {{go_to_many: [B, C]}}
  B: {{publish: {{done: null}}, dead_end: true}}
  C: {{{waiting}{end}}}
"""


def test_a_branch_that_force_completes_without_waiting_cuts_the_others_off() -> None:
    assert places(fan_out("", "force_complete: done"), "GRA010") == ["6:7"]
    assert places(fan_out("wait_for: {until: {timer: 1h}}, ", "force_complete: done"), "GRA010") == ["6:7"]


def test_a_branch_that_waits_for_the_others_or_lets_them_end_does_not() -> None:
    assert found(fan_out("wait_for: {until: {channel: done}}, ", "force_complete: done"), "GRA010") == []
    assert found(fan_out("", "graceful_complete: done"), "GRA010") == []


def test_a_join_is_a_join() -> None:
    text = """\
        flow: F
        joins: {all: none}
        start: A
        steps:
          A: {go_to_many: [B, C], join: all}
          B: {report: {all: null}, dead_end: true}
          C: {wait_for: {until: {join: all}}, force_complete: done}
        """
    assert found(text, "GRA010") == []


def test_twenty_five_steps_are_not_too_many_and_one_more_is() -> None:
    def flow(count: int) -> str:
        steps = [f"  S{number}: {{go_to: S{number + 1}}}" for number in range(count - 1)]
        return "\n".join(
            ["flow: F", "start: S0", "steps:", *steps, f"  S{count - 1}: {{graceful_complete: done}}", ""]
        )

    assert found(flow(25), "GRA011") == []
    assert [problem.severity for problem in found(flow(26), "GRA011")] == ["info"]


def reentered(entry: str, other: str = "publish: {token: t}, ") -> str:
    return f"""\
flow: F
channels: {{token: string}}
start: A
steps:
  A: {{publish: {{token: t}}, go_to: B}}
  B: {{wait_for: {{until: {{channel: token}}}}, execute: b, {other}{entry}}}
"""


def test_going_back_to_a_start_step_that_seeds_a_channel_is_told() -> None:
    assert places(reentered("decide: [{when: result == 1, go_to: A}, {graceful_complete: }]"), "GRA012") == [
        "6:113"
    ]


def test_a_failure_route_to_it_counts() -> None:
    (problem,) = found(reentered("on_failure: A, graceful_complete: "), "GRA012")
    assert problem.message == "`B`, where it fails, goes to the start step, which publishes `token` anew"


def test_a_work_item_that_only_the_start_step_makes_is_no_seed() -> None:
    text = reentered("decide: [{when: result == 1, go_to: A}, {graceful_complete: }]", other="")
    assert found(text, "GRA012") == []


def test_a_stream_that_the_start_step_and_others_feed_is_no_seed() -> None:
    text = """\
        flow: F
        channels: {record: string}
        start: Read
        steps:
          Read: {execute: read, publish: {record: r}, decide: [{when: result, go_to: Read}, {go_to: End}]}
          End: {publish: {record: last}, go_to: Write}
          Write: {wait_for: {until: {channel: record}}, execute: write, graceful_complete: }
        """
    assert found(text, "GRA012") == []
