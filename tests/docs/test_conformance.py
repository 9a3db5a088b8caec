"""docs/conformance.md tells the truth: every rule has its tests or a reason."""

from __future__ import annotations

from docs.conformance import find_faults, read_rules


def test_every_rule_has_tests_or_a_reason_and_every_mark_its_rule() -> None:
    assert find_faults() == []


def test_the_rules_are_numbered_without_gap() -> None:
    assert [rule.number for rule in read_rules()] == list(range(1, 205))
