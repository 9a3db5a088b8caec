"""Steps, the timeout handler and RPCs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from orchestrator.definition.expressions import Environment, Value
from orchestrator.definition.keys import KEYS, RPC_REFUSED
from orchestrator.definition.model import Decision, Handler, Join, Json, Path, Result, Route, Rpc, Step
from orchestrator.definition.parse_decisions import Owner, Place, read_decisions, refuse_in_rpc
from orchestrator.definition.parse_handlers import (
    Declared,
    read_execute,
    read_handler_name,
    read_handler_options,
    read_locks,
    read_route,
)
from orchestrator.definition.parse_values import Scope, check_input, read_type, read_value
from orchestrator.definition.parse_waits import read_wait_for
from orchestrator.definition.reading import Fields, Reading
from orchestrator.definition.reserved import FIXED_NAMES
from orchestrator.definition.scopes import Scopes
from orchestrator.definition.types import ANY, Type

RPC_TIMEOUT = timedelta(seconds=60)
_TIMEOUT_HANDLER = "on_timeout"


@dataclass(frozen=True)
class Surroundings:
    """What all steps and RPCs of a flow share."""

    declared: Declared
    joins: dict[str, Join]
    scopes: Scopes
    output: Type | None


def read_step(reading: Reading, name: str, node: Json, path: Path, around: Surroundings) -> Step | None:
    fields = reading.read_mapping(node, path, "step", f"step `{name}`")
    if fields is None:
        return None
    given = around.declared.inputs.get(name)
    result = read_result(fields, around.declared.types)
    lets = _Lets(fields, result)
    wait_scope = lets.wait_scope(around.scopes.wait(input=given))
    wait_for, count_before = None, len(reading.problems)
    if "wait_for" in fields:
        at = fields.at("wait_for")
        wait_for = read_wait_for(reading, fields["wait_for"], at, around.declared, around.joins, wait_scope)
    is_understood = len(reading.problems) == count_before

    def decision_environment(result: Result, has_handler: bool) -> Environment:
        if not is_understood:
            return around.scopes.decision_after_any_wait(given, result, has_handler)
        return around.scopes.decision(input=given, result=result, has_handler=has_handler, wait=wait_for)

    body = _read_body(fields, around, result, lets, decision_environment, Owner.STEP, name, given)
    return Step(
        name=name,
        description=fields.text("description"),
        input=given,
        wait_for=wait_for,
        execute=body.execute,
        result=result,
        let=body.lets,
        on_failure=body.on_failure,
        decisions=body.decisions,
        is_listed=body.is_listed,
        path=path,
    )


def read_timeout_handler(reading: Reading, node: Json, path: Path, around: Surroundings) -> Step | None:
    """`on_timeout`: a step body without `wait_for` and input."""
    if isinstance(node, dict):
        for key in ("wait_for", "input"):
            if key in node:
                reading.report(
                    "SCH008", (*path, key), f"`{key}` has no place in `on_timeout`", is_about_key=True
                )
        node = {key: value for key, value in node.items() if key not in ("wait_for", "input")}
    fields = reading.read_mapping(node, path, "on_timeout", "`on_timeout`")
    if fields is None:
        return None
    result = read_result(fields, around.declared.types)

    def environment(result: Result, has_handler: bool) -> Environment:
        return around.scopes.timeout_handler(result=result, has_handler=has_handler)

    lets = _Lets(fields, result)
    body = _read_body(fields, around, result, lets, environment, Owner.TIMEOUT, _TIMEOUT_HANDLER, None)
    return Step(
        name=_TIMEOUT_HANDLER,
        description=fields.text("description"),
        execute=body.execute,
        result=result,
        let=body.lets,
        on_failure=body.on_failure,
        decisions=body.decisions,
        is_listed=body.is_listed,
        path=path,
    )


@dataclass(frozen=True)
class _Body:
    """The part that steps and the timeout handler share: Execute and its decisions."""

    execute: Handler | None
    lets: tuple[tuple[str, Value], ...]
    on_failure: Route | None
    decisions: tuple[Decision, ...]
    is_listed: bool


def _read_body(
    fields: Fields,
    around: Surroundings,
    result: Result,
    lets: _Lets,
    environment_for: Callable[[Result, bool], Environment],
    owner: Owner,
    name: str,
    given: Type | None,
) -> _Body:
    reading = fields.reading
    has_handler = "execute" in fields
    values, scope = lets.read(environment_for(result, has_handler))
    execute = None
    if has_handler:
        before = Scope(environment_for(Result(), False), scope.taken)
        execute = read_execute(reading, fields["execute"], fields.at("execute"), around.declared, before)
    route = None
    if "on_failure" in fields:
        origin = name if owner is Owner.STEP else ""
        at = fields.at("on_failure")
        route = read_route(reading, fields["on_failure"], at, given, origin, around.declared, scope)
    place = Place(owner, name, scope, around.declared, around.joins, given, around.output, has_handler)
    return _Body(execute, values, route, *read_decisions(fields, place))


# --- result and let ----------------------------------------------------------------------------------------


def read_result(fields: Fields, types: Mapping[str, Json]) -> Result:
    """`result: name` or `{name, type}`."""
    if "result" not in fields:
        return Result()
    reading, node, path = fields.reading, fields["result"], fields.at("result")
    taken = FIXED_NAMES - {"result"}
    if not isinstance(node, dict):
        return Result(reading.read_scope_name(node, path, "result", taken) or "result", path=path)
    inner = reading.read_mapping(node, path, "result", "`result`")
    if inner is None:
        return Result(path=path)
    name = "result"
    if "name" in inner:
        name = reading.read_scope_name(inner["name"], inner.at("name"), "result", taken) or "result"
    type_ = read_type(reading, inner["type"], inner.at("type"), types) if "type" in inner else None
    return Result(name, type_, path=path)


class _Lets:
    """`let`: names for values, in order; a later one may use the earlier ones."""

    def __init__(self, fields: Fields, result: Result) -> None:
        self._fields = fields
        self._taken = FIXED_NAMES | {result.name}
        self._nodes: list[tuple[str, Json, Path]] = []
        self._later = {"wait", "local", "wait_for_failed", result.name}
        """Known only once the wait is over."""
        if "let" not in fields:
            return
        reading = fields.reading
        for name, node, at in reading.read_named(fields["let"], fields.at("let"), "`let`"):
            if reading.read_scope_name(name, at, "`let`", self._taken, is_key=True) is not None:
                self._nodes.append((name, node, at))

    def read(self, environment: Environment) -> tuple[tuple[tuple[str, Value], ...], Scope]:
        """All of them, a wrong one is reported, and the scope with their names."""
        values = []
        for name, node, at in self._nodes:
            value = read_value(self._fields.reading, node, at, Scope(environment), f"`{name}`")
            if value is not None:
                values.append((name, value))
                environment = environment.with_let(name, value)
            else:
                environment = environment.with_name(name, ANY)
        return tuple(values), Scope(environment, self._names())

    def wait_scope(self, environment: Environment) -> Scope:
        """The scope of a wait: only with those that read neither `wait` nor the result."""
        out_of_reach: dict[str, str] = {}
        silent = Reading(self._fields.reading.source)
        for name, node, at in self._nodes:
            value = read_value(silent, node, at, Scope(environment), f"`{name}`")
            if value is not None:
                environment = environment.with_let(name, value)
            elif any(f"`{later}`" in silent.problems[-1].message for later in {*self._later, *out_of_reach}):
                out_of_reach[name] = (
                    f"`{name}` reads `wait` or the result, which `wait_for` cannot see: it comes before both"
                )
            else:
                environment = environment.with_name(name, ANY)
        return Scope(environment, self._names(), out_of_reach)

    def _names(self) -> frozenset[str]:
        return self._taken | {name for name, _, _ in self._nodes}


# --- RPCs --------------------------------------------------------------------------------------------------


def read_rpc(reading: Reading, name: str, node: Json, path: Path, around: Surroundings) -> Rpc | None:
    """Section 7."""
    refused = [key for key in node if key in RPC_REFUSED] if isinstance(node, dict) else []
    for key in refused:
        refuse_in_rpc(reading, key, (*path, key))
    known = {key: value for key, value in node.items() if key not in refused} if refused else node
    fields = reading.read_mapping(known, path, "rpc", f"RPC `{name}`")
    if fields is None:
        return None
    fields.has_unknown = fields.has_unknown or bool(refused)
    types = around.declared.types
    given = output = None
    if "input" in fields:
        given = read_type(reading, fields["input"], fields.at("input"), types) or ANY
    if "output" in fields:
        output = read_type(reading, fields["output"], fields.at("output"), types) or ANY
    result = read_result(fields, types)
    has_handler = "handler" in fields
    lets = _Lets(fields, result)
    environment = around.scopes.rpc(input=given, result=result, has_handler=has_handler)
    values, scope = lets.read(environment)
    before = Scope(around.scopes.rpc(input=given, result=Result(), has_handler=False), scope.taken)
    handler = _read_rpc_handler(fields, around.declared, before)
    locks = handler.locks if handler is not None else ()
    if handler is None and "locks" in fields:
        locks = read_locks(reading, fields["locks"], fields.at("locks"), around.declared, before)
    place = Place(Owner.RPC, name, scope, around.declared, around.joins, None, output, has_handler)
    decisions, is_listed = read_decisions(fields, place)
    rpc = Rpc(
        name=name,
        description=fields.text("description"),
        input=given,
        output=output,
        handler=handler,
        locks=locks,
        result=result,
        let=values,
        decisions=decisions,
        is_listed=is_listed,
        path=path,
    )
    _check_rpc_output(fields, rpc, has_handler)
    return rpc


def _read_rpc_handler(fields: Fields, declared: Declared, scope: Scope) -> Handler | None:
    reading = fields.reading
    if "handler" not in fields:
        options = ("timeout", "loads", "may")
        fields.refuse(options, "is for the RPC's handler, and there is none", help="remove it")
        return None
    name = read_handler_name(reading, fields["handler"], fields.at("handler"))
    handler = read_handler_options(fields, name or "", declared, scope, default_timeout=RPC_TIMEOUT)
    if handler.timeout > RPC_TIMEOUT:
        reading.report("SCH004", fields.at("timeout"), "`timeout` of an RPC is at most 60s")
        handler = replace(handler, timeout=RPC_TIMEOUT)
    return handler if name is not None else None


def _check_rpc_output(fields: Fields, rpc: Rpc, has_handler: bool) -> None:
    """Without `returns` the output is the handler's result, else null."""
    if rpc.output is None:
        return
    for decision in rpc.decisions:
        if decision.returns is not None or decision.reject is not None:
            continue
        if _has_unread_returns(fields, decision.path):
            continue
        if has_handler and rpc.result.type is not None:
            check_input(fields.reading, rpc.name, rpc.output, rpc.result.type, decision.path, what="")
        elif not has_handler and not rpc.output.admits_null:
            message = f"the output of `{rpc.name}` is {rpc.output.text}, and this decision returns nothing"
            fields.reading.report("TYP006", decision.path, message, help="give it `returns`")


def _has_unread_returns(fields: Fields, path: Path) -> bool:
    """Whether what the decision gives is written but has a problem of its own."""
    if path == fields.path:
        return "returns" in fields or fields.has_unknown
    entries = fields.values.get("decide")
    node = entries[path[-1]] if isinstance(entries, list) and isinstance(path[-1], int) else None
    return isinstance(node, dict) and ("returns" in node or not set(node) <= set(KEYS["rpc_decision"]))
