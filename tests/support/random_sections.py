"""Seeded random flows around one channel that looks like a token: taken, handed on, given back, or not."""

from __future__ import annotations

from random import Random
from typing import Any

import yaml

Draft = dict[str, Any]
RACE = {"any_of": [{"channel": "token"}, {"timer": "5s"}]}


def section_flow(seed: int) -> str:
    """The same text for the same seed."""
    return yaml.safe_dump(_Author(Random(seed)).flow(), sort_keys=False)


class _Author:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = ["Take", *(f"Work{number}" for number in range(random.randint(1, 4)))]
        if self._chance(0.4):
            self._names.append("Other")

    def flow(self) -> Draft:
        steps = {"Begin": self._begin()} | {
            name: self._step(name, position) for position, name in enumerate(self._names)
        }
        return {
            "flow": "Section",
            "handlers": "tests.support.acting",
            "channels": {"token": "none"},
            "start": "Begin",
            "steps": steps,
        }

    def _begin(self) -> Draft:
        begin: Draft = {}
        if self._chance(0.1):
            begin |= {"execute": "act", "on_failure": self._random.choice(self._names)}
        if self._chance(0.95):
            begin["publish"] = {"token": None}
        others = ["Other"] if "Other" in self._names else []
        return begin | {"go_to_many": ["Take", "Take", *others]}

    def _step(self, name: str, position: int) -> Draft:
        step: Draft = {}
        is_taker = name == "Take" or self._chance(0.08)
        if is_taker:
            step["wait_for"] = {"until": {"channel": "token"}} if self._chance(0.7) else RACE
        elif name == "Other":
            step["wait_for"] = {"until": {"timer": "1h"}}
        returning = 0.6 if name.startswith("Work") else 0.1
        decisions = [self._decision(position, returning)]
        if self._chance(0.6):
            step |= {"execute": "act", "result": {"name": "result", "type": "boolean"}}
            if self._chance(0.6):
                step["on_failure"] = self._random.choice(self._names[position:])
            decisions.insert(0, {"when": "result", **self._decision(position, returning)})
        if step.get("wait_for") == RACE:
            decisions.insert(0, {"when": "!wait.token.satisfied", "dead_end": True})
        return step | {"decide": decisions}

    def _decision(self, position: int, returning: float) -> Draft:
        decision: Draft = {}
        if self._chance(returning):
            message = {"channel": "token", "value": None}
            decision["publish"] = {"token": None} if self._chance(0.93) else [message, dict(message)]
        if self._chance(0.07):
            decision["cancel"] = [self._random.choice(self._names)]
        return decision | self._outcome(position)

    def _outcome(self, position: int) -> Draft:
        later = self._names[position + 1 :]
        kind = self._random.random()
        if later and kind < 0.45:
            return {"go_to": self._random.choice(later)}
        if later and kind < 0.52:
            return {"go_to_many": [self._random.choice(later), self._random.choice(later)]}
        if kind < 0.57:
            return {"go_to": self._random.choice(self._names[: position + 1])}
        if kind < 0.7:
            return {"force_complete": None} if self._chance(0.5) else {"force_fail": "no"}
        return {"dead_end": True} if self._chance(0.5) else {"graceful_complete": None}

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability
