"""A definition without data: the same steps, waits, decisions and routes, whose expressions give what is
known of their values, and guesses where a choice hangs on what is not. The core executes it like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from orchestrator.definition.cel_tree import Node
from orchestrator.definition.expressions import Expression, Literal, Value
from orchestrator.definition.kinds import ANY_KIND, Kind
from orchestrator.definition.lifting import Typed
from orchestrator.definition.model import (
    Flow,
    ForceFail,
    Handler,
    Json,
    Options,
    SetAttribute,
    Step,
    SubflowCondition,
    TimerCondition,
)
from orchestrator.definition.types import Type
from orchestrator.verify.interpreter import Interpreter
from orchestrator.verify.unknown import known

ANY_KEY = "*"
"""Stands for every key of a channel map whose keys are computed."""
DECIDES_ITSELF = "~"
"""The handler of a step that has none: the core then leaves its decision to an event of its own."""


class Free(Type):
    """Admits everything as it is."""

    __slots__ = ()

    def check(self, value: Json) -> Json:
        return value


_FREE = Free({}, {}, "any")


class Guessing(Value):
    """An expression that the search evaluates."""

    __slots__ = ("_interpreter", "_node", "_role")

    def __init__(self, value: Value, role: str, interpreter: Interpreter) -> None:
        super().__init__(value.text, value.path, {})
        self._node: Node = value.tree[0]
        self._role = role
        self._interpreter = interpreter

    @property
    def kind(self) -> Kind:
        return ANY_KIND

    @property
    def tree(self) -> Typed:
        return self._node, ANY_KIND

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return ()

    def evaluate(self, scope: Mapping[str, Any]) -> Json:
        match self._role:
            case "when":
                return self._interpreter.holds(self._node, scope, self.path)
            case "for_each":
                return self._interpreter.elements(self._node, scope, self.path)
            case "count":
                return self._interpreter.count(self._node, scope, self.path)
            case "input":
                return self._interpreter.value(self._node, scope, self.path)
            case "map":
                value = known(self._interpreter.value(self._node, scope))
                return value if value is None or isinstance(value, dict) else {}
            case _:
                return self._interpreter.value(self._node, scope)


_ROLES = {
    "when": "when",
    "for_each": "for_each",
    "exactly": "count",
    "at_least": "count",
    "at_most": "count",
    "need": "count",
    "input": "input",
}


def strip(flow: Flow, interpreter: Interpreter) -> Flow:
    """The skeleton of a flow; its hash is the flow's, since their structure is the same."""
    return _Stripping(flow, interpreter).strip()


class _Stripping:
    def __init__(self, flow: Flow, interpreter: Interpreter) -> None:
        self._flow = flow
        self._interpreter = interpreter
        self._computed = _maps_with_computed_keys(flow)

    def strip(self) -> Flow:
        flow = self._flow
        return replace(
            flow,
            types={},
            input=None if flow.input is None else _FREE,
            output=None,
            attributes={name: replace(each, type=_FREE) for name, each in flow.attributes.items()},
            channels={name: replace(each, type=_FREE) for name, each in flow.channels.items()},
            joins={name: replace(each, type=_FREE) for name, each in flow.joins.items()},
            steps={name: self._step(step) for name, step in flow.steps.items()},
            rpcs={name: self._part(rpc) for name, rpc in flow.rpcs.items()},
            on_timeout=None if flow.on_timeout is None else self._step(flow.on_timeout),
            source=None,
        )

    def _step(self, step: Step) -> Step:
        stripped: Step = self._part(step)
        if step.execute is None:
            stripped = replace(stripped, execute=Handler(name=DECIDES_ITSELF))
        return stripped

    def _part(self, part: Any) -> Any:
        """Any piece of the model, its values and types replaced."""
        if isinstance(part, tuple):
            return tuple(self._part(each) for each in part)
        if isinstance(part, Handler):
            return replace(part, locks=(), loads=())
        if isinstance(part, Options) or not is_dataclass(part) or isinstance(part, type):
            return _FREE if isinstance(part, Type) else part
        changed = {name: self._field(part, name) for name in _field_names(type(part))}
        return replace(part, **changed)

    def _field(self, part: Any, name: str) -> Any:
        value = getattr(part, name)
        if name in ("path", "let", "locks"):
            return () if name in ("let", "locks") else value
        if name == "returns":
            return None
        if isinstance(value, Value):
            return self._value(part, name, value)
        if name == "locals":
            return tuple((key, Guessing(each, "value", self._interpreter)) for key, each in value)
        return self._part(value)

    def _value(self, part: Any, name: str, value: Value) -> Value:
        fixed = self._fixed(part, name, value)
        if fixed is not None:
            return Literal(fixed, value.path, {})
        role = _ROLES.get(name, "value")
        if isinstance(part, SetAttribute) and name == "value" and self._writes_whole_map(part):
            role = "map"
        if isinstance(part, SubflowCondition) and name == "input":
            role = "value"
        return Guessing(value, role, self._interpreter)

    def _fixed(self, part: Any, name: str, value: Value) -> Json:
        """What stands for values that the core needs in a certain form and whose content steers nothing."""
        if isinstance(part, ForceFail):
            return "reason"
        if isinstance(part, TimerCondition) and name in ("after", "at"):
            return 1 if name == "after" else "9999-01-01T00:00:00Z"
        if isinstance(part, SubflowCondition) and name in ("flow_id", "timeout"):
            return "child" if name == "flow_id" else 1
        if name == "key":
            is_computed = getattr(part, "channel", None) in self._computed or not isinstance(value, Literal)
            return ANY_KEY if is_computed or isinstance(part, SetAttribute) else str(value.evaluate({}))
        return None

    def _writes_whole_map(self, part: SetAttribute) -> bool:
        return self._flow.attributes[part.attribute].is_map and part.key is None


def _maps_with_computed_keys(flow: Flow) -> frozenset[str]:
    """Channel maps some key of which is computed, or given by a handler: their instances are taken as one."""
    found: set[str] = set()
    if not any(channel.is_map for channel in flow.channels.values()):
        return frozenset()
    for element in (*flow.steps.values(), *flow.rpcs.values(), flow.on_timeout):
        for part in _parts(element):
            if getattr(part, "key", None) is not None and not isinstance(part.key, Literal):
                found.add(getattr(part, "channel", None) or "")
            if isinstance(part, Handler) and part.may is not None:
                found.update(channel for channel in part.may.publish if flow.channels[channel].is_map)
    found.update(name for name, channel in flow.channels.items() if channel.is_map and channel.is_external)
    return frozenset(found)


def _parts(element: Any) -> Any:
    """Every piece of a part of the model that is a dataclass."""
    if isinstance(element, tuple):
        for each in element:
            yield from _parts(each)
    elif is_dataclass(element) and not isinstance(element, type):
        yield element
        for name in _field_names(type(element)):
            yield from _parts(getattr(element, name))


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
