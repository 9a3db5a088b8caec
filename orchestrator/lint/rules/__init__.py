"""The rules of the linter, one module a family. Each is a pure function of a flow and what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TypeAlias

from orchestrator.definition.problem import Problem
from orchestrator.lint.facts import Facts

Rule: TypeAlias = Callable[[Facts], Iterable[Problem]]
"""May find problems of several codes of its family; order does not matter."""

FAMILIES = (
    "text",
    "graph",
    "guards",
    "cycles",
    "waits",
    "channels",
    "joins",
    "tokens",
    "failures",
    "attributes",
    "names",
    "references",
)
"""Modules of this package, each with a list `RULES`."""


def all_rules() -> Iterator[Rule]:
    for family in FAMILIES:
        rules: Sequence[Rule] = import_module(f"{__name__}.{family}").RULES
        yield from rules
