"""The properties of a flow, each a function from the analysis of its states to reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TypeAlias

from orchestrator.verify.analysis import Analysis
from orchestrator.verify.report import PropertyReport

Check: TypeAlias = Callable[[Analysis], Iterator[PropertyReport]]

_MODULES = ("progress", "tokens", "messages", "closing", "parallel", "authored")


def all_checks() -> Iterator[tuple[str, Check]]:
    """(name of the property, check), in the order in which they are reported."""
    for module in _MODULES:
        checks: dict[str, Check] = import_module(f"{__name__}.{module}").CHECKS
        yield from checks.items()
