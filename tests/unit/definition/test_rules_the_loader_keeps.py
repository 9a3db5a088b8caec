"""Rules of execution that a definition cannot break, since the loader refuses it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from orchestrator.definition.model import Durability
from tests.support.marked import assert_problems, problems_of
from tests.support.play import flow_of

ENDS = ["graceful_complete: x", "force_complete: x", "force_fail: x", "dead_end: true"]
SKELETON = """
flow: F
attributes: {{status: string}}
channels: {{c: string}}
start: A
steps:
  A:
    {body}
  B: {{dead_end: true}}
"""


def refusals(body: str) -> list[str]:
    """Codes of what is wrong with a step of this body."""
    text = SKELETON.format(body="\n    ".join(body.splitlines()))
    return [problem.code for problem in problems_of(text)]


@pytest.mark.rule(5)
def test_two_steps_of_one_name_are_refused() -> None:
    assert_problems("flow: F\nsteps:\n  A: {dead_end: true}\n  ⟦A⟧: {dead_end: true}\n", "YML002")


@pytest.mark.rule(8)
@pytest.mark.rule(9)
@pytest.mark.parametrize("name", ["a/b", "a$b", "a:b", "", "a b"])
def test_names_that_are_no_identifiers_are_refused(name: str) -> None:
    for section, body in (
        ("steps", "{dead_end: true}"),
        ("attributes", "string"),
        ("channels", "string"),
        ("joins", "string"),
    ):
        problems = problems_of(f"flow: F\n{section}: {{'{name}': {body}}}\n")
        assert [problem.code for problem in problems] == ["NAM006"], section


@pytest.mark.rule(10)
@pytest.mark.parametrize(
    "body",
    [
        "set: {stats: x}\ndead_end: true",
        "publish: {d: x}\ndead_end: true",
        "wait_for: {until: {channel: d}}\ndead_end: true",
        "graceful_complete: ${attributes.stats}",
        "graceful_complete: ${channels.d.size}",
        "execute: {handler: a, may: {set: [stats]}}\ndead_end: true",
        "execute: {handler: a, loads: [{channel: d}]}\ndead_end: true",
        "execute: {handler: a, locks: [stats]}\ndead_end: true",
    ],
)
def test_names_that_are_not_declared_are_refused_wherever_they_stand(body: str) -> None:
    assert len(refusals(body)) == 1


@pytest.mark.rule(40)
def test_a_flow_has_no_retry() -> None:
    assert_problems("flow: F\n⟦retry⟧: {maximum_attempts: 2}\n", "SCH001")


@pytest.mark.rule(57)
@pytest.mark.parametrize(
    "body",
    [
        "go_to: C",
        "go_to_many: [B, C]",
        "execute: a\non_failure: C\ndead_end: true",
        "cancel: [C]\ndead_end: true",
        "force_complete_if_channels_empty: {channels: [c], otherwise: {go_to: C}}",
        "go_to: {step: B, options: {on_failure: C}}",
    ],
)
def test_a_movement_to_a_step_that_is_not_declared_is_refused(body: str) -> None:
    assert refusals(body) == ["REF001"]


@pytest.mark.rule(58)
@pytest.mark.parametrize("condition", ["{signal: c}", "{attribute: status}", "{}", "{channel: c, timer: 1s}"])
def test_a_condition_is_a_timer_a_channel_a_subflow_or_a_join(condition: str) -> None:
    assert refusals(f"wait_for: {{until: {condition}}}\ndead_end: true") != []


@pytest.mark.rule(58)
def test_every_kind_of_condition_is_read() -> None:
    flow = flow_of(
        """
        flow: F
        channels: {c: string}
        joins: {j: string}
        start: A
        steps:
          A: {go_to_many: [B, W], join: j}
          B: {report: {j: x}, dead_end: true}
          W:
            wait_for: {any_of: [{channel: c}, {timer: 1s}, {subflow: Child}, {join: j}]}
            dead_end: true
        """
    )
    wait_for = flow.steps["W"].wait_for
    assert wait_for is not None
    assert [condition.id for condition in wait_for.conditions] == ["c", "timer", "Child", "j"]


@pytest.mark.rule(61)
def test_ids_of_conditions_are_unique_and_needed_only_to_combine() -> None:
    assert refusals("wait_for: {all_of: [{channel: c}, {timer: 1s}]}\ndead_end: true") == []
    assert refusals("wait_for: {any_of: [{channel: c, id: x}, {timer: 1s, id: x}]}\ndead_end: true") == [
        "NAM005"
    ]
    assert refusals("wait_for: {any_combination_of: [[c]]}\ndead_end: true") != []
    combined = "wait_for: {any_combination_of: [[x]], conditions: {x: {channel: c}}}\ndead_end: true"
    assert refusals(combined) == []


@pytest.mark.rule(62)
@pytest.mark.parametrize("groups", ["[]", "[[]]", "[[x, x]]", "[[y]]"])
def test_groups_are_not_empty_and_name_declared_conditions_once(groups: str) -> None:
    body = f"wait_for: {{any_combination_of: {groups}, conditions: {{x: {{channel: c}}}}}}\ndead_end: true"
    assert refusals(body) != []


@pytest.mark.rule(74)
@pytest.mark.parametrize("bounds", ["for: -1", "at_least: -1", "at_least: 3, at_most: 2"])
def test_bounds_that_are_wrong_as_written_are_refused(bounds: str) -> None:
    assert len(refusals(f"wait_for: {{until: {{channel: c, {bounds}}}}}\ndead_end: true")) == 1


@pytest.mark.rule(100)
def test_an_index_has_one_of_seven_types_and_a_map_needs_its_key() -> None:
    for type in ("keyword", "keyword_array", "text", "int", "double", "bool", "datetime"):
        flow = flow_of(f"flow: F\nattributes: {{a: {{type: any, index: {type}}}}}\n")
        assert flow.attributes["a"].index == type
    assert_problems("flow: F\nattributes: {a: {type: string, index: ⟦number⟧}}\n", "SCH009")
    assert_problems("flow: F\nattributes: {a: {type: string, map: true, index: ⟦keyword⟧}}\n", "SCH002")
    keyed = flow_of("flow: F\nattributes: {a: {type: string, map: true, index: {type: keyword, key: K}}}\n")
    assert keyed.attributes["a"].index_key == "K"


@pytest.mark.rule(120)
def test_a_dead_end_has_no_output() -> None:
    assert refusals("dead_end: done") == ["SCH003"]


@pytest.mark.rule(129)
@pytest.mark.parametrize(
    "given",
    ["{channels: [], otherwise: {go_to: B}}", "{channels: [c]}", "{channels: [c, c], otherwise: {go_to: B}}"],
)
def test_completing_if_empty_needs_channels_and_what_to_do_otherwise(given: str) -> None:
    assert len(refusals(f"force_complete_if_channels_empty: {given.replace('NEXT', '{go_to: B}')}")) == 1


@pytest.mark.rule(130)
@pytest.mark.parametrize("completion", ["graceful_complete: x", "force_complete: x", "force_fail: x"])
def test_a_completion_beside_a_movement_is_refused(completion: str) -> None:
    assert refusals(f"go_to: B\n{completion}") == ["DEC002"]


@pytest.mark.rule(136)
@pytest.mark.parametrize(
    "outcome",
    [
        "go_to: B",
        "go_to_many: [B]",
        "dead_end: true",
        "graceful_complete: x",
        "force_complete: x",
        "force_fail: x",
    ],
)
def test_any_decision_may_cancel_steps_that_are_declared(outcome: str) -> None:
    assert refusals(f"cancel: [A]\ncancel_siblings: [B]\n{outcome}") == []
    assert refusals(f"cancel_siblings: [C]\n{outcome}") == ["REF001"]


@pytest.mark.rule(144)
def test_both_methods_have_options_of_their_own() -> None:
    flow = flow_of(
        """
        flow: F
        attributes: {status: string}
        channels: {c: string}
        start: A
        steps:
          A:
            wait_for:
              handler: plan
              conditions: {c: {channel: c}}
              timeout: 5s
              retry: {maximum_attempts: 2}
              on_failure: proceed
              locks: [status]
            execute: {handler: act, timeout: 7s, retry: {maximum_attempts: 3}, durability: async}
            on_failure: A
            dead_end: true
        """
    )
    step = flow.steps["A"]
    assert step.wait_for is not None
    assert step.execute is not None
    first, second = step.wait_for.handler, step.execute
    assert first is not None
    assert (first.timeout, second.timeout) == (timedelta(seconds=5), timedelta(seconds=7))
    assert (first.retry.maximum_attempts, second.retry.maximum_attempts) == (2, 3)
    assert (len(first.locks), len(second.locks)) == (1, 0)
    assert (step.wait_for.proceeds_on_failure, step.on_failure is not None) == (True, True)
    assert (first.durability, second.durability) == (None, Durability.ASYNC)


@pytest.mark.rule(146)
def test_a_method_without_retry_policy_has_the_defaults() -> None:
    flow = flow_of("flow: F\nstart: A\nsteps: {A: {execute: a, dead_end: true}}\n")
    execute = flow.steps["A"].execute
    assert execute is not None
    policy = execute.retry
    assert (policy.initial_interval, policy.maximum_interval) == (
        timedelta(seconds=1),
        timedelta(seconds=100),
    )
    assert (policy.backoff_coefficient, policy.maximum_attempts) == (2, 0)
    assert (policy.total_duration, execute.timeout) == (timedelta(hours=4), timedelta(hours=2))


@pytest.mark.rule(160)
def test_the_durability_of_a_method_stands_beside_that_of_the_flow() -> None:
    flow = flow_of(
        """
        flow: F
        config: {durability: async}
        start: A
        steps:
          A: {execute: {handler: a, durability: sync}, go_to: B}
          B: {execute: b, dead_end: true}
        """
    )
    first, second = flow.steps["A"].execute, flow.steps["B"].execute
    assert first is not None
    assert second is not None
    assert (first.durability or flow.durability, second.durability or flow.durability) == (
        Durability.SYNC,
        Durability.ASYNC,
    )


@pytest.mark.rule(165)
@pytest.mark.parametrize(
    "outcome", ["graceful_complete: x", "force_complete: x", "force_fail: x", "dead_end: true"]
)
def test_an_rpc_cannot_close_the_run(outcome: str) -> None:
    assert [p.code for p in problems_of(f"flow: F\nrpcs: {{close: {{{outcome}}}}}\n")] == ["DEC004"]


@pytest.mark.rule(171)
def test_an_rpc_has_no_siblings() -> None:
    text = "flow: F\nsteps: {A: {dead_end: true}}\nrpcs: {r: {cancel_siblings: [A]}}\n"
    assert [p.code for p in problems_of(text)] == ["DEC004"]


@pytest.mark.rule(172)
def test_an_rpc_takes_at_most_a_minute_and_is_not_retried() -> None:
    flow = flow_of("flow: F\nrpcs: {r: {handler: r}}\n")
    handler = flow.rpcs["r"].handler
    assert handler is not None
    assert handler.timeout == timedelta(seconds=60)
    assert [p.code for p in problems_of("flow: F\nrpcs: {r: {handler: r, timeout: 61s}}\n")] == ["SCH004"]
    assert [p.code for p in problems_of("flow: F\nrpcs: {r: {handler: r, retry: {}}}\n")] == ["SCH001"]
