"""Runs Debian's `spin` on a model: the shortest way to each violation, and the whole state space."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.promela import Model

IS_THERE = shutil.which("spin") is not None and shutil.which("gcc") is not None
_skipped = pytest.mark.skipif(not IS_THERE, reason="spin or gcc is absent")
_OPTIONS = ["-O0", "-w", "-DBFS", "-DSAFETY", "-DNOREDUCE"]
_SHORTEST = re.compile(r"assertion violated .*\(at depth (\d+)\)")
State = tuple[int, ...]


def needs_spin(test: Any) -> Any:
    """Marks a test, and skips it where there is no spin."""
    return pytest.mark.needs_spin(_skipped(test))


@dataclass(frozen=True)
class Space:
    """All states that can be reached, as spin walked them: values of `Model.variables`."""

    model: Model
    initial: State
    successors: Mapping[State, frozenset[State]]
    states: frozenset[State]

    def value(self, state: State, variable: str) -> int:
        return state[self.model.variables.index(variable)]

    @cached_property
    def dead(self) -> frozenset[State]:
        """Running states in which nothing can happen any more."""
        return frozenset(each for each in self._running if not self.successors.get(each))

    @cached_property
    def closed(self) -> frozenset[State]:
        return self.states - self._running

    @cached_property
    def doomed(self) -> frozenset[State]:
        """Running states that lead to no end, but for ever on: neither to a close nor to a dead state."""
        return self.states - self.leading_to(self.closed) - self.leading_to(self.dead)

    @property
    def _running(self) -> frozenset[State]:
        return frozenset(state for state in self.states if self.value(state, "status") == 0)

    def leading_to(self, goals: frozenset[State]) -> frozenset[State]:
        before: dict[State, set[State]] = defaultdict(set)
        for state, nexts in self.successors.items():
            for next in nexts:
                before[next].add(state)
        found, queue = set(goals), deque(goals)
        while queue:
            for state in before[queue.popleft()] - found:
                found.add(state)
                queue.append(state)
        return frozenset(found)

    def distance(self, wanted: frozenset[State]) -> int | None:
        """Events on a shortest way to one of these states."""
        seen, layer, length = {self.initial}, {self.initial}, 0
        while layer:
            if layer & wanted:
                return length
            layer = {next for state in layer for next in self.successors.get(state, ())} - seen
            seen |= layer
            length += 1
        return None


class Spin:
    """One compiled model; `directory` is its own."""

    def __init__(self, model: Model, directory: Path) -> None:
        self._model = model
        self._directory = directory
        (directory / "flow.pml").write_text(model.text, encoding="utf-8")
        self._call(["spin", "-a", "flow.pml"])
        self._call(["gcc", *_OPTIONS, "-o", "pan", "pan.c"])

    def shortest(self, name: str) -> int | None:
        """Number of events after which the property is violated first; None: never."""
        number = list(self._model.properties).index(name) + 1
        output = self._call(["./pan", "-E", "-w16"], PROPERTY=str(number))
        assert "max search depth too small" not in output, output
        found = _SHORTEST.search(output)
        return None if found is None else int(found.group(1)) + 1

    def trace(self, name: str) -> list[str]:
        """The events of a shortest way to the violation."""
        if self.shortest(name) is None:
            return []
        number = list(self._model.properties).index(name) + 1
        output = self._call(["./pan", "-r"], PROPERTY=str(number))
        return [line.removeprefix("EVENT ") for line in output.splitlines() if line.startswith("EVENT ")]

    def space(self) -> Space:
        lines = self._call(["./pan", "-E", "-w16"], SHOW="1").splitlines()
        successors: dict[State, set[State]] = defaultdict(set)
        for before, after in _pairs(lines):
            successors[before].add(after)
        initial = tuple(int(name == self._model.entry.name) for name in self._model.variables)
        states = frozenset({initial, *successors, *(each for nexts in successors.values() for each in nexts)})
        frozen = {state: frozenset(nexts) for state, nexts in successors.items()}
        return Space(self._model, initial, frozen, states)

    def _call(self, command: list[str], **environment: str) -> str:
        done = subprocess.run(
            command,
            cwd=self._directory,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout


def _pairs(lines: list[str]) -> Iterator[tuple[State, State]]:
    before: State | None = None
    for line in lines:
        if line.startswith("FROM "):
            before = tuple(map(int, line.split()[1:]))
        elif line.startswith("TO "):
            assert before is not None
            yield before, tuple(map(int, line.split()[1:]))
