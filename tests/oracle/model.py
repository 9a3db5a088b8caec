"""A Promela model: places, channels, events, and what must never be so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestrator.definition.model import Flow

CAPACITY = 6
"""Messages in a channel, and executions of a step in one place; more is an `overflow`."""
STATUSES = ("running", "completed", "failed")


class Untranslatable(Exception):
    """The flow uses what this oracle does not know."""


def all_of(conditions: Iterable[str]) -> str:
    return " && ".join(conditions) or "true"


@dataclass(frozen=True, slots=True)
class Demand:
    """Messages of one channel that a wait takes: what there is, between two bounds."""

    least: int
    most: int | None

    def __add__(self, other: Demand) -> Demand:
        most = None if self.most is None or other.most is None else self.most + other.most
        return Demand(self.least + other.least, most)

    @property
    def amounts(self) -> range:
        return range(self.least, min(CAPACITY, CAPACITY if self.most is None else self.most) + 1)


@dataclass(frozen=True, slots=True)
class Combination:
    """One way in which a wait can end: the conditions that win, and the messages that they take."""

    winners: frozenset[str]
    demands: Mapping[str, Demand]
    takes: Mapping[str, int]
    """Within the demands."""

    @property
    def enabled(self) -> str:
        """Exactly so much is taken: all that is there, or as much as may be."""
        return all_of(
            f"channel_{name} {'>=' if count == self.demands[name].most else '=='} {count}"
            for name, count in self.takes.items()
        )

    @property
    def possible(self) -> str:
        return all_of(f"channel_{name} >= {demand.least}" for name, demand in self.demands.items())


@dataclass(frozen=True, slots=True)
class Place:
    """Executions of a step that still wait (`combination` None), or whose wait ended so."""

    step: str
    combination: int | None

    @property
    def name(self) -> str:
        return f"waiting_{self.step}" if self.combination is None else f"ready_{self.step}_{self.combination}"


@dataclass(frozen=True, slots=True)
class Transition:
    label: str
    enabled: str
    effects: tuple[str, ...]
    is_from_outside: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    flow: Flow
    channels: tuple[str, ...]
    attributes: Mapping[str, bool]
    """Those that steer, with what they are at first."""
    budgets: Mapping[str, int]
    """By external channel, how many messages come from outside."""
    places: tuple[Place, ...]
    transitions: tuple[Transition, ...]
    properties: Mapping[str, str]
    """What must never hold after an event, by name."""
    entry: Place
    combinations: Mapping[str, tuple[Combination, ...]]
    """By step: the ways in which its wait can end."""

    @property
    def variables(self) -> tuple[str, ...]:
        return (
            *(place.name for place in self.places),
            *(f"channel_{name}" for name in self.channels),
            *(f"attribute_{name}" for name in self.attributes),
            *(f"budget_{name}" for name in self.budgets),
            "graceful",
            "status",
            "overflow",
        )

    @property
    def initial(self) -> tuple[int, ...]:
        first = {self.entry.name: 1}
        first |= {f"attribute_{name}": int(value) for name, value in self.attributes.items()}
        first |= {f"budget_{name}": count for name, count in self.budgets.items()}
        return tuple(first.get(name, 0) for name in self.variables)

    def place_after(self, step: str, winners: frozenset[str], taken: Mapping[str, int]) -> Place:
        """Where an execution is whose wait these conditions ended, with so many messages by channel."""
        for number, each in enumerate(self.combinations[step]):
            if each.winners == winners and all(taken.get(name, 0) == n for name, n in each.takes.items()):
                return Place(step, number)
        raise Untranslatable(f"{step} after {sorted(winners)} with {dict(taken)}")

    @property
    def text(self) -> str:
        """Property number 0 is none: then spin looks at the whole state space."""
        asserts = [
            f"assert(!(c_expr {{ wanted == {number} }} && ({bad})));"
            for number, bad in enumerate(self.properties.values(), 1)
        ]
        first = zip(self.variables, self.initial, strict=True)
        declared = [f"byte {name} = {count};" for name, count in first]
        shown = ", ".join(f"now.{name}" for name in self.variables)
        format = " ".join(["%d"] * len(self.variables))
        lines = [_WANTED, *declared, "init { do"]
        for each in self.transitions:
            lines.append(f":: d_step {{ {each.enabled} ->")
            lines.append(f'  c_code {{ if (shows) printf("\\nFROM {format}\\n", {shown}); }};')
            lines += [f"  {effect};" for effect in each.effects]
            to = "GIVEN" if each.is_from_outside else "TO"
            lines.append(f'  c_code {{ if (shows) printf("\\n{to} {format}\\n", {shown}); }};')
            lines.append(f'  printf("\\nEVENT {each.label}\\n");')
            lines += [f"  {check}" for check in asserts]
            lines.append("  }")
        return "\n".join([*lines, "od }", ""])


_WANTED = r"""c_decl {
\#include <stdlib.h>
static int wanted; static int shows;
__attribute__((constructor)) static void read_wanted(void) {
  char *text = getenv("PROPERTY");
  wanted = text ? atoi(text) : 0; shows = getenv("SHOW") != 0;
}
}"""
