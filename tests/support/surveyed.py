"""Flows and their handlers in a directory of their own, looked at as `lint --handlers` does."""

from __future__ import annotations

import importlib
import sys
import textwrap
from pathlib import Path

from orchestrator.binding.survey import Survey
from orchestrator.definition.catalogue import read_file
from orchestrator.definition.problem import Problem, sort_key

FLOW = "shop.flow.yaml"
MODULE = "surveyed_shop"


class Workshop:
    """The working directory; `MODULE` is the module that its flows name."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.survey = Survey()

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def forget_modules(self) -> None:
        for name in [each for each in sys.modules if each.partition(".")[0].startswith("surveyed")]:
            del sys.modules[name]
        importlib.invalidate_caches()

    def check(self, handlers: str, flow: str, *, name: str = FLOW) -> list[Problem]:
        self.write(f"{MODULE}.py", handlers)
        self.write(name, flow)
        self.survey = Survey([Path(name)])
        return self.look(name)

    def look(self, name: str) -> list[Problem]:
        read, problems = read_file(Path(name), name)
        assert read is not None, [problem.concise() for problem in problems]
        return sorted(self.survey.check(read), key=sort_key)


def codes(problems: list[Problem]) -> list[str]:
    return [problem.code for problem in problems]


def one(problems: list[Problem]) -> Problem:
    assert len(problems) == 1, [problem.concise() for problem in problems]
    return problems[0]


FLOW_TEXT = """\
flow: Shop
handlers: surveyed_shop
channels: {token: integer, lane: {type: integer, map: true}}
attributes: {total: integer, names: list of string, progress: {type: integer, map: true}}
start: Pay
steps:
  Pay:
    wait_for: {any_of: [{channel: token}, {timer: 1h, id: late}]}
    execute: EXECUTE
    go_to: End
  End:
    graceful_complete: done
"""


def flow(execute: str = "pay") -> str:
    """With a step `Pay`, whose `execute` is given."""
    return FLOW_TEXT.replace("EXECUTE", execute)


def handler(*lines: str) -> str:
    """`pay`, whose body is given."""
    return "\n".join(["def pay(ctx):", *(f"    {line}" for line in lines), ""])
