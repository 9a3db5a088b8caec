"""What counting proves of tokens the search never refutes; what the search finds wrong, counting does too."""

from __future__ import annotations

import pytest

from orchestrator.graph.holding import sections
from orchestrator.graph.section import Evidence, Section
from orchestrator.verify.report import Verdict
from orchestrator.verify.verifying import verify_flow
from tests.support.play import flow_of
from tests.support.random_sections import section_flow

SEEDS = 600
BLOCK = 100
WRONG = {"token_conservation", "mutual_exclusion"}


def violated(text: str) -> set[str]:
    report = verify_flow(flow_of(text), max_states=5_000)
    return {each.name for each in report.properties if each.verdict is Verdict.VIOLATED}


def sure_section(text: str) -> Section | None:
    return next((each for each in sections(flow_of(text)) if each.evidence is not Evidence.WEAK), None)


@pytest.mark.parametrize("first", range(0, SEEDS, BLOCK))
def test_a_token_is_lost_or_doubled_only_where_counting_says_so(first: int) -> None:
    wrong = []
    for seed in range(first, first + BLOCK):
        text = section_flow(seed)
        section = sure_section(text)
        if section is not None and not section.findings and violated(text) & WRONG:
            wrong.append(seed)
    assert wrong == []


def test_the_random_flows_show_sound_sections_and_every_kind_of_breach() -> None:
    found = [section for seed in range(SEEDS) if (section := sure_section(section_flow(seed))) is not None]
    codes = {finding.code for section in found for finding in section.findings}
    assert {f"TOK00{number}" for number in range(1, 8)} <= codes
    assert sum(section.is_conserved for section in found) >= 20
