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

from tests.oracle.model import Model

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
    own: Mapping[State, frozenset[State]]
    """Successors by what the flow itself does; clients apart."""
    states: frozenset[State]

    def value(self, state: State, variable: str) -> int:
        return state[self.model.variables.index(variable)]

    @cached_property
    def halted(self) -> frozenset[State]:
        """Running states in which nothing can happen by itself."""
        return frozenset(each for each in self._running if not self.own.get(each))

    @cached_property
    def dead(self) -> frozenset[State]:
        """Halted for ever: nobody waits for a client."""
        return frozenset(each for each in self.halted if not self._awaits_outside(each))

    def _awaits_outside(self, state: State) -> bool:
        fed = {name for name, count in self.model.budgets.items() if count}
        return any(
            self.value(state, place.name)
            and any(fed & set(way.demands) for way in self.model.combinations[place.step])
            for place in self.model.places
            if place.combination is None
        )

    @cached_property
    def closed(self) -> frozenset[State]:
        return self.states - self._running

    @cached_property
    def doomed(self) -> frozenset[State]:
        """Running states that lead to no end and to no halt, but for ever on."""
        return self.states - self.leading_to(self.closed) - self.leading_to(self.halted)

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
        own: dict[State, set[State]] = defaultdict(set)
        for before, after, is_from_outside in _ways(lines):
            successors[before].add(after)
            if not is_from_outside:
                own[before].add(after)
        initial = self._model.initial
        states = frozenset({initial, *successors, *(each for nexts in successors.values() for each in nexts)})
        return Space(self._model, initial, _frozen(successors), _frozen(own), states)

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


def _frozen(ways: Mapping[State, set[State]]) -> dict[State, frozenset[State]]:
    return {state: frozenset(nexts) for state, nexts in ways.items()}


def _ways(lines: list[str]) -> Iterator[tuple[State, State, bool]]:
    """(before, after, whether a client did it)"""
    before: State | None = None
    for line in lines:
        word, _, values = line.partition(" ")
        if word == "FROM":
            before = tuple(map(int, values.split()))
        elif word in ("TO", "GIVEN"):
            assert before is not None
            yield before, tuple(map(int, values.split())), word == "GIVEN"
