"""Which names an expression sees, by the place where it stands (language.md 6.1, "In scope")."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeAlias

from orchestrator.definition.expressions import Environment, Seen
from orchestrator.definition.kinds import ANY_KIND, TIME_SCHEMA, Kind, kind_of
from orchestrator.definition.model import (
    Attribute,
    Channel,
    ChannelCondition,
    Combinator,
    Condition,
    Join,
    JoinCondition,
    Json,
    Result,
    TimerCondition,
    WaitFor,
)
from orchestrator.definition.types import Type

Schema: TypeAlias = Mapping[str, Json]

_STRING: Schema = {"type": "string"}
_INTEGER: Schema = {"type": "integer"}
_BOOLEAN: Schema = {"type": "boolean"}
_NOTHING: Schema = {"type": "null"}


def _object(properties: Mapping[str, Schema], *, is_open: bool = False) -> Schema:
    closed = {"type": "object", "required": list(properties), "properties": dict(properties)}
    return {**closed, "additionalProperties": True} if is_open else closed


def _list(element: Schema) -> Schema:
    return {"type": "array", "items": dict(element)}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [dict(schema), dict(_NOTHING)]}


_FAILURE = _object(
    {
        "type": _STRING,
        "message": _STRING,
        "attempts": _INTEGER,
        "step_execution_id": _STRING,
        "progress": {"enum": ["NOT_STARTED", "NOT_COMPLETED"]},
    }
)
_STEP = _object({"name": _STRING, "execution_id": _STRING, "attempt": _INTEGER})
_SUBFLOW = _object(
    {
        "satisfied": _BOOLEAN,
        "status": _or_null({"type": "string"}),
        "outputs": {"type": "array"},
        "output": {},
        "error": {},
        "flow_id": _or_null(_STRING),
    }
)
_FAILURE_KIND, _STEP_KIND = kind_of(_or_null(_FAILURE), {}), kind_of(_STEP, {})
_OF_A_STEP = {"failure": _FAILURE_KIND, "wait_for_failed": kind_of(_BOOLEAN, {}), "step": _STEP_KIND}
_NOT_IN_A_WAIT = "`{}` is known in decisions only; keep what a wait needs in `local`"
_NOT_IN_AN_RPC = "an RPC has no `{}`"
_NOT_IN_THE_TIMEOUT = "the timeout handler has no `{}`"


class Scopes:
    """The environments of one flow."""

    def __init__(
        self,
        *,
        attributes: Mapping[str, Attribute],
        channels: Mapping[str, Channel],
        joins: Mapping[str, Join],
        flow_input: Type | None,
        types: Mapping[str, Json],
    ) -> None:
        self._types = types
        self._channels = channels
        self._joins = joins
        run = {
            "flow_id": _STRING,
            "run_id": _STRING,
            "attempt": _INTEGER,
            "started_at": TIME_SCHEMA,
            "input": _NOTHING if flow_input is None else flow_input.schema,
        }
        common: dict[str, Schema] = {
            "attributes": _object({name: _attribute(each) for name, each in attributes.items()}),
            "channels": _object({name: _object({"size": _INTEGER}) for name in channels}),
            "run": _object(run),
            "now": TIME_SCHEMA,
        }
        self._common = {name: kind_of(schema, types) for name, schema in common.items()}
        self._seen: dict[Hashable, Seen] = {}
        self._kinds: dict[int, tuple[Schema, Kind]] = {}
        """By identity of the schema, which is kept so that its identity is not given away."""

    def wait(self, *, input: Type | None) -> Environment:
        """Expressions inside `wait_for`."""
        kinds = {"input": self._input(input), "failure": _FAILURE_KIND, "step": _STEP_KIND}
        hidden = ("wait", "local", "result", "wait_for_failed")
        return self._made(kinds, hidden, _NOT_IN_A_WAIT)

    def decision(
        self, *, input: Type | None, result: Result, has_handler: bool, wait: WaitFor | None
    ) -> Environment:
        return self._made(
            {
                "input": self._input(input),
                "wait": self._kind(self._wait(wait)),
                "local": self._kind(_local(wait)),
                **_OF_A_STEP,
                result.name: self._kind(_result(result, has_handler)),
            }
        )

    def decision_after_any_wait(self, input: Type | None, result: Result, has_handler: bool) -> Environment:
        """Where the wait has problems of its own, nothing is said of what is read of it."""
        made = {"wait": ANY_KIND, "local": ANY_KIND, result.name: self._kind(_result(result, has_handler))}
        return self._made({"input": self._input(input), **_OF_A_STEP, **made})

    def rpc(self, *, input: Type | None, result: Result, has_handler: bool) -> Environment:
        kinds = {"input": self._input(input), result.name: self._kind(_result(result, has_handler))}
        return self._made(kinds, ("wait", "local", "failure", "wait_for_failed", "step"), _NOT_IN_AN_RPC)

    def timeout_handler(self, *, result: Result, has_handler: bool) -> Environment:
        kinds = {**_OF_A_STEP, result.name: self._kind(_result(result, has_handler))}
        return self._made(kinds, ("input", "wait", "local"), _NOT_IN_THE_TIMEOUT)

    def _made(self, kinds: Mapping[str, Kind], hidden: tuple[str, ...] = (), why: str = "") -> Environment:
        """With `kinds` beside what is in scope everywhere."""
        kinds = {**self._common, **kinds}
        told = {name: why.format(name) for name in hidden if name not in kinds}
        return Environment.of_kinds(kinds, types=self._types, hidden=told, seen=self._seen)

    def _input(self, input: Type | None) -> Kind:
        return self._kind(_NOTHING if input is None else input.schema)

    def _kind(self, schema: Schema) -> Kind:
        found = self._kinds.get(id(schema))
        if found is None:
            found = self._kinds[id(schema)] = (schema, kind_of(schema, self._types))
        return found[1]

    def _wait(self, wait: WaitFor | None) -> Schema:
        conditions = () if wait is None else wait.conditions
        return _object({condition.id: self._condition(condition) for condition in conditions})

    def _condition(self, condition: Condition) -> Schema:
        """The result of one condition (language.md 4, "Results")."""
        found = self._plain_condition(condition)
        if condition.for_each is None:
            return found
        properties = {**found["properties"], "item": _element_schema(condition)}
        if isinstance(condition, ChannelCondition) and self._is_map(condition.channel):
            properties["key"] = _or_null(_STRING)
        return _list(_object(properties))

    def _plain_condition(self, condition: Condition) -> Schema:
        if isinstance(condition, TimerCondition):
            return _object({"satisfied": _BOOLEAN, "fired": _BOOLEAN})
        if isinstance(condition, ChannelCondition):
            channel = self._channels.get(condition.channel)
            return _messages({} if channel is None else channel.type.schema)
        if isinstance(condition, JoinCondition):
            join = self._joins.get(condition.join)
            report = {} if join is None else join.type.schema
            found = _messages(report)
            return _object({**found["properties"], "by_branch": _list(_or_null(report) if report else {})})
        return _SUBFLOW

    def _is_map(self, channel: str) -> bool:
        return channel in self._channels and self._channels[channel].is_map


def _attribute(attribute: Attribute) -> Schema:
    if attribute.is_map:
        return {"type": "object", "additionalProperties": dict(attribute.type.schema)}
    return attribute.type.schema


def _messages(message: Schema) -> Schema:
    """`message` is typed as if it were there, as an attribute is; no type can tell a guard."""
    return _object({"satisfied": _BOOLEAN, "messages": _list(message), "message": message})


def _element_schema(condition: Condition) -> Schema:
    elements = condition.for_each
    if elements is None or elements.type.schema.get("type") != "array":
        return {}
    found = elements.type.schema.get("items", {})
    return found if isinstance(found, dict) else {}


def _result(result: Result, has_handler: bool) -> Schema:
    if not has_handler:
        return _NOTHING
    return {} if result.type is None else result.type.schema


def _local(wait: WaitFor | None) -> Schema:
    if wait is None:
        return _object({})
    declared = {name: value.type.schema for name, value in wait.locals}
    return _object(declared, is_open=wait.combinator is Combinator.HANDLER or wait.handler is not None)
