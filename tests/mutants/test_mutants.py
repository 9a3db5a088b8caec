"""Every mistake that can be planted with one change: who notices it stands in tests/golden/mutants.

`UPDATE_GOLDEN=1` writes the tables anew; what is noticed no longer is to be explained then.

A *token or join mutant* changes how many tokens of a critical section or reports of a join there are: a
publish to such a channel or a report, dropped or doubled; a count of a wait on one, or the need of a join,
changed. Every one of these must be noticed as an error or a warning, by lint or by verify, unless EQUIVALENT
says why it is no mistake.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import pytest
import yaml

from tests.mutants.mutating import Mutant, document_of
from tests.mutants.noticing import Noticing

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "mutants"
PLACES = (ROOT / "flows", ROOT / "tests" / "mutants" / "flows")
FLOWS = {
    str(path.relative_to(place)): path for place in PLACES for path in sorted(place.rglob("*.flow.yaml"))
}
NOTHING = "nobody"

COUNTED = {
    "contract_edit.flow.yaml": {"contractEditToken", "contractEditFinished"},
    "shopping_cart.flow.yaml": {"added"},
    "patterns/parallel_with_await.flow.yaml": {"notified"},
    "joined_edits.flow.yaml": {"desk", "edits"},
    "quorum.flow.yaml": {"votes"},
}
"""By flow, the channels of section tokens and of reports, and joins."""
COUNTING = ("drop publish", "double publish", "change count", "drop report", "double report", "change need")
NO_MISS = "no branch can leave without a report: then `active` is `all`"
RULE = "three votes are certain to come, so two, three or one may decide"
ONE_DESK = "one desk fewer: less goes on at a time, and nothing else is different"
EQUIVALENT = {
    ("patterns/parallel_with_await.flow.yaml", "need active"): NO_MISS,
    ("joined_edits.flow.yaml", "need active"): NO_MISS,
    ("joined_edits.flow.yaml", "steps.Begin.publish: drop desk"): ONE_DESK,
    ("quorum.flow.yaml", "need all"): RULE,
    ("quorum.flow.yaml", "need active"): RULE,
    ("quorum.flow.yaml", "need first"): RULE,
}
"""Flow and part of the mutant's name -> why it is no mistake."""


@lru_cache(maxsize=2)
def noticing(name: str) -> Noticing:
    return Noticing(document_of(FLOWS[name]), FLOWS[name].relative_to(ROOT))


def table_of(name: str) -> dict[str, list[str] | str]:
    found = noticing(name)
    table: dict[str, list[str] | str] = {}
    for mutant in found.mutants:
        assert mutant.name not in table, mutant.name
        table[mutant.name] = found.notices(mutant) or NOTHING
    return table


def golden_of(name: str) -> Path:
    return GOLDEN / name.replace(".flow.yaml", ".yaml")


@pytest.mark.parametrize("name", FLOWS)
def test_mutants_are_noticed_as_the_table_says(name: str) -> None:
    table, golden = table_of(name), golden_of(name)
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.unlink(missing_ok=True)
        if table:
            golden.write_text(yaml.safe_dump(table, sort_keys=False, width=1000), encoding="utf-8")
    expected = yaml.safe_load(golden.read_text(encoding="utf-8")) if golden.exists() else {}
    assert table == expected, "look at what changed, then write it anew with UPDATE_GOLDEN=1"


@pytest.mark.parametrize("name", COUNTED)
def test_every_token_and_join_mutant_is_noticed(name: str) -> None:
    found = noticing(name)
    counting = [mutant for mutant in found.mutants if is_counting(name, mutant)]
    unnoticed = {mutant.name for mutant in counting if not found.notices(mutant)}
    harmless = {
        mutant.name for flow, part in EQUIVALENT if flow == name for mutant in counting if part in mutant.name
    }
    assert counting
    assert unnoticed == harmless


def is_counting(name: str, mutant: Mutant) -> bool:
    return mutant.kind in COUNTING and mutant.subject in COUNTED[name]


def test_no_table_is_left_of_a_flow_that_is_gone() -> None:
    tables = {str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*.yaml")}
    assert tables <= {str(golden_of(name).relative_to(GOLDEN)) for name in FLOWS}
