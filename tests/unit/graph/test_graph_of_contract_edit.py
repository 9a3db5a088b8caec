"""The published structure of ContractEditFlow, and the stability of its JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from orchestrator.definition.catalogue import load
from orchestrator.graph.build import build
from orchestrator.graph.export import to_json

ROOT = Path(__file__).parents[3]
FLOW = ROOT / "flows" / "contract_edit.flow.yaml"
GOLDEN = ROOT / "tests" / "golden" / "contract_edit.graph.json"
OWN = ("step_to_wait", "step_to_decision")

PUBLISHED = {
    ("go_to", "decision:EditContract/2", "step:SaveContractEdit"),
    ("go_to", "decision:EnterContractEdit/1", "step:EditContract"),
    ("fan_out", "decision:StartContractEdits/1", "step:EnterContractEdit"),
    ("fan_out", "decision:StartContractEdits/1", "step:FinishContractEdits"),
    ("results", "channel:contractEditFinished", "step:FinishContractEdits"),
    ("wait_condition", "channel:contractEditFinished", "wait:FinishContractEdits"),
    ("wait_condition", "channel:contractEditToken", "wait:EnterContractEdit"),
    ("execute_failure", "step:EnterContractEdit", "step:ReleaseContractEditToken"),
    ("execute_failure", "step:EditContract", "step:ReleaseContractEditToken"),
    ("execute_failure", "step:SaveContractEdit", "step:ReleaseContractEditToken"),
    ("publish", "step:StartContractEdits", "channel:contractEditToken"),
    ("publish", "step:EditContract", "channel:contractEditToken"),
    ("publish", "step:EditContract", "channel:contractEditFinished"),
    ("publish", "step:SaveContractEdit", "channel:contractEditToken"),
    ("publish", "step:SaveContractEdit", "channel:contractEditFinished"),
    ("publish", "step:ReleaseContractEditToken", "channel:contractEditToken"),
    ("publish", "step:ReleaseContractEditToken", "channel:contractEditFinished"),
}


def test_edges_are_the_17_published_ones() -> None:
    edges = [edge for edge in json.loads(to_json(build(load(FLOW))))["edges"] if edge["kind"] not in OWN]
    assert {(edge["kind"], edge["source"], edge["target"]) for edge in edges} == PUBLISHED
    assert len(edges) == 17


def test_nodes_are_the_published_ones() -> None:
    nodes = json.loads(to_json(build(load(FLOW))))["nodes"]
    kinds = [node["kind"] for node in nodes]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "step": 6,
        "wait": 2,
        "channel": 2,
        "decision": 7,
    }


def test_later_decision_shows_what_remains_of_its_guard() -> None:
    graph = build(load(FLOW))
    assert graph.nodes["decision:EditContract/2"]["when"] == "!(started_edit.should_withdraw)"
    label = "!(started_edit.should_withdraw)"
    edges = graph["decision:EditContract/2"]["step:SaveContractEdit"].values()
    assert [edge["label"] for edge in edges] == [label]


def test_json_is_that_of_the_golden_file() -> None:
    text = to_json(build(load(FLOW)))
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_json_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from orchestrator.definition.catalogue import load; from orchestrator.graph.build import build;"
        "from orchestrator.graph.export import to_json;"
        f"import sys; sys.stdout.buffer.write(to_json(build(load({str(FLOW)!r}))).encode())"
    )
    for seed in ("1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT, env=environment
        )
        assert done.stdout == GOLDEN.read_bytes()
