"""Which guards can hold together: decided by truth tables over what they compare."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings, strategies

from orchestrator.definition.model import Step
from orchestrator.definition.parse import parse
from orchestrator.graph.guards import GuardTable
from orchestrator.graph.subjects import Setting, Subjects

HEAD = """
flow: F
input:
  type: object
  required: [n, s, b, o, p, x]
  properties:
    n: {type: integer}
    s: {enum: [a, b, c]}
    b: {type: boolean}
    o: {enum: [a, null]}
    p: {type: integer, minimum: 1, maximum: 3}
    x: {type: number}
    t: {type: string}
attributes:
  fresh: {type: {enum: [a, b]}}
  first: {type: {enum: [a, b]}, initial: a}
  deleted: {type: {enum: [a, b]}, initial: a}
channels:
  c: {type: {enum: [yes, no]}, external: true}
  d: {type: string, external: true}
start: S
"""


def table(guards: list[str], wait: str = "", beside: str = "") -> GuardTable:
    lines = [f"      - {{when: {guard!r}, dead_end: true}}" for guard in guards]
    step = [
        *([f"    wait_for: {wait}"] if wait else []),
        *([f"    {beside}"] if beside else []),
        "    decide:",
        *lines,
    ]
    flow, problems = parse(HEAD + "\n".join(["steps:", "  S:", *step]), "x.flow.yaml")
    assert flow is not None, problems
    subject: Step = flow.steps["S"]
    return GuardTable([decision.when for decision in subject.decisions], Subjects(Setting(flow), subject))


def is_exhaustive(guards: list[str], wait: str = "", beside: str = "") -> bool:
    found = table(guards, wait, beside)
    return not found.can([], list(range(len(guards))))


EXHAUSTIVE = [
    ["input.b", "!input.b"],
    ["input.b", "!(input.b)"],
    ["input.b == true", "input.b == false"],
    ["input.t == 'x'", "input.t != 'x'"],
    ["input.t == 'x'", "'x' != input.t"],
    ["input.n > 3", "input.n <= 3"],
    ["input.n > 3", "3 >= input.n"],
    ["input.n > 3", "input.n < 4"],
    ["input.n < 0", "input.n == 0", "input.n > 0"],
    ["input.x < 1.5", "input.x >= 1.5"],
    ["input.p == 1", "input.p in [2, 3]"],
    ["input.s == 'a'", "input.s == 'b'", "input.s == 'c'"],
    ["input.s in ['a', 'b']", "input.s == 'c'"],
    ["input.o == 'a'", "input.o == null"],
    ["input.b && input.n > 3", "!input.b", "input.n <= 3"],
    ["input.b ? input.n > 3 : input.n > 5", "input.n <= 5"],
    ["size(input.t) == 0", "size(input.t) >= 1"],
    ["size(input.t) > 0", "input.t.size() < 1"],
    ["channels.c.size == 0", "channels.c.size > 0"],
    ["has(input.t)", "!has(input.t)"],
    ["input.n < input.p", "input.n >= input.p"],
    ["input.n > input.p", "!(input.p < input.n)"],
    ["[1, 2].exists(each, each == input.n)", "![1, 2].exists(each, each == input.n)"],
    ["attributes.first == 'a'", "attributes.first == 'b'"],
    ["true"],
]
OPEN = [
    ["input.b", "input.n > 3"],
    ["input.n > 3", "input.n < 3"],
    ["input.x < 1.5", "input.x > 1.5"],
    ["input.x > 3.5", "input.x < 4.0 && input.x != 3.5"],
    ["input.n == 1", "input.n == 2"],
    ["input.s == 'a'", "input.s == 'b'"],
    ["input.o == 'a'"],
    ["input.t == 'x'", "input.t == 'y'"],
    ["attributes.fresh == 'a'", "attributes.fresh == 'b'"],
    ["has(input.t)", "!has(input.s)"],
    ["size(input.t) > 0"],
    ["[1, 2].exists(each, each == input.n)", "![1, 3].exists(each, each == input.n)"],
]


@pytest.mark.parametrize("guards", EXHAUSTIVE, ids=" | ".join)
def test_one_of_them_always_holds(guards: list[str]) -> None:
    assert is_exhaustive(guards)


@pytest.mark.parametrize("guards", OPEN, ids=" | ".join)
def test_there_may_be_none_that_holds(guards: list[str]) -> None:
    assert not is_exhaustive(guards)


def test_a_let_name_is_what_it_stands_for() -> None:
    assert is_exhaustive(["is_big", "input.n <= 3"], beside='let: {is_big: "${input.n > 3}"}')


def test_an_attribute_that_something_deletes_may_be_null() -> None:
    guards = ["attributes.deleted == 'a'", "attributes.deleted == 'b'"]
    assert is_exhaustive(guards)
    assert not is_exhaustive(guards, beside="set: {deleted: null}")


ANY = "{any_of: [{channel: c}, {channel: d}, {timer: 1h}]}"


@pytest.mark.parametrize(
    ("wait", "guards"),
    [
        (ANY, ["wait.c.satisfied", "wait.d.satisfied", "wait.timer.satisfied"]),
        (
            ANY,
            ["wait.timer.satisfied", "wait.c.message == 'yes'", "wait.c.message == 'no'", "wait.d.satisfied"],
        ),
        ("{until: {channel: c}}", ["wait.c.satisfied"]),
        ("{until: {channel: c}}", ["wait.c.message == 'yes'", "wait.c.message == 'no'"]),
        ("{all_of: [{channel: c}, {timer: 1h}]}", ["wait.c.satisfied && wait.timer.fired"]),
        (
            "{any_combination_of: [[c, d], [t]], "
            "conditions: {c: {channel: c}, d: {channel: d}, t: {timer: 1h}}}",
            ["wait.d.satisfied", "wait.t.satisfied"],
        ),
        (
            "{any_of: [{channel: c}, {timer: 1h, when: input.b}]}",
            ["wait.c.satisfied", "wait.timer.satisfied"],
        ),
        ("{on_failure: proceed, until: {channel: c}}", ["wait_for_failed", "wait.c.satisfied"]),
        ("{until: {channel: c}}", ["!wait_for_failed"]),
    ],
    ids=str,
)
def test_some_condition_ended_the_wait(wait: str, guards: list[str]) -> None:
    assert is_exhaustive(guards, wait)


@pytest.mark.parametrize(
    ("wait", "guards"),
    [
        (ANY, ["wait.c.satisfied", "wait.d.satisfied"]),
        (ANY, ["wait.c.satisfied", "wait.d.satisfied", "wait.c.message == 'yes'"]),
        ("{on_failure: proceed, until: {channel: c}}", ["wait.c.satisfied"]),
        ("{any_of: [{channel: c, when: input.b}]}", ["wait.c.satisfied"]),
        ("{until: {channel: c, at_most: 1}}", ["wait.c.message == 'yes'", "wait.c.message == 'no'"]),
        ("{handler: plan, conditions: {c: {channel: c}}}", ["wait.c.satisfied"]),
        ("{any_of: [{channel: c}, {timer: 1h}]}", ["wait.timer.fired", "wait.c.message == 'yes'"]),
    ],
    ids=str,
)
def test_no_condition_of_these_may_have_ended_the_wait(wait: str, guards: list[str]) -> None:
    assert not is_exhaustive(guards, wait)


@pytest.mark.parametrize(
    "way",
    [
        "go_to: {step: T, options: {wait_for: {on_failure: proceed}}}",
        "go_to_many: [S], otherwise: {go_to: {step: T, options: {wait_for: {on_failure: proceed}}}}",
        "execute: s, on_failure: {step: T, options: {wait_for: {on_failure: proceed}}}, dead_end: true",
        "go_to: {step: S, options: {on_failure: {step: T, options: {wait_for: {on_failure: proceed}}}}}",
    ],
)
def test_a_way_that_lets_a_failed_wait_pass_counts(way: str) -> None:
    wait = "{wait_for: {until: {channel: d}}, decide: [{when: wait.d.satisfied, dead_end: true}]}"
    flow, problems = parse(f"{HEAD}steps:\n  S: {{{way}}}\n  T: {wait}\n", "x.flow.yaml")
    assert flow is not None, problems
    step = flow.steps["T"]
    assert GuardTable([step.decisions[0].when], Subjects(Setting(flow), step)).can([], [0])


def test_the_case_names_what_matters_and_nothing_else() -> None:
    found = table(
        ["input.b && input.s == 'a'", "input.s == 'b'", "!input.b && input.s == 'a'", "input.n > 3"]
    )
    assert found.case([], [0, 1, 2, 3]) == "`input.s` is 'c' and `input.n` is less than 3" or (
        found.case([], [0, 1, 2, 3]) == "`input.n` is less than 3 and `input.s` is 'c'"
    )


@pytest.mark.parametrize(
    ("guard", "value"),
    [("true", True), ("false", False), ("1 == 2", False), ("input.p == 4", False), ("input.p > 0", True)],
)
def test_a_guard_that_reads_nothing_or_nothing_that_matters_is_constant(guard: str, value: bool) -> None:
    assert table([guard]).constant(0) is value


def test_a_guard_that_depends_is_not_constant() -> None:
    assert table(["input.s == 'a'"]).constant(0) is None


def test_too_large_a_table_says_nothing() -> None:
    flags = " && ".join(f"input.t.contains('{number}')" for number in range(13))
    found = table([flags, f"!({flags})"])
    assert not found.is_known
    assert found.can([], [0, 1]) and found.case([], [0, 1]) is None and found.constant(0) is None


ATOMS = ["n > 2", "n < 4", "n == 3", "b", "s == 'a'", "s in ['b', 'c']"]
_GUARDS = strategies.recursive(
    strategies.sampled_from(ATOMS).map(lambda atom: "input." + atom),
    lambda inner: strategies.one_of(
        inner.map(lambda one: f"!({one})"),
        strategies.tuples(inner, strategies.sampled_from(["&&", "||"]), inner).map(
            lambda three: f"({three[0]} {three[1]} {three[2]})"
        ),
    ),
    max_leaves=5,
)


@settings(max_examples=80, deadline=None)
@given(strategies.lists(_GUARDS, min_size=2, max_size=4))
def test_the_table_says_what_trying_all_values_says(guards: list[str]) -> None:
    """Values from every region of every subject, evaluated as the engine evaluates them."""
    text = (
        HEAD
        + "steps:\n  S:\n    decide:\n"
        + "".join(f'      - {{when: "{g}", dead_end: true}}\n' for g in guards)
    )
    flow, problems = parse(text, "x.flow.yaml")
    assert flow is not None, problems
    step = flow.steps["S"]
    whens = [decision.when for decision in step.decisions]
    built = GuardTable(whens, Subjects(Setting(flow), step))
    seen = set()
    for n, b, s in product((1, 2, 3, 4, 5), (True, False), ("a", "b", "c")):
        scope = {"input": {"n": n, "b": b, "s": s, "o": "a", "p": 1, "x": 1.0}}
        seen.add(tuple(when is not None and when.evaluate(scope) for when in whens))
    every = range(len(guards))
    for holds in every:
        for fails in every:
            expected = any(row[holds] and not row[fails] for row in seen)
            assert built.can([holds], [fails]) is expected, (guards[holds], guards[fails])
    assert built.can([], list(every)) is any(not any(row) for row in seen)
