"""What a guard compares, and which values that can have: the finite regions of its domain.

A *subject* is the text of a subexpression (`input.status`, `size(input)`), or the outcome of the step's wait.
A region is a value, an open interval between two numbers, or everything else. Regions may be more than what
can happen, never less: what holds in all of them holds always.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from orchestrator.definition.cel_tree import Call, Const, Read
from orchestrator.definition.cel_tree import ListNode as CelList
from orchestrator.definition.fitting import alternatives, resolve
from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Condition,
    Effect,
    Flow,
    Json,
    Options,
    Rpc,
    SetAttribute,
    Step,
    WaitFor,
)
from orchestrator.definition.types import Type
from orchestrator.definition.values import ListValue, Literal, Value
from orchestrator.graph.query import elements_of, movements_of, with_otherwise

Owner: TypeAlias = Step | Rpc
SchemaAt: TypeAlias = tuple[Json, Mapping[str, Json]]
"""A schema, and the table of its references."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers strictly between; both ends open."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Other:
    """Whatever is none of the values that are named."""


OTHER = Other()
WAIT = "@wait"
"""The subject whose regions are the sets of condition ids that can end the step's wait."""
NO_WINNER: frozenset[str] = frozenset()
"""No condition ended the wait: none was left, or the wait failed and the step proceeds."""


@dataclass(frozen=True, slots=True)
class Domain:
    """What the types say of a subject. `values` None: not enumerated."""

    values: tuple[Json, ...] | None = None
    is_integer: bool = False
    is_number: bool = False
    minimum: float = -math.inf
    maximum: float = math.inf
    is_nullable: bool = True


UNKNOWN = Domain()
BOOLEAN = Domain((True, False), is_nullable=False)
COUNT = Domain(is_integer=True, is_number=True, minimum=0, is_nullable=False)


def regions(domain: Domain, constants: Sequence[Json], *, is_ordered: bool) -> list[Any]:
    """The regions that tests against these constants can tell apart."""
    if domain.values is not None:
        values = list(domain.values)
        return values + ([None] if domain.is_nullable and None not in values else [])
    if not is_ordered and not domain.is_number:
        return [*_distinct(constants), OTHER]
    numbers = sorted(each for each in constants if _is_number(each))
    rest = [each for each in _distinct(constants) if not _is_number(each)]  # ordering anything else fails
    if domain.is_number:
        rest = [None] if domain.is_nullable and (None in rest or not is_ordered) else []
    return [*_number_line(domain, numbers), *rest]


def _number_line(domain: Domain, numbers: Sequence[float]) -> Iterator[Any]:
    low = -math.inf
    for number in [*dict.fromkeys(numbers), math.inf]:
        between = Interval(low, number)
        if not _is_empty(between, domain):
            yield between
        is_whole = not domain.is_integer or float(number).is_integer()
        if number < math.inf and domain.minimum <= number <= domain.maximum and is_whole:
            yield number
        low = number


def _is_empty(interval: Interval, domain: Domain) -> bool:
    """No number that the type allows lies in it."""
    if domain.is_integer:
        first, last = _ceiling_above(interval.low), _floor_below(interval.high)
        return max(first, domain.minimum) > min(last, domain.maximum)
    return interval.high <= domain.minimum or interval.low >= domain.maximum or interval.low >= interval.high


def _ceiling_above(number: float) -> float:
    return number if math.isinf(number) else math.floor(number) + 1


def _floor_below(number: float) -> float:
    return number if math.isinf(number) else math.ceil(number) - 1


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _distinct(values: Sequence[Json]) -> list[Json]:
    """Each once; `true` and 1 are two."""
    return list({(isinstance(value, bool), value): value for value in values}.values())


# --- What the definition knows of a path ------------------------------------------------------------------


class Subjects:
    """The domains of what the guards of one step or RPC read."""

    def __init__(self, setting: Setting, owner: Owner) -> None:
        self._setting = setting
        self._flow = setting.flow
        self._owner = owner

    def domain(self, path: tuple[str, ...]) -> Domain:
        if path[:1] == ("channels",) and path[-1:] == ("size",):
            return COUNT
        if path == ("wait_for_failed",):
            return BOOLEAN
        found = schema_of_path(self._flow, self._owner, path)
        if found is None:
            return UNKNOWN
        domain = domain_of(*found)
        if path[:1] == ("attributes",) and len(path) == 2:
            return _with_null(domain, self._setting.may_be_unset(self._owner, path[1]))
        if path[:1] == ("wait",) and path[2:] == ("message",) and not self._has_message(path[1]):
            return _with_null(domain, True)
        return domain

    def wait_states(self) -> list[frozenset[str]] | None:
        """Which conditions can have ended the wait; None where nothing is known."""
        wait = self._owner.wait_for if isinstance(self._owner, Step) else None
        if wait is None or wait.combinator in (Combinator.HANDLER, Combinator.NONE):
            return None
        optional = {each.id for each in wait.conditions if is_optional(each)}
        states = [group for group in groups_of(wait) if group]
        if any(len(group) > 1 and group & optional for group in states):
            return None
        if all(group & optional for group in states) or self.proceeds():
            states = [*states, NO_WINNER]
        return states

    def may_be_empty(self, elements: Value) -> bool:
        """False where what is written, or the declared type, shows that the list has an element."""
        if isinstance(elements, Literal):
            return not elements.value
        if isinstance(elements, ListValue):
            return False
        match elements.tree[0]:
            case CelList(elements=[_, *_], optional=()):
                return False
            case Call(function="range", args=[Const(value=int(count))]):
                return count < 1
            case Read(path=path, member=None) if all(isinstance(part, str) for part in path):
                found = schema_of_path(self._flow, self._owner, tuple(str(part) for part in path))
                schema = resolve(*found) if found is not None else None
                return not (isinstance(schema, dict) and schema.get("minItems", 0) >= 1)
            case _:
                return True

    def proceeds(self) -> bool:
        """Execute may run after a wait that failed: because the step says so, or a movement to it."""
        if not isinstance(self._owner, Step) or self._owner.wait_for is None:
            return False
        return self._owner.wait_for.proceeds_on_failure or self._owner.name in self._setting.proceeding

    def is_null_exactly_without_message(self, condition_id: str) -> bool:
        """Whether `wait.<id>.message` is null where that condition did not win, and only there."""
        states = self.wait_states()
        if states is None or not any(condition_id in state for state in states):
            return False
        found = schema_of_path(self._flow, self._owner, ("wait", condition_id, "message"))
        wait = self._owner.wait_for if isinstance(self._owner, Step) else None
        takes_one = wait is not None and any(
            isinstance(each, ChannelCondition) and each.id == condition_id and takes_exactly_one(each)
            for each in wait.conditions
        )
        return takes_one and found is not None and not domain_of(*found).is_nullable

    def fails_exactly_without_winner(self) -> bool:
        """Whether `wait_for_failed` is true where no condition ended the wait, and only there."""
        wait = self._owner.wait_for if isinstance(self._owner, Step) else None
        if wait is None or self.wait_states() is None:
            return False
        optional = {each.id for each in wait.conditions if is_optional(each)}
        return self.proceeds() and not all(group & optional for group in groups_of(wait))

    def _has_message(self, condition_id: str) -> bool:
        """The condition ends the wait in any case, and takes at least one message."""
        states = self.wait_states()
        wait = self._owner.wait_for if isinstance(self._owner, Step) else None
        if wait is None or states is None or not all(condition_id in state for state in states):
            return False
        return any(each.id == condition_id and _takes_some(each) for each in wait.conditions)


def groups_of(wait: WaitFor) -> list[frozenset[str]]:
    """The combinations of condition ids, one of which ends the wait."""
    ids = [condition.id for condition in wait.conditions]
    if wait.combinator is Combinator.ANY_OF:
        return [frozenset([each]) for each in ids]
    if wait.combinator is Combinator.ANY_COMBINATION_OF:
        return [frozenset(group) for group in wait.groups]
    return [frozenset(ids)]


def takes_exactly_one(condition: ChannelCondition) -> bool:
    if condition.at_least is not None or condition.at_most is not None:
        return False
    count = condition.exactly
    return count is None or (isinstance(count, Literal) and count.value == 1)


def _takes_some(condition: Condition) -> bool:
    """At least one message, whatever is computed."""
    if not isinstance(condition, ChannelCondition):
        return False
    least = condition.exactly if condition.exactly is not None else condition.at_least
    if least is None:
        return condition.at_most is None
    return isinstance(least, Literal) and isinstance(least.value, int) and least.value >= 1


def is_optional(condition: Condition) -> bool:
    """It may be left out of the wait, or be there several times."""
    return condition.when is not None or condition.for_each is not None


class Setting:
    """What the guards of all steps share, computed once a flow."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow

    def may_be_unset(self, owner: Owner, name: str) -> bool:
        """False: the attribute has a first value, or every way through the start step gives it one."""
        if name in self._deleted:
            return True
        if self.flow.attributes[name].initial is not None:
            return False
        return (
            not isinstance(owner, Step) or owner.name == self.flow.start or name not in self._given_at_start
        )

    @cached_property
    def proceeding(self) -> frozenset[str]:
        """Steps to which some movement or route says that a failed wait is no failure."""
        found: set[str] = set()
        for element in elements_of(self.flow):
            if isinstance(element, Step) and element.on_failure is not None:
                found.update(_proceeding(element.on_failure.step, element.on_failure.options))
            for _, decision, _ in with_otherwise(element.decisions):
                for movement in movements_of(decision):
                    found.update(_proceeding(movement.step, movement.options))
        return frozenset(found)

    @cached_property
    def _deleted(self) -> frozenset[str]:
        """Attributes that some effect sets to null."""
        effects: list[Effect] = []
        for element in elements_of(self.flow):
            for _, decision, _ in with_otherwise(element.decisions):
                effects += decision.effects
            if isinstance(element, Step) and element.wait_for is not None:
                effects += element.wait_for.effects
        return frozenset(
            each.attribute
            for each in effects
            if isinstance(each, SetAttribute) and each.value.kind.name == "null"
        )

    @cached_property
    def _given_at_start(self) -> frozenset[str]:
        start = self.flow.steps.get(self.flow.start or "")
        if start is None:
            return frozenset()
        waits = _given(start.wait_for.effects) if start.wait_for is not None else set()
        outcomes = [_given(decision.effects) for decision in start.decisions]
        return frozenset(waits | (set.intersection(*outcomes) if outcomes else set()))


def _proceeding(step: str, options: Options | None) -> Iterator[str]:
    while options is not None:
        if options.wait_for is not None and options.wait_for.on_failure == "proceed":
            yield step
        if options.on_failure is None:
            return
        step, options = options.on_failure.step, options.on_failure.options


def _given(effects: Sequence[Effect]) -> set[str]:
    return {
        each.attribute
        for each in effects
        if isinstance(each, SetAttribute) and each.when is None and each.for_each is None
    }


def schema_of_path(flow: Flow, owner: Owner, path: tuple[str, ...]) -> SchemaAt | None:
    """The schema declared for what a static path of an expression of `owner` reads."""
    root, rest = _declared(flow, owner, path)
    if root is None:
        return None
    found: SchemaAt = (root.schema, root.names)
    for name in rest:
        schema = resolve(found[0], found[1])
        properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
        if name not in properties:
            return None
        found = (properties[name], found[1])
    return found


def _declared(flow: Flow, owner: Owner, path: tuple[str, ...]) -> tuple[Type | None, tuple[str, ...]]:
    match path:
        case ("input", *rest):
            return owner.input, tuple(rest)
        case ("attributes", name, *rest) if name in flow.attributes and not flow.attributes[name].is_map:
            return flow.attributes[name].type, tuple(rest)
        case ("run", "input", *rest):
            return flow.input, tuple(rest)
        case ("wait", condition_id, "message", *rest) if (
            isinstance(owner, Step) and owner.wait_for is not None
        ):
            for condition in owner.wait_for.conditions:
                if condition.id == condition_id and isinstance(condition, ChannelCondition):
                    return flow.channels[condition.channel].type, tuple(rest)
        case (name, *rest) if name == owner.result.name:
            return owner.result.type, tuple(rest)
    return None, ()


def domain_of(schema: Json, names: Mapping[str, Json]) -> Domain:
    schema = resolve(schema, names)
    if not isinstance(schema, dict):
        return UNKNOWN
    values = _enumerated(schema, names)
    if values is not None:
        return Domain(tuple(values), is_nullable=None in values)
    kind = schema.get("type")
    if kind in ("integer", "number"):
        low, high = _bound(schema, "inimum", max), _bound(schema, "aximum", min)
        return Domain(None, kind == "integer", True, low, high, is_nullable=False)
    return Domain(is_nullable=kind not in ("string", "array", "object"))


def _bound(schema: Mapping[str, Json], name: str, tighter: Any) -> float:
    """Of `minimum` or `maximum`; an exclusive one counts for integers only."""
    bounds: list[float] = [-math.inf if tighter is max else math.inf]
    if isinstance(inclusive := schema.get(f"m{name}"), int | float):
        bounds.append(inclusive)
    if schema.get("type") == "integer" and isinstance(bound := schema.get(f"exclusiveM{name}"), int | float):
        bounds.append(_ceiling_above(bound) if tighter is max else _floor_below(bound))
    return float(tighter(bounds))


def _enumerated(schema: Mapping[str, Json], names: Mapping[str, Json]) -> list[Json] | None:
    if "enum" in schema:
        values = schema["enum"]
        return values if all(each is None or isinstance(each, str | int | float) for each in values) else None
    if "const" in schema:
        return _enumerated({"enum": [schema["const"]]}, names)
    if schema.get("type") == "boolean":
        return [True, False]
    if schema.get("type") == "null":
        return [None]
    parts = alternatives(schema, names)
    if parts is None:
        return None
    found: list[Json] = []
    for part in parts:
        part = resolve(part, names)
        inner = _enumerated(part, names) if isinstance(part, dict) else None
        if inner is None:
            return None
        found += inner
    return found


def _with_null(domain: Domain, is_nullable: bool) -> Domain:
    return Domain(
        domain.values, domain.is_integer, domain.is_number, domain.minimum, domain.maximum, is_nullable
    )
