"""What is looked at once for each step, not once for each pair of steps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.core.tasks import movements
from orchestrator.definition.model import Decision, Movement
from orchestrator.verify.relevance import Relevance
from tests.support.play import flow_of

_STEPS = 300


def test_what_steers_a_long_chain_is_found_in_a_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0

    def count_movements(decision: Decision) -> Iterator[Movement]:
        nonlocal count
        count += 1
        return movements(decision)

    monkeypatch.setattr("orchestrator.verify.relevance.movements", count_movements)
    chain = "".join(f"  S{n}: {{input: any, go_to: S{n + 1}}}\n" for n in range(_STEPS))
    decisions = "[{when: input.a, dead_end: true}, {graceful_complete: 1}]"
    end = f"  S{_STEPS}: {{input: any, decide: {decisions}}}\n"
    relevance = Relevance(flow_of(f"flow: F\ninput: any\nstart: S0\nsteps:\n{chain}{end}"))
    assert relevance.inputs["S0"] == {("a",)}
    assert count <= 10 * _STEPS
