"""The fix of each bad example mends it: the loader still takes the text, and the problem is gone."""

from __future__ import annotations

import pytest

from orchestrator.definition.codes import CODES
from orchestrator.definition.explanations import explain
from orchestrator.definition.finders import finders
from tests.support.linted import fixed, found

FIXED = sorted(code for code, about in CODES.items() if about.fix and finders(code) == {"rule"})


@pytest.mark.parametrize("code", FIXED)
def test_the_fix_of_the_bad_example_removes_the_problem(code: str) -> None:
    bad = explain()[code].bad
    assert bad is not None
    assert found(fixed(bad.text, code), code) == []
