"""What leads to what, and which steps can be alone."""

from __future__ import annotations

from orchestrator.definition.parse import parse
from orchestrator.graph.paths import Paths, cycles, reach, round_trip


def paths(steps: str, head: str = "") -> Paths:
    flow, problems = parse(f"flow: F\n{head}start: A\nsteps:\n{steps}", "x.flow.yaml")
    assert flow is not None, problems
    return Paths(flow)


STEPS = """\
  A: {decide: [{when: step.attempt > 1, go_to: B}, {go_to_many: [C, D]}]}
  B: {execute: b, on_failure: E, go_to: {step: F, options: {on_failure: G}}}
  C: {dead_end: true}
  D: {force_fail: no}
  E: {graceful_complete: }
  F: {execute: f, dead_end: true}
  G: {dead_end: true}
"""


def test_movements_routes_and_routes_of_options_are_edges() -> None:
    found = paths(STEPS)
    assert found.edges["A"] == ("B", "C", "D")
    assert found.edges["B"] == ("F", "E")
    assert found.edges["F"] == ("G",)
    assert [(edge.step, edge.recovery) for edge in found.failure_edges] == [("B", "E"), ("F", "G")]


def test_a_step_is_alone_until_a_fan_out() -> None:
    assert paths(STEPS).sole == {"A", "B", "E", "F", "G"}


def test_where_a_run_can_close_and_close_at_once() -> None:
    assert paths(STEPS).can_close == {"A", "B", "D", "E"}
    assert paths(STEPS).can_force == {"A", "D"}


def test_a_fan_out_over_a_list_is_not_alone() -> None:
    steps = '  A: {go_to_many: [{step: B, for_each: "${range(1)}"}]}\n  B: {dead_end: true}\n'
    assert paths(steps).sole == {"A"}


def test_roots_are_the_start_step_and_what_rpcs_and_the_timeout_handler_start() -> None:
    head = "timeout: 1h\non_timeout: {go_to: G}\nrpcs: {r: {go_to: F}, none: {returns: 1}}\n"
    assert paths(STEPS, head).roots == ("A", "F", "G")
    assert paths(STEPS, head).rpc_starts == {"r": ("F",)}


EDGES = {"a": ["b", "c"], "b": ["a"], "c": ["d"], "d": ["e"], "e": ["c"], "f": ["f"], "g": ["a"]}


def test_cycles_are_told_apart_and_walked() -> None:
    found = cycles(EDGES)
    assert sorted(map(sorted, found)) == [["a", "b"], ["c", "d", "e"], ["f"]]
    assert round_trip(EDGES, frozenset("cde"), "d") == ["d", "e", "c", "d"]
    assert round_trip(EDGES, frozenset("f"), "f") == ["f", "f"]


def test_without_edges_there_is_no_cycle() -> None:
    assert cycles({"a": [], "b": []}) == []


def test_reach_takes_the_roots_along() -> None:
    assert reach(EDGES, ["d"]) == {"c", "d", "e"}
