"""The reference table: ContractEditFlow broken in many ways, and what each is to be called."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from orchestrator.definition.model import Flow
from orchestrator.verify.report import Verdict
from orchestrator.verify.verifying import verify_flow
from tests.oracle.promela import model_of
from tests.oracle.spin import Spin, needs_spin
from tests.support.contract_edit_variants import SECTION, VARIANTS, text_of
from tests.support.play import flow_of


class Expected(NamedTuple):
    verdict: str
    """Name of the property that is violated, or "none"."""
    length: int | None = None
    """Events of a shortest counterexample."""
    section: tuple[str, ...] = SECTION
    """Steps of which one execution at most may be past its wait."""


TABLE = {
    "correct": Expected("none"),
    "no token publish on EditContract withdraw": Expected("deadlock", 4),
    "no token publish in SaveContractEdit": Expected("deadlock", 5),
    "no token publish in ReleaseContractEditToken": Expected("deadlock", 4),
    "no seed in StartContractEdits": Expected("deadlock", 1),
    "Enter's failure routed to a step that swallows the token": Expected("deadlock", 4),
    "no report in Release": Expected("deadlock", 10),
    "Save publishes token twice": Expected("mutual_exclusion", 7),
    "withdraw publishes twice": Expected("mutual_exclusion", 6),
    "Release publishes twice": Expected("mutual_exclusion", 6),
    "Start seeds two": Expected("mutual_exclusion", 3),
    # An execution of Save that has given its token away and one of Enter that took it come one event earlier;
    # two that edit, or edit and save, are what harms.
    "token released in Edit and Save": Expected("mutual_exclusion", 6, ("EditContract", "SaveContractEdit")),
    "no failure route on Save": Expected("none"),
    "a timer step cancels EditContract": Expected("deadlock", 5),
    "a timer step cancels EnterContractEdit": Expected("deadlock", 3),
    "join waits N+1": Expected("deadlock", 10),
    "join waits N-1": Expected("leftover", 13),
}
PROPERTIES = ("deadlock", "zombie", "mutual_exclusion")
NAMES = {"deadlock": "deadlock", "mutual_exclusion": "mutual_exclusion", "leftover": "orphan_message"}
"""What the verifier calls them."""


def variant(name: str) -> Flow:
    return flow_of(text_of(name))


def test_the_table_has_every_variant() -> None:
    assert set(TABLE) == set(VARIANTS)


@needs_spin
@pytest.mark.parametrize("name", TABLE)
def test_spin_finds_what_the_table_says(name: str, tmp_path: Path) -> None:
    expected = TABLE[name]
    model = model_of(variant(name), fan_out=3, protected=expected.section)
    spin = Spin(model, tmp_path)
    found = {each: length for each in PROPERTIES if (length := spin.shortest(each)) is not None}
    if expected.verdict in ("none", "leftover"):
        assert found == {}
    else:
        assert found == {expected.verdict: expected.length}


@needs_spin
@pytest.mark.parametrize("name", TABLE)
def test_reports_are_left_only_where_the_join_is_content_with_fewer(name: str, tmp_path: Path) -> None:
    space = Spin(model_of(variant(name), fan_out=3), tmp_path).space()
    completed = [state for state in space.states if space.value(state, "status") == 1]
    left = {space.value(state, "channel_contractEditFinished") for state in completed}
    assert left <= ({1} if name == "join waits N-1" else {0})


@pytest.mark.parametrize("name", TABLE)
def test_the_verifier_finds_what_the_table_says(name: str) -> None:
    expected = TABLE[name]
    report = verify_flow(variant(name), fan_out=(3,))
    found = {
        each.name: each.counterexample.length
        for each in report.properties
        if each.verdict is Verdict.VIOLATED and each.counterexample is not None
    }
    if expected.verdict == "none":
        assert found == {}
    else:
        assert found[NAMES[expected.verdict]] == expected.length


@pytest.mark.parametrize("name", TABLE)
def test_two_editors_show_a_fault_wherever_three_do(name: str) -> None:
    verdicts = [verify_flow(variant(name), fan_out=(count,)).verdict for count in (2, 3)]
    assert verdicts[0] == verdicts[1]


def test_the_correct_flow_has_as_many_states_as_the_table_says() -> None:
    assert [verify_flow(variant("correct"), fan_out=(count,)).states for count in (3, 10)] == [21, 56]
