"""Who picks where the definition leaves it open: every option in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from orchestrator.definition.model import Json, Path
from orchestrator.verify.report import Guess

Result = TypeVar("Result")
Option = TypeVar("Option")
_FREE_LENGTHS = 2
"""So many lengths and counts of one event are tried in all sizes; further ones in the largest only."""


class Oracle:
    """Replays an event once for every combination of guesses: depth first, the first option first."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = tuple(lengths)
        self.guesses: list[Guess] = []
        self._script: list[int] = []
        self._made: list[tuple[int, int]] = []
        self._length_count = 0

    def runs(self, act: Callable[[], Result]) -> Iterator[tuple[Result, tuple[Guess, ...]]]:
        """Each result of `act`, with the guesses that led to it."""
        self._script = []
        while True:
            self.guesses, self._made, self._length_count = [], [], 0
            result = act()
            yield result, tuple(self.guesses)
            made = self._made
            while made and made[-1][0] + 1 == made[-1][1]:
                made.pop()
            if not made:
                return
            self._script = [*(taken for taken, _ in made[:-1]), made[-1][0] + 1]

    def choose(self, options: Sequence[Option], path: Path, what: str) -> Option:
        if len(options) == 1:
            return options[0]
        position = len(self._made)
        taken = self._script[position] if position < len(self._script) else 0
        self._made.append((taken, len(options)))
        option = options[taken]
        shown: Json = option if isinstance(option, str | int | float | bool | None) else str(option)
        self.guesses.append(Guess(path, what, shown))
        return option

    def length(self, path: Path, what: str) -> int:
        """Of a list, or a number of messages."""
        self._length_count += 1
        is_free = self._length_count <= _FREE_LENGTHS
        chosen = self.choose(self.lengths if is_free else self.lengths[-1:], path, what)
        if len(self.lengths) == 1 or not is_free:
            self.guesses.append(Guess(path, what, chosen))
        return chosen
