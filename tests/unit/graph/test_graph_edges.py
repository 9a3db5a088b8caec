"""Each kind of relation becomes an edge."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.graph.build import build
from orchestrator.graph.export import to_json
from orchestrator.graph.kinds import EdgeKind, NodeKind
from orchestrator.graph.query import steps_in_reading_order
from tests.support.drawn_flows import REVIEW, read


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(to_json(build(read(REVIEW))))
    return parsed


def has_edge(document: dict[str, Any], kind: str, source: str, target: str, label: str = "") -> bool:
    wanted = {"kind": kind, "source": source, "target": target, **({"label": label} if label else {})}
    return wanted in document["edges"]


@pytest.mark.parametrize(
    ("kind", "source", "target", "label"),
    [
        ("opens", "decision:Submit/1", "join:reviews", ""),
        ("fan_out", "decision:Submit/1", "step:Review", "for each reviewer in input"),
        ("fan_out", "decision:Submit/1", "step:Decide", ""),
        ("step_to_decision", "decision:Submit/1", "decision:Submit/1/otherwise", "otherwise"),
        ("report", "step:Review", "join:reviews", ""),
        ("wait_condition", "join:reviews", "wait:Decide", "join reviews (active)"),
        ("results", "join:reviews", "step:Decide", ""),
        ("subflow", "wait:Decide", "subflow:EditorPool", "pool"),
        ("wait_condition", "channel:approval", "wait:Review", "approval.at_least 1, at_most 5"),
        ("wait_condition", "channel:seller", "wait:Review", "seller[input].for 1"),
        ("cancel", "decision:Excuse/1", "step:Review", ""),
        ("cancel_round", "decision:Decide/4", "join:reviews", ""),
        ("go_to", "decision:Excuse/2", "step:Review", "choice retry"),
        ("publish", "step:Submit", "channel:escalation", ""),
        ("write", "step:Submit", "attribute:status", ""),
        ("write", "step:Review", "attribute:progress", ""),
        ("lock", "step:Review", "attribute:status", ""),
        ("read", "attribute:amount", "step:Excuse", ""),
        ("read", "channel:escalation", "step:Decide", ""),
        ("read", "attribute:status", "rpc:describe", ""),
        ("read", "channel:approval", "rpc:approve", ""),
        ("rpc_start", "decision:rpc:approve/2", "step:Excuse", ""),
        ("publish", "rpc:approve", "channel:approval", ""),
        ("write", "timeout_handler:on_timeout", "attribute:status", ""),
    ],
)
def test_relation_is_an_edge(
    document: dict[str, Any], kind: str, source: str, target: str, label: str
) -> None:
    if kind == "rpc_start":
        label = "!(attributes.status == 'submitted') && channels.approval.size > 0"
    assert has_edge(document, kind, source, target, label)


def test_guard_remains_of_the_same_choice_only(document: dict[str, Any]) -> None:
    guards = {node["id"]: node.get("when") for node in document["nodes"] if node["kind"] == "decision"}
    assert guards["decision:Decide/1"] is None
    assert guards["decision:Decide/2"] == "size(wait.reviews.messages) > 1 || wait.deadline.fired"
    assert guards["decision:Decide/3"] == (
        "!(size(wait.reviews.messages) > 1 || wait.deadline.fired) "
        "&& (wait.deadline.fired || attributes.amount > 1.0)"
    )
    assert guards["decision:Decide/5"] == "!(wait.deadline.fired) && wait.pool.satisfied"


def test_every_edge_ends_at_nodes_of_known_kind(document: dict[str, Any]) -> None:
    ids = {node["id"] for node in document["nodes"]}
    assert {node["kind"] for node in document["nodes"]} == set(NodeKind)
    assert all(edge["source"] in ids and edge["target"] in ids for edge in document["edges"])
    assert {edge["kind"] for edge in document["edges"]} <= set(EdgeKind)


def test_nodes_and_edges_are_sorted(document: dict[str, Any]) -> None:
    ids = [node["id"] for node in document["nodes"]]
    assert ids == sorted(ids)
    keys = [
        (edge["source"], edge["target"], edge["kind"], edge.get("label", "")) for edge in document["edges"]
    ]
    assert keys == sorted(set(keys))


def test_wait_lists_its_timers_and_groups(document: dict[str, Any]) -> None:
    nodes = {node["id"]: node for node in document["nodes"]}
    assert nodes["wait:Review"]["timers"] == ["timer 14d"]
    assert nodes["wait:Review"]["groups"] == [["ok", "ready"], ["late"]]


def test_reading_order_follows_the_flow_and_leaves_nothing_out() -> None:
    assert steps_in_reading_order(read(REVIEW)) == ["Submit", "Review", "Excuse", "Decide"]
