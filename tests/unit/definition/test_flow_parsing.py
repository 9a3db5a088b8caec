"""What a correct definition becomes."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    DeadEnd,
    Decision,
    Delivery,
    Durability,
    Flow,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    GoTo,
    GoToMany,
    GracefulComplete,
    Handler,
    JoinCondition,
    MayRange,
    Publish,
    Report,
    RetryPolicy,
    SetAttribute,
    Step,
    SubflowCondition,
    TimeoutPolicy,
    TimerCondition,
    WaitFor,
)
from orchestrator.definition.parse import parse
from orchestrator.definition.values import Value


def read(text: str) -> Flow:
    flow, problems = parse(textwrap.dedent(text), "x.flow.yaml")
    assert flow is not None, [problem.concise() for problem in problems]
    return flow


def step_of(body: str, head: str = "") -> Step:
    text = "flow: F\n" + textwrap.dedent(head) + "steps:\n  A:\n"
    return read(text + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n").steps["A"]


def wait_of(body: str, head: str = "") -> WaitFor:
    wait = step_of(f"wait_for: {body}\ndead_end: true", head).wait_for
    assert wait is not None
    return wait


def literal(value: Value | None) -> object:
    assert value is not None and value.is_literal
    return value.evaluate({})


# --- Top level -------------------------------------------------------------------------------------------


def test_declarations() -> None:
    flow = read(
        """
        flow: F
        description: What it is for.
        handlers: [a.b, c]
        types: {T: {type: object, properties: {x: {type: integer, default: 3}}}}
        attributes:
          plain: string or none
          map: {type: integer, map: true, initial: {a: 1}, index: {type: int, key: K}, description: why}
          filled: {type: T, initial: {}, sync: true}
        channels:
          c: T
          d: {type: string, external: true, map: true, delivery: latest, capacity: 2, leftover: true}
        joins: {j: integer, k: {type: T, description: d}}
        config: {durability: async}
        version: 7
        verify: {depth: 2}
        """
    )
    assert (flow.name, flow.description, flow.handlers) == ("F", "What it is for.", ("a.b", "c"))
    assert flow.attributes["plain"].type.text == "string or none"
    map_ = flow.attributes["map"]
    assert (map_.is_map, map_.initial, map_.index, map_.index_key) == (True, {"a": 1}, "int", "K")
    assert flow.attributes["filled"].initial == {"x": 3}
    assert flow.attributes["filled"].sync
    d = flow.channels["d"]
    assert (d.is_external, d.is_map, d.delivery, d.capacity, d.leftover) == (
        True,
        True,
        Delivery.LATEST,
        2,
        True,
    )
    assert flow.channels["c"].delivery is Delivery.QUEUED
    assert list(flow.joins) == ["j", "k"]
    assert flow.durability is Durability.ASYNC
    assert (flow.version, flow.verify) == ("7", {"depth": 2})


def test_the_start_step_takes_the_input_of_the_flow_unless_it_declares_its_own() -> None:
    flow = read("flow: F\ninput: integer\nstart: A\nsteps: {A: {dead_end: true}, B: {dead_end: true}}\n")
    assert flow.steps["A"].input is not None and flow.steps["A"].input.text == "integer"
    assert flow.steps["B"].input is None
    flow = read("flow: F\ninput: number\nstart: A\nsteps: {A: {input: integer, dead_end: true}}\n")
    assert flow.steps["A"].input is not None and flow.steps["A"].input.text == "integer"


@pytest.mark.parametrize(
    ("lines", "policy"),
    [
        ("timeout: 90s", TimeoutPolicy.FAIL),
        ("timeout: {after: 1m30s}", TimeoutPolicy.FAIL),
        ("timeout: {after: PT90S, policy: cancel}", TimeoutPolicy.CANCEL),
        ("timeout: 90\non_timeout: {dead_end: true}", TimeoutPolicy.HANDLER),
        ("timeout: {after: 90, policy: handler}\non_timeout: {dead_end: true}", TimeoutPolicy.HANDLER),
    ],
)
def test_the_policy_of_a_timeout_is_the_handler_where_there_is_one(lines: str, policy: TimeoutPolicy) -> None:
    timeout = read(f"flow: F\n{lines}\n").timeout
    assert timeout is not None
    assert (timeout.after, timeout.policy) == (timedelta(seconds=90), policy)


# --- Handlers --------------------------------------------------------------------------------------------


def test_handler_options() -> None:
    step = step_of(
        """
        execute:
          handler: m.n:f
          timeout: 5s
          heartbeat: 250ms
          durability: async
          transactional: true
          retry: {initial_interval: 2s, backoff_coefficient: 1, maximum_attempts: 3, non_retryable: [E]}
          may: {publish: {c: 1}, set: [n], cancel: {A: {min: 0, max: 2}}}
          locks: [n, {m: key}]
          loads: [m, {m: "${run.flow_id}"}, {channel: c}]
        dead_end: true
        """,
        "attributes: {n: integer, m: {type: integer, map: true}}\nchannels: {c: string}\n",
    )
    handler = step.execute
    assert handler is not None
    assert (handler.name, handler.timeout, handler.heartbeat) == (
        "m.n:f",
        timedelta(seconds=5),
        timedelta(milliseconds=250),
    )
    assert (handler.durability, handler.transactional) == (Durability.ASYNC, True)
    assert replace(handler.retry, path=()) == RetryPolicy(
        timedelta(seconds=2), 1.0, maximum_attempts=3, non_retryable=("E",)
    )
    assert handler.may is not None
    assert handler.may.publish == {"c": MayRange(1, 1)}
    assert handler.may.set == {"n": MayRange(0, None)}
    assert handler.may.cancel == {"A": MayRange(0, 2)}
    assert [(lock.attribute, lock.key is not None) for lock in handler.locks] == [("n", False), ("m", True)]
    assert [(load.attribute, load.channel) for load in handler.loads] == [
        ("m", None),
        ("m", None),
        (None, "c"),
    ]


def test_a_bare_handler_name_has_the_defaults() -> None:
    assert step_of("execute: f\ndead_end: true").execute == Handler("f")
    assert Handler("f").timeout == timedelta(hours=2)


def test_failure_route_with_options() -> None:
    step = step_of(
        """
        execute: f
        on_failure:
          step: A
          options: {execute: {timeout: 1s}, wait_for: {on_failure: proceed}, on_failure: A}
        dead_end: true
        """
    )
    route = step.on_failure
    assert route is not None and route.options is not None
    assert route.options.execute is not None and route.options.execute.timeout == timedelta(seconds=1)
    assert route.options.execute.retry is None
    assert route.options.wait_for is not None and route.options.wait_for.on_failure == "proceed"
    assert route.options.on_failure is not None and route.options.on_failure.step == "A"


# --- Waits -----------------------------------------------------------------------------------------------

CHANNELS = "channels: {a: string, m: {type: integer, map: true}}\njoins: {j: integer}\n"


def test_default_ids_come_from_what_is_waited_for_and_second_ones_are_numbered() -> None:
    wait = wait_of(
        "{any_of: [{channel: a}, {timer: 1s}, {channel: a}, {timer_at: 0}, {subflow: X}, {join: j},"
        " {timer: 2s, id: late}, {channel: a, id: a_2}]}",
        CHANNELS,
    )
    ids = [condition.id for condition in wait.conditions]
    assert ids == ["a", "timer", "a_3", "timer_2", "X", "j", "late", "a_2"]
    assert wait.combinator is Combinator.ANY_OF


def test_channel_conditions() -> None:
    wait = wait_of(
        "{all_of: [{channel: a}, {channel: a, for: 2}, {channel: a, at_least: 1, at_most: 3},"
        " {channel: m, key: k}]}",
        CHANNELS,
    )
    plain, exact, ranged, keyed = wait.conditions
    assert isinstance(plain, ChannelCondition) and plain.exactly is None
    assert isinstance(exact, ChannelCondition) and literal(exact.exactly) == 2
    assert isinstance(ranged, ChannelCondition)
    assert (literal(ranged.at_least), literal(ranged.at_most)) == (1, 3)
    assert isinstance(keyed, ChannelCondition) and literal(keyed.key) == "k"


def test_timers_subflows_and_joins() -> None:
    wait = wait_of(
        '{any_of: [{timer: 30m}, {timer_at: "2030-01-01T00:00:00Z"}, {subflow: X, input: 1, flow_id: x,'
        " reuse: attach, timeout: 1h, config: {durability: async}, if_abandoned: cancel},"
        " {join: j, need: 2}, {join: j}]}",
        CHANNELS,
    )
    after, at, subflow, join, whole = wait.conditions
    assert isinstance(after, TimerCondition) and literal(after.after) == "30m"
    assert isinstance(at, TimerCondition) and at.after is None and at.at is not None
    assert isinstance(subflow, SubflowCondition)
    assert (subflow.flow, subflow.reuse, subflow.if_abandoned) == ("X", "attach", "cancel")
    assert (literal(subflow.input), literal(subflow.flow_id)) == (1, "x")
    assert subflow.config == {"durability": "async"}
    assert isinstance(join, JoinCondition) and not isinstance(join.need, str) and literal(join.need) == 2
    assert isinstance(whole, JoinCondition) and whole.need == "all"


def test_combinations_and_repetition() -> None:
    wait = wait_of(
        "{any_combination_of: [[x, y], [z]], conditions: {z: {timer: 1s}, x: {channel: a, when: true},"
        ' y: {channel: m, key: "${k}", for_each: [1, 2], as: k}}}',
        CHANNELS,
    )
    assert wait.groups == (("x", "y"), ("z",))
    assert [condition.id for condition in wait.conditions] == ["z", "x", "y"]
    repeated = wait.conditions[2]
    assert repeated.as_name == "k" and literal(repeated.for_each) == [1, 2]
    assert wait.conditions[1].when is not None


def test_a_handler_may_build_the_wait() -> None:
    wait = wait_of("{handler: f, timeout: 3s, on_failure: proceed}")
    assert wait.combinator is Combinator.HANDLER and wait.conditions == ()
    assert wait.handler is not None and wait.handler.timeout == timedelta(seconds=3)
    assert wait.proceeds_on_failure


def test_effects_alone_make_a_wait_that_holds_at_once() -> None:
    wait = wait_of("{publish: {a: x}, local: {n: 1}}", CHANNELS)
    assert wait.combinator is Combinator.NONE
    assert [type(effect) for effect in wait.effects] == [Publish]
    assert [(name, literal(value)) for name, value in wait.locals] == [("n", 1)]


# --- Decisions -------------------------------------------------------------------------------------------

NAMES = (
    "attributes: {n: integer, m: {type: integer, map: true}}\nchannels: {a: string}\njoins: {j: integer}\n"
)


def decisions_of(body: str) -> tuple[Decision, ...]:
    return step_of(body, NAMES).decisions


def test_effects_beside_decide_come_before_each_decisions_own() -> None:
    first, second = decisions_of(
        """
        set: {n: 1}
        cancel: [A]
        decide:
          - {when: attributes.n == 1, set: {n: 2}, cancel: [A], dead_end: true}
          - {publish: {a: x}, dead_end: true}
        """
    )
    values = [literal(effect.value) for effect in first.effects if isinstance(effect, SetAttribute)]
    assert values == [1, 2]
    assert (first.cancel, second.cancel) == (("A",), ("A",))
    assert isinstance(second.effects[0], SetAttribute) and isinstance(second.effects[1], Publish)
    assert first.when is not None and second.when is None


def test_effects_keep_the_order_written() -> None:
    (decision,) = decisions_of("publish: {a: x}\nreport: {j: 1}\nset: {n: 1}\ndead_end: true")
    assert [type(effect) for effect in decision.effects] == [Publish, Report, SetAttribute]


def test_map_entries_and_deletion() -> None:
    (decision,) = decisions_of('set: {m: {a: 1, "${attributes.n}": null}, n: null}\ndead_end: true')
    found = [
        (e.attribute, e.key is not None, literal(e.value))
        for e in decision.effects
        if isinstance(e, SetAttribute)
    ]
    assert found == [("m", True, 1), ("m", True, None), ("n", False, None)]
    (decision,) = decisions_of("set: {m: null}\ndead_end: true")
    (effect,) = decision.effects
    assert isinstance(effect, SetAttribute) and effect.key is None and literal(effect.value) is None


def test_listed_effects_repeat() -> None:
    (decision,) = decisions_of(
        'publish: [{channel: a, value: "${string(k)}", for_each: [1, 2], as: k, when: k > 1}]\ndead_end: true'
    )
    (effect,) = decision.effects
    assert isinstance(effect, Publish)
    assert effect.as_name == "k" and effect.when is not None and literal(effect.for_each) == [1, 2]


def test_outcomes() -> None:
    outcomes = [
        decision.outcome
        for decision in decisions_of(
            """
            decide:
              - {go_to: A}
              - {go_to_many: [A, {step: A, branch: false}], join: j, otherwise: {dead_end: true}}
              - {graceful_complete: }
              - {graceful_complete: "${null}"}
              - {force_complete: {a: 1}}
              - {force_complete_if_channels_empty: {channels: [a], otherwise: {set: {n: 1}, go_to: A}}}
              - {dead_end: true}
            """
        )
    ]
    go_to, many, empty, null, complete, guarded, dead_end = outcomes
    assert isinstance(go_to, GoTo) and go_to.movement.step == "A" and go_to.movement.input is None
    assert isinstance(many, GoToMany) and many.join == "j"
    assert [movement.branch for movement in many.movements] == [True, False]
    assert many.otherwise is not None and isinstance(many.otherwise.outcome, DeadEnd)
    assert empty == GracefulComplete(None)
    assert isinstance(null, GracefulComplete) and null.output is not None
    assert isinstance(complete, ForceComplete) and literal(complete.output) == {"a": 1}
    assert isinstance(guarded, ForceCompleteIfChannelsEmpty) and guarded.output is None
    assert len(guarded.otherwise.effects) == 1
    assert isinstance(dead_end, DeadEnd)


def test_an_input_that_is_null_is_given() -> None:
    flow = read(
        "flow: F\nsteps: {A: {go_to: {step: B, input: null}}, B: {input: string or none, dead_end: true}}\n"
    )
    outcome = flow.steps["A"].decisions[0].outcome
    assert isinstance(outcome, GoTo) and literal(outcome.movement.input) is None


def test_lets_may_use_earlier_ones() -> None:
    step = step_of('let: {a: 1, b: "${a + 1}"}\ngraceful_complete: "${b}"')
    assert [name for name, _ in step.let] == ["a", "b"]
    outcome = step.decisions[0].outcome
    assert isinstance(outcome, GracefulComplete) and outcome.output is not None
    assert outcome.output.evaluate({}) == 2


# --- RPCs ------------------------------------------------------------------------------------------------


def test_rpcs_of_the_language_reference() -> None:
    flow = read(
        """
        flow: F
        attributes: {status: string}
        channels: {approval: string}
        rpcs:
          describe: {output: string or none, returns: "${attributes.status}"}
          approve:
            input: string
            output: boolean
            decide:
              - when: attributes.status == 'waiting'
                set: {status: approved}
                publish: {approval: "${input}"}
                returns: true
              - {reject: not waiting for an approval}
          work: {handler: f, timeout: 5s}
          slow: {handler: f}
        timeout: {after: 1h}
        on_timeout: {set: {status: timed out}, force_fail: processing deadline reached}
        """
    )
    describe, approve = flow.rpcs["describe"], flow.rpcs["approve"]
    assert not describe.is_listed and describe.decisions[0].returns is not None
    assert approve.is_listed and len(approve.decisions[0].effects) == 2
    assert approve.decisions[0].outcome is None
    assert literal(approve.decisions[1].reject) == "not waiting for an approval"
    work, slow = flow.rpcs["work"].handler, flow.rpcs["slow"].handler
    assert work is not None and work.timeout == timedelta(seconds=5)
    assert slow is not None and slow.timeout == timedelta(seconds=60)
    assert flow.on_timeout is not None and flow.on_timeout.name == "on_timeout"


def test_parts_keep_their_path() -> None:
    flow = read(
        "flow: F\nchannels: {a: string}\nsteps:\n  A:\n    decide:\n"
        "      - {publish: {a: x}, go_to: {step: A}}\n"
    )
    (decision,) = flow.steps["A"].decisions
    assert decision.path == ("steps", "A", "decide", 0)
    assert decision.effects[0].path == ("steps", "A", "decide", 0, "publish", "a")
    assert isinstance(decision.outcome, GoTo)
    assert decision.outcome.movement.path == ("steps", "A", "decide", 0, "go_to")
    assert flow.source is not None and flow.source.locate(decision.path).value.line == 6
