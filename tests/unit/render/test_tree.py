"""The flow as a tree."""

from __future__ import annotations

from orchestrator.render.tree import tree
from tests.support.drawn_flows import REVIEW, read


def test_tree_tells_waits_calls_decisions_and_effects() -> None:
    lines = tree(read(REVIEW)).splitlines()
    assert lines[0] == "ReviewFlow: Several reviewers read a paper; the editor decides."
    stripped = [line.lstrip("│├└─ ") for line in lines]
    assert "channel seller: boolean, one per key, clients publish" in stripped
    assert "step Submit (start): Register the paper." in stripped
    assert "→ Review × each reviewer in input" in stripped
    assert "deadline: timer 30d" in stripped
    assert "late: timer 14d" in stripped
    assert "calls review, 3 attempts 1s apart" in stripped
    assert "chose retry: → Review" in stripped
    assert "otherwise: complete now if escalation is empty" in stripped
    assert "otherwise: reject: nothing to approve" in stripped
    assert lines[-1].startswith("   ")
