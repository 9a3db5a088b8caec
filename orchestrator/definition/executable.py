"""What the language has and this release's engine does not execute yet: a table from feature to finder.

It is empty when everything is executed. A feature that comes to the language first gets a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orchestrator.definition.model import Flow, Path
from orchestrator.definition.problem import Problem

Finder = Callable[[Flow], Iterator[Path]]
FINDERS: dict[str, Finder] = {}


def check_executable(flow: Flow) -> list[Problem]:
    """One problem for each place that uses a feature the engine does not have yet."""
    problems = []
    for feature, find in FINDERS.items():
        for path in find(flow):
            assert flow.source is not None
            position = flow.source.locate(path)
            problems.append(
                Problem(
                    "ENG001",
                    f"{feature} cannot be executed yet by this release's engine",
                    flow.source.path,
                    position.key or position.value,
                    severity="info",
                    flow=flow.name,
                )
            )
    return sorted(problems, key=lambda problem: problem.span)
