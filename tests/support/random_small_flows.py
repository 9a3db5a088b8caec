"""Seeded random small definitions without data: what an independent model checker can say everything about.

At most five steps, two channels and one attribute. Guards are opaque (`result.flag`, which the handler
returns anew each time), ask which condition of the wait won, or read the attribute. Movements go forward; one
that goes back is alone and publishes nothing, so that most of these flows have few states.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import yaml

RESULT = {"type": {"type": "object", "required": ["flag"], "properties": {"flag": {"type": "boolean"}}}}
Draft = dict[str, Any]


def small_flow(seed: int, *, is_sized: bool = False) -> str:
    """The same text for the same seed. `is_sized`: fan-outs and counts may hang on how long the input is."""
    return yaml.safe_dump(_Author(Random(seed), is_sized=is_sized).flow(), sort_keys=False)


class _Author:
    def __init__(self, random: Random, *, is_sized: bool) -> None:
        self._random = random
        self._is_sized = is_sized
        self._names = [f"S{number}" for number in range(random.randint(3 if is_sized else 2, 5))]
        self._channels = ["token", "report"][: random.randint(1, 2)]
        self._has_attribute = self._chance(0.4)

    def flow(self) -> Draft:
        channels = {name: self._channel() for name in self._channels}
        attributes: Draft = {"is_late": {"type": "boolean", "initial": False}} if self._has_attribute else {}
        external = {name: [0, 1] for name, each in channels.items() if each.get("external")}
        return {
            "flow": "Small",
            "handlers": "tests.support.acting",
            **({"input": "list of integer"} if self._is_sized else {}),
            "channels": channels,
            "attributes": attributes,
            "start": self._names[0],
            "steps": {name: self._step(position) for position, name in enumerate(self._names)},
            "verify": {"external": external, "properties": [{"mutual_exclusion": self._names[-2:]}]},
        }

    def _channel(self) -> Draft:
        channel: Draft = {"type": "integer"}
        if self._chance(0.2):
            channel["leftover"] = True
        if self._chance(0.15):
            channel["external"] = True
        return channel

    def _step(self, position: int) -> Draft:
        step: Draft = {}
        if self._chance(0.03 if position == 0 else 0.6):
            step["wait_for"] = self._wait()
        has_handler = self._chance(0.6)
        if has_handler:
            step |= {
                "execute": {"handler": "act", "retry": {"maximum_attempts": 1}},
                "result": copy.deepcopy(RESULT),
            }
            if self._chance(0.6):
                step["on_failure"] = self._other(position)
        guard = self._guard(step)
        if guard is None:
            return step | self._decision(position)
        return step | {"decide": [{"when": guard, **self._decision(position)}, self._decision(position)]}

    def _guard(self, step: Draft) -> str | None:
        if "any_of" in step.get("wait_for", {}) and self._chance(0.6):
            return f"wait.{step['wait_for']['any_of'][0]['id']}.satisfied"
        if self._has_attribute and self._chance(0.5):
            return self._random.choice(["attributes.is_late", "!attributes.is_late"])
        return "result.flag" if "execute" in step and self._chance(0.6) else None

    def _wait(self) -> Draft:
        kind = self._random.choice(["until", "until", "any_of", "all_of", "groups"])
        if kind == "groups":
            conditions = [self._condition(f"c{number}", self._chance(0.3)) for number in range(3)]
            named = {each.pop("id"): each for each in conditions}
            return {"any_combination_of": [["c0", "c1"], ["c2"]], "conditions": named}
        if kind == "until":
            return {"until": self._condition("c0", may_be_timer=self._chance(0.15))}
        return {kind: [self._condition(f"c{number}", self._chance(0.3)) for number in range(2)]}

    def _condition(self, id: str, may_be_timer: bool) -> Draft:
        if may_be_timer:
            return {"timer": "1m", "id": id}
        if self._is_sized and self._chance(0.3):
            counted = {"for": self._random.choice(["${size(run.input)}", "${size(run.input) + 1}"])}
            return {"channel": self._random.choice(self._channels), **counted, "id": id}
        forms = [{"for": 1}, {"for": 1}, {"for": 1}, {"for": 1}, {"for": 2}, {"for": 3}]
        forms += [{"at_least": 1}, {"at_most": 2}, {"at_least": 1, "at_most": 2}]
        return {"channel": self._random.choice(self._channels), **self._random.choice(forms), "id": id}

    def _decision(self, position: int) -> Draft:
        if position and self._chance(0.12):
            return {"go_to": self._random.choice(self._names[1 : position + 1])}
        decision: Draft = {}
        published = self._random.choice([0, 1, 1, 2] if position else [0, 1, 1, 2, 3])
        if published:
            names = [self._random.choice(self._channels) for _ in range(published)]
            decision["publish"] = [{"channel": name, "value": 1} for name in names]
        if self._has_attribute and self._chance(0.3):
            decision["set"] = {"is_late": self._chance(0.7)}
        if self._chance(0.15):
            decision["cancel"] = [self._other(position)]
        return decision | self._outcome(position)

    def _outcome(self, position: int) -> Draft:
        later = self._names[position + 1 :]
        if position == 0:
            kinds = ["go_to", "many", "many"]
        elif later:
            kinds = [
                "dead",
                "dead",
                "graceful",
                "graceful",
                "force",
                "fail",
                "if_empty",
                "go_to",
                "go_to",
                "go_to",
                "many",
            ]
        else:
            kinds = ["dead", "dead", "graceful", "graceful", "force", "if_empty"]
        match self._random.choice(kinds):
            case "go_to":
                return {"go_to": self._random.choice(later)}
            case "many":
                return {"go_to_many": self._movements(later)}
            case "graceful":
                return {"graceful_complete": None}
            case "force":
                return {"force_complete": None}
            case "fail":
                return {"force_fail": "it was to be so"}
            case "if_empty":
                otherwise = {"go_to": self._random.choice(later)} if later else {"dead_end": True}
                looked_at = [self._random.choice(self._channels)]
                return {"force_complete_if_channels_empty": {"channels": looked_at, "otherwise": otherwise}}
            case _:
                return {"dead_end": True}

    def _movements(self, later: list[str]) -> list[Any]:
        """Two or three, or so many of one step."""
        if self._is_sized and self._chance(0.7):
            movements = [{"for_each": "${run.input}", "step": self._random.choice(later)}]
            return [
                *movements,
                *({"step": self._random.choice(later)} for _ in range(self._random.randint(0, 1))),
            ]
        if self._chance(0.3):
            count = self._random.randint(1, 3)
            return [{"for_each": list(range(count)), "step": self._random.choice(later)}]
        return [{"step": self._random.choice(later)} for _ in range(self._random.randint(2, 3))]

    def _other(self, position: int) -> str:
        """Mostly a later step; never the step itself."""
        later = self._names[position + 1 :]
        first = 1 if self._is_sized else 0  # the start step takes an input then, and nobody has it to hand on
        others = [name for name in self._names[first:] if name != self._names[position]]
        return self._random.choice(later if later and self._chance(0.85) else others)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability
