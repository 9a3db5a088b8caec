"""Waits built by handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import all_of, any_combination_of, any_of, skip, until
from orchestrator.binding.mistakes import InvalidWait
from orchestrator.core.events import HandlerWait


@pytest.mark.rule(59)
@pytest.mark.parametrize(
    ("wait", "expected"),
    [
        (until("a"), HandlerWait("until", (("a",),))),
        (all_of("a", "b"), HandlerWait("all_of", (("a", "b"),))),
        (any_of("a", "b"), HandlerWait("any_of", (("a",), ("b",)))),
        (any_combination_of(["a", "b"], ("c",)), HandlerWait("any_combination_of", (("a", "b"), ("c",)))),
        (skip(), HandlerWait("none", ())),
    ],
)
def test_each_combinator_names_its_candidates(wait: HandlerWait, expected: HandlerWait) -> None:
    assert wait == expected


@pytest.mark.rule(62)
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (any_combination_of, "needs at least one group"),
        (lambda: any_combination_of([]), "an empty group"),
        (lambda: any_combination_of(3), r"takes groups of condition ids, such as \['approval'\], not 3"),  # type: ignore[arg-type]
        (lambda: any_combination_of("ab"), r"takes groups of condition ids: write \['ab'\]"),
        (lambda: any_combination_of(["a", "a"]), "names `a` twice"),
        (lambda: all_of("a", "a"), "all_of\\(\\) names `a` twice"),
        (lambda: any_of("a", 5), "ids of declared conditions, not 5"),  # type: ignore[arg-type]
        (lambda: until(["a"]), "ids of declared conditions"),  # type: ignore[arg-type]
    ],
)
def test_wrong_waits_say_what_is_wrong(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidWait, match=message):
        make()
