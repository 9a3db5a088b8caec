"""A flow without data as a Promela model, made from the definition alone: an oracle for the verifier.

Written after docs/explanation/verification.md, and knowing nothing of `orchestrator.core` or
`orchestrator.verify`. Executions are counted, not named: one counter for the waiting ones of a step, one for
each way in which its wait can have ended. Each event is one `d_step`: a wait is satisfied, a decision is
committed, a handler fails for good, the run completes. So spin's breadth-first depth counts events.

Which alternative of a wait wins is a free choice, and so are guards, except `wait.<id>.satisfied` and those
on a boolean attribute. What depends on the run's input counts `fan_out`. Clients publish to external channels
as often as `verify.external` lets them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Decision,
    Effect,
    Flow,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    ForceFail,
    GoTo,
    GoToMany,
    GracefulComplete,
    Movement,
    Outcome,
    Publish,
    SetAttribute,
    Step,
    TimerCondition,
    WaitFor,
)
from orchestrator.definition.values import Literal, Value
from tests.oracle.model import (
    CAPACITY,
    Combination,
    Demand,
    Model,
    Place,
    Transition,
    Untranslatable,
    all_of,
)

_WAIT_GUARD = re.compile(r"wait\.(\w+)\.satisfied")
_ATTRIBUTE_GUARD = re.compile(r"(!?)attributes\.(\w+)")
_COUNT = re.compile(r"\$\{(?:size\()?(?:run\.)?input\)?(?: *([+-]) *(\d+))?\}")


def model_of(flow: Flow, *, fan_out: int = 3, protected: Sequence[str] = ()) -> Model:
    """`protected` are the steps of which at most one execution may be under way, past its wait."""
    return _Translator(flow, fan_out).model(protected)


@dataclass(slots=True)
class _Translator:
    flow: Flow
    fan_out: int
    combinations: dict[str, tuple[Combination, ...]] = field(default_factory=dict)
    budgets: dict[str, int] = field(default_factory=dict)
    attributes: dict[str, bool] = field(default_factory=dict)

    def model(self, protected: Sequence[str]) -> Model:
        if self.flow.rpcs or self.flow.joins or self.flow.timeout or self.flow.start is None:
            raise Untranslatable("only steps and channels are known here")
        for name, step in self.flow.steps.items():
            self.combinations[name] = tuple(self._combinations(step))
        places = [place for name in self.flow.steps for place in self._places(name)]
        self.budgets = {
            name: self.flow.verify.get("external", {}).get(name, [0, 2])[-1]
            for name, channel in self.flow.channels.items()
            if channel.is_external
        }
        self.attributes = {name: bool(self.flow.attributes[name].initial) for name in self._steering()}
        return Model(
            self.flow,
            tuple(self.flow.channels),
            self.attributes,
            self.budgets,
            tuple(places),
            tuple(self._transitions(places)),
            self._properties(places, protected),
            self._entry(self.flow.start),
            self.combinations,
        )

    def _steering(self) -> set[str]:
        """Attributes that a guard reads; the others play no part."""
        guards = [each.when for step in self.flow.steps.values() for each in step.decisions if each.when]
        found = [_ATTRIBUTE_GUARD.fullmatch(guard.text.strip()) for guard in guards]
        return {match.group(2) for match in found if match}

    # --- Waits -----------------------------------------------------------------------------------------

    def _combinations(self, step: Step) -> Iterator[Combination]:
        wait = step.wait_for
        if wait is None or wait.combinator is Combinator.NONE:
            if wait is not None and wait.effects:
                raise Untranslatable("effects of a wait")
            yield Combination(frozenset(), {}, {})
            return
        conditions = {condition.id: condition for condition in wait.conditions}
        for group in _groups(wait):
            demands: dict[str, Demand] = {}
            for id in group:
                for channel, demand in self._demand(conditions[id]).items():
                    demands[channel] = demands.get(channel, Demand(0, 0)) + demand
            for amounts in product(*(demand.amounts for demand in demands.values())):
                yield Combination(frozenset(group), demands, dict(zip(demands, amounts, strict=True)))

    def _demand(self, condition: object) -> dict[str, Demand]:
        """By channel; a timer may fire at any moment."""
        if isinstance(condition, TimerCondition):
            return {}
        if not isinstance(condition, ChannelCondition) or _varies(condition):
            raise Untranslatable(f"{condition}")
        least, most = condition.at_least, condition.at_most
        if least is None and most is None:
            count = 1 if condition.exactly is None else self._count(condition.exactly)
            return {condition.channel: Demand(count, count)}
        bounds = (0 if least is None else self._count(least), None if most is None else self._count(most))
        return {condition.channel: Demand(*bounds)}

    def _count(self, value: Value) -> int:
        if isinstance(value, Literal):
            return int(value.value)
        found = _COUNT.fullmatch(value.text.strip())
        if found is None:
            raise Untranslatable(value.text)
        sign, difference = found.groups()
        return self.fan_out + int(f"{sign or '+'}{difference or 0}")

    # --- Places ----------------------------------------------------------------------------------------

    def _waits(self, step: str) -> bool:
        wait = self.flow.steps[step].wait_for
        return wait is not None and wait.combinator is not Combinator.NONE

    def _places(self, step: str) -> Iterator[Place]:
        if self._waits(step):
            yield Place(step, None)
        for number in range(len(self.combinations[step])):
            yield Place(step, number)

    def _entry(self, step: str) -> Place:
        return Place(step, None if self._waits(step) else 0)

    # --- Events ----------------------------------------------------------------------------------------

    def _transitions(self, places: Sequence[Place]) -> Iterator[Transition]:
        for place in places:
            if place.combination is None:
                yield from self._satisfactions(place)
            else:
                yield from self._ends(place, self.combinations[place.step][place.combination])
        none_active = " && ".join(f"{place.name} == 0" for place in places)
        for name in self.budgets:
            effects = (f"budget_{name}--", f"channel_{name}++", _limit(f"channel_{name}"))
            enabled = f"{_RUNNING} && budget_{name} > 0"
            yield Transition(f"publish {name}", enabled, effects, is_from_outside=True)
        yield Transition("complete", f"{_RUNNING} && {none_active} && graceful == 1", ("status = 1",))

    def _satisfactions(self, place: Place) -> Iterator[Transition]:
        for number, combination in enumerate(self.combinations[place.step]):
            enabled = [_RUNNING, f"{place.name} > 0", combination.enabled]
            takes = [f"channel_{name} = channel_{name} - {n}" for name, n in combination.takes.items()]
            yield Transition(
                f"{place.step} satisfied {number}",
                " && ".join(enabled),
                (f"{place.name}--", *takes, *_start(Place(place.step, number))),
            )

    def _ends(self, place: Place, combination: Combination) -> Iterator[Transition]:
        step = self.flow.steps[place.step]
        enabled = f"{_RUNNING} && {place.name} > 0"
        passed: list[str] = []
        """What must be so for the decisions before not to be taken."""
        for number, decision in enumerate(step.decisions, 1):
            holds, fails = _guard(decision, combination)
            for condition, effects in self._commits(decision):
                yield Transition(
                    f"{place.step} decision {number}",
                    " && ".join([enabled, *passed, holds, condition]),
                    (f"{place.name}--", *effects),
                )
            passed.append(fails)
        after = _start(self._entry(step.on_failure.step)) if step.on_failure else self._close(2)
        failing = (f"{place.name}--", *after)
        can_fail = enabled if step.execute is not None else " && ".join([enabled, *passed])
        yield Transition(f"{place.step} failed", can_fail, failing)

    def _commits(self, decision: Decision) -> Iterator[tuple[str, list[str]]]:
        """(when it is so, what it does); the channels are looked at before the decision's own publishes."""
        outcome = decision.outcome
        before = list(self._effects(decision))
        if not isinstance(outcome, ForceCompleteIfChannelsEmpty):
            yield "true", [*before, *self._end(outcome)]
            return
        is_empty = all_of(f"channel_{name} == 0" for name in outcome.channels)
        yield is_empty, [*before, *self._close(1)]
        for condition, after in self._commits(outcome.otherwise):
            yield f"!({is_empty}) && {condition}", [*before, *after]

    def _effects(self, decision: Decision) -> Iterator[str]:
        for effect in decision.effects:
            yield from self._apply(effect)
        for name in self.flow.channels:
            yield _limit(f"channel_{name}")
        for name in decision.cancel:
            yield from self._cancel(name)
        if decision.cancel_siblings or decision.cancel_round:
            raise Untranslatable("a cancel by origin")

    def _end(self, outcome: Outcome | None) -> Iterator[str]:
        if isinstance(outcome, GoTo):
            yield from self._move(outcome.movement)
        elif isinstance(outcome, GoToMany):
            for movement in outcome.movements:
                yield from self._move(movement)
        elif isinstance(outcome, GracefulComplete):
            yield "graceful = 1"
        elif isinstance(outcome, ForceComplete | ForceFail):
            yield from self._close(1 if isinstance(outcome, ForceComplete) else 2)

    def _apply(self, effect: Effect) -> Iterator[str]:
        if not isinstance(effect, Publish | SetAttribute) or _varies(effect):
            raise Untranslatable(f"{effect}")
        if isinstance(effect, Publish):
            yield f"channel_{effect.channel}++"
        elif effect.attribute in self.attributes:
            assert isinstance(effect.value, Literal)
            yield f"attribute_{effect.attribute} = {int(effect.value.value)}"

    def _cancel(self, step: str) -> Iterator[str]:
        """Waiting ones go; what the others had taken goes back."""
        for place in self._places(step):
            if place.combination is not None:
                for channel, count in self.combinations[step][place.combination].takes.items():
                    yield f"channel_{channel} = channel_{channel} + {count} * {place.name}"
                    yield _limit(f"channel_{channel}")
            yield f"{place.name} = 0"

    def _move(self, movement: Movement) -> Iterator[str]:
        if movement.when is not None or movement.options is not None:
            raise Untranslatable(f"{movement}")
        count = 1
        if isinstance(movement.for_each, Literal):
            count = len(movement.for_each.value)
        elif movement.for_each is not None:
            count = self._count(movement.for_each)
        yield from _start(self._entry(movement.step), count)

    def _close(self, status: int) -> Iterator[str]:
        """All other executions are cancelled (rules 19 and 109)."""
        yield f"status = {status}"
        for name in self.flow.steps:
            yield from self._cancel(name)

    # --- Properties ------------------------------------------------------------------------------------

    def _properties(self, places: Sequence[Place], protected: Sequence[str]) -> dict[str, str]:
        active = " + ".join(place.name for place in places)
        ready = [f"{place.name} == 0" for place in places if place.combination is not None]
        asleep = []
        for place in places:
            if place.combination is None:
                ways = [each.possible for each in self.combinations[place.step]]
                is_fed = any(
                    self.budgets.get(name) for each in self.combinations[place.step] for name in each.demands
                )
                asleep.append(f"({place.name} == 0 || !({' || '.join(['true'] if is_fed else ways)}))")
        under_way = [name for name in protected if self.flow.steps[name].execute or not self._waits(name)]
        """Without a handler the decision is part of the commit that ends the wait."""
        inside = " + ".join(p.name for p in places if p.step in under_way and p.combination is not None)
        return {
            "deadlock": " && ".join([_RUNNING, f"({active}) > 0", *ready, *asleep]),
            "zombie": f"{_RUNNING} && ({active}) == 0 && graceful == 0",
            "mutual_exclusion": f"{_RUNNING} && ({inside or '0'}) > 1",
            "completion": "status == 1",
            "failure": "status == 2",
            "overflow": "overflow == 1",
            **{f"left {name}": f"status == 1 && channel_{name} > 0" for name in self.flow.channels},
        }


_RUNNING = "status == 0 && overflow == 0"


def _groups(wait: WaitFor) -> Iterator[tuple[str, ...]]:
    """Of condition ids; each group is one alternative."""
    ids = tuple(condition.id for condition in wait.conditions)
    if wait.combinator is Combinator.ANY_OF:
        yield from ((id,) for id in ids)
    elif wait.combinator is Combinator.ANY_COMBINATION_OF:
        yield from wait.groups
    elif wait.combinator in (Combinator.UNTIL, Combinator.ALL_OF):
        yield ids
    else:
        raise Untranslatable(wait.combinator)


def _varies(part: ChannelCondition | Publish | SetAttribute) -> bool:
    return part.when is not None or part.for_each is not None or part.key is not None


def _start(place: Place, count: int = 1) -> tuple[str, str]:
    return f"{place.name} = {place.name} + {count}", _limit(place.name)


def _limit(variable: str) -> str:
    return f"overflow = ({variable} > {CAPACITY} -> 1 : overflow)"


def _guard(decision: Decision, combination: Combination) -> tuple[str, str]:
    """When it may be taken, and when it may be passed over."""
    if decision.choice is not None:
        return "true", "true"
    if decision.when is None:
        return "true", "false"
    text = decision.when.text.strip()
    if found := _WAIT_GUARD.fullmatch(text):
        return ("true", "false") if found.group(1) in combination.winners else ("false", "true")
    if found := _ATTRIBUTE_GUARD.fullmatch(text):
        is_negated, name = found.groups()
        return f"attribute_{name} == {int(not is_negated)}", f"attribute_{name} == {int(bool(is_negated))}"
    return "true", "true"
