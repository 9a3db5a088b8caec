"""Handlers, their options, and failure routes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from orchestrator.definition.expressions import Value
from orchestrator.definition.model import (
    DEFAULT_TIMEOUT,
    Attribute,
    Channel,
    Durability,
    Handler,
    Json,
    Load,
    Lock,
    May,
    MayRange,
    MethodOverride,
    Options,
    Path,
    RetryPolicy,
    Route,
)
from orchestrator.definition.parse_values import Scope, check_input, read_key
from orchestrator.definition.reading import Fields, Reading, shown
from orchestrator.definition.types import Type

_HANDLER_NAME = re.compile(r"([A-Za-z_]\w*(\.[A-Za-z_]\w*)*:)?[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")
_EXCEPTION_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")
FAILURE_POLICIES = ("fail", "proceed")


@dataclass(frozen=True)
class Declared:
    """What a flow declares, for the parts that refer to it. `inputs` has every declared step."""

    attributes: Mapping[str, Attribute]
    channels: Mapping[str, Channel]
    inputs: Mapping[str, Type | None]
    types: Mapping[str, Json]

    def has_keys(self, channel: str) -> bool:
        """Whether it is a channel map; true for one that is not known, which has a problem of its own."""
        return channel not in self.channels or self.channels[channel].is_map


def read_handler_name(reading: Reading, node: Json, path: Path) -> str | None:
    name = reading.read_text(node, path, "the name of a handler")
    if name is not None and _HANDLER_NAME.match(name) is None:
        reading.report(
            "SCH012", path, f"`{name}` is not the name of a handler", help="write `name` or `module:name`"
        )
        return None
    return name


def read_execute(
    reading: Reading, node: Json, path: Path, declared: Declared, scope: Scope
) -> Handler | None:
    """`execute: name`, or the mapping with its options."""
    if not isinstance(node, dict):
        name = read_handler_name(reading, node, path)
        return Handler(name, path=path) if name is not None else None
    fields = reading.read_mapping(node, path, "execute", "`execute`")
    if fields is None:
        return None
    name = None
    if fields.require("handler", help="the name of a Python function"):
        name = read_handler_name(reading, fields["handler"], fields.at("handler"))
    options = read_handler_options(fields, name or "", declared, scope)
    return options if name is not None else None


def read_handler_options(
    fields: Fields,
    name: str,
    declared: Declared,
    scope: Scope,
    *,
    default_timeout: timedelta = DEFAULT_TIMEOUT,
) -> Handler:
    """The options beside a handler's name; each wrong one is reported and left at its default."""
    reading = fields.reading
    handler = Handler(name, timeout=default_timeout, path=fields.path)
    if "may" in fields:
        handler = replace(handler, may=read_may(reading, fields["may"], fields.at("may")))
    if (timeout := _positive_duration(fields, "timeout")) is not None:
        handler = replace(handler, timeout=timeout)
    if (heartbeat := _positive_duration(fields, "heartbeat")) is not None:
        handler = replace(handler, heartbeat=heartbeat)
    if "retry" in fields:
        handler = replace(handler, retry=read_retry(reading, fields["retry"], fields.at("retry")))
    if "locks" in fields:
        handler = replace(
            handler, locks=read_locks(reading, fields["locks"], fields.at("locks"), declared, scope)
        )
    if "loads" in fields:
        handler = replace(
            handler, loads=read_loads(reading, fields["loads"], fields.at("loads"), declared, scope)
        )
    if "durability" in fields:
        durability = read_durability(reading, fields["durability"], fields.at("durability"))
        handler = replace(handler, durability=durability)
    if "transactional" in fields:
        handler = replace(handler, transactional=fields.flag("transactional"))
    return handler


def _positive_duration(fields: Fields, key: str) -> timedelta | None:
    span = fields.duration(key)
    if span is not None and span <= timedelta(0):
        fields.reading.report("SCH004", fields.at(key), f"`{key}` is longer than zero")
        return None
    return span


def read_durability(reading: Reading, node: Json, path: Path) -> Durability | None:
    word = reading.read_word(node, path, "`durability`", tuple(Durability))
    return Durability(word) if word is not None else None


def read_retry(reading: Reading, node: Json, path: Path) -> RetryPolicy:
    """Rule 146."""
    fields = reading.read_mapping(node, path, "retry", "`retry`")
    policy = RetryPolicy(path=path)
    if fields is None:
        return policy
    if (interval := fields.duration("initial_interval")) is not None:
        policy = replace(policy, initial_interval=interval)
    if (interval := fields.duration("maximum_interval")) is not None:
        policy = replace(policy, maximum_interval=interval)
    if (total := _positive_duration(fields, "total_duration")) is not None:
        policy = replace(policy, total_duration=total)
    if "maximum_attempts" in fields:
        node, at = fields["maximum_attempts"], fields.at("maximum_attempts")
        count = reading.read_integer(node, at, "`maximum_attempts` (0 is unlimited)")
        policy = replace(policy, maximum_attempts=count or 0)
    if "backoff_coefficient" in fields:
        node = fields["backoff_coefficient"]
        if isinstance(node, bool) or not isinstance(node, int | float) or not 1 <= node <= 1_000_000:
            message = f"`backoff_coefficient` is a number from 1, not {shown(node)}"
            reading.report("SCH010", fields.at("backoff_coefficient"), message)
        else:
            policy = replace(policy, backoff_coefficient=float(node))
    if "non_retryable" in fields:
        names = _read_exception_names(reading, fields["non_retryable"], fields.at("non_retryable"))
        policy = replace(policy, non_retryable=names)
    return policy


def _read_exception_names(reading: Reading, node: Json, path: Path) -> tuple[str, ...]:
    names = []
    for index, item in enumerate(reading.read_list(node, path, "`non_retryable`", allows_empty=True) or []):
        name = reading.read_text(item, (*path, index), "the name of an exception class")
        if name is not None and _EXCEPTION_NAME.match(name) is None:
            reading.report("SCH012", (*path, index), f"`{name}` is not the name of an exception class")
        elif name is not None:
            names.append(name)
    return tuple(names)


# --- may, locks, loads -------------------------------------------------------------------------------------


def read_may(reading: Reading, node: Json, path: Path) -> May | None:
    fields = reading.read_mapping(node, path, "may", "`may`")
    if fields is None:
        return None
    kinds = {"publish": "channel", "set": "attribute", "cancel": "step"}
    ranges = {key: _read_ranges(fields, key, kind) for key, kind in kinds.items() if key in fields}
    return May(**ranges, path=path)


def _read_ranges(fields: Fields, key: str, kind: str) -> dict[str, MayRange]:
    reading, node, path = fields.reading, fields[key], fields.at(key)
    if isinstance(node, list):
        return {name: MayRange() for name in reading.read_references(node, path, kind, f"`{key}`")}
    ranges = {}
    for name, item, at in reading.read_named(node, path, f"`{key}` under `may`"):
        known = reading.read_reference(name, at, kind, is_key=True)
        span = _read_range(reading, item, at)
        if known is not None and span is not None:
            ranges[known] = span
    return ranges


def _read_range(reading: Reading, node: Json, path: Path) -> MayRange | None:
    """`1`: exactly so many per successful call; `{min, max}`: between."""
    if not isinstance(node, dict):
        count = reading.read_integer(node, path, "how often")
        return MayRange(count, count) if count is not None else None
    fields = reading.read_mapping(node, path, "range", "how often")
    if fields is None:
        return None
    minimum = reading.read_integer(fields["min"], fields.at("min"), "`min`") if "min" in fields else 0
    maximum = reading.read_integer(fields["max"], fields.at("max"), "`max`") if "max" in fields else None
    if minimum is not None and maximum is not None and minimum > maximum:
        reading.report("SCH010", fields.at("max"), f"`max` is at least `min`, which is {minimum}")
        return None
    return MayRange(minimum or 0, maximum)


def read_locks(
    reading: Reading, node: Json, path: Path, declared: Declared, scope: Scope
) -> tuple[Lock, ...]:
    """`[status, {progress: payment}]`."""
    locks = []
    for index, item in enumerate(reading.read_list(node, path, "`locks`", allows_empty=True) or []):
        at = (*path, index)
        found = _read_place(reading, item, at, declared, scope)
        if found is not None:
            locks.append(Lock(found[0], found[1], path=at))
    return tuple(locks)


def read_loads(
    reading: Reading, node: Json, path: Path, declared: Declared, scope: Scope
) -> tuple[Load, ...]:
    """`[progress, {progress: payment}, {channel: c}]`."""
    loads = []
    for index, item in enumerate(reading.read_list(node, path, "`loads`", allows_empty=True) or []):
        at = (*path, index)
        if isinstance(item, dict) and "channel" in item and set(item) <= {"channel", "key"}:
            channel = reading.read_reference(item["channel"], (*at, "channel"), "channel")
            key = None
            if "key" in item:
                key = read_key(reading, item["key"], (*at, "key"), scope, "`key`")
                if channel is not None and not declared.has_keys(channel):
                    reading.report(
                        "SCH008",
                        (*at, "key"),
                        f"`{channel}` is not a channel map and has no keys",
                        is_about_key=True,
                    )
            if channel is not None:
                loads.append(Load(channel=channel, key=key, path=at))
            continue
        found = _read_place(reading, item, at, declared, scope)
        if found is not None:
            loads.append(Load(attribute=found[0], key=found[1], path=at))
    return tuple(loads)


def _read_place(
    reading: Reading, node: Json, path: Path, declared: Declared, scope: Scope
) -> tuple[str, Value | None] | None:
    """An attribute, or `{map: key}`."""
    if not isinstance(node, dict):
        name = reading.read_reference(node, path, "attribute")
        return (name, None) if name is not None else None
    if len(node) != 1:
        reading.report("SCH003", path, "one entry of a map is written {map: key}, one a list item")
        return None
    (name, key_node), *_ = node.items()
    known = reading.read_reference(name, (*path, name), "attribute", is_key=True)
    key = read_key(reading, key_node, (*path, name), scope, "the key")
    if known is None or key is None:
        return None
    if known in declared.attributes and not declared.attributes[known].is_map:
        message = f"`{known}` is not an attribute map and has no keys"
        reading.report("SCH008", (*path, name), message, help=f"write `{known}` alone", is_about_key=True)
        return None
    return known, key


# --- Options and routes ------------------------------------------------------------------------------------


def read_options(
    reading: Reading, node: Json, path: Path, target: str | None, declared: Declared, scope: Scope
) -> Options | None:
    """`options:` of a movement or route to `target` (rule 118)."""
    fields = reading.read_mapping(node, path, "options", "`options`")
    if fields is None:
        return None
    wait_for = _read_override(fields, "wait_for", "wait_options", declared, scope)
    execute = _read_override(fields, "execute", "execute_options", declared, scope)
    route = None
    if "on_failure" in fields:
        at = fields.at("on_failure")
        given = declared.inputs.get(target) if target is not None else None
        route = read_route(reading, fields["on_failure"], at, given, target, declared, scope)
    return Options(wait_for, execute, route, path=path)


def _read_override(
    fields: Fields, key: str, kind: str, declared: Declared, scope: Scope
) -> MethodOverride | None:
    if key not in fields:
        return None
    reading = fields.reading
    inner = reading.read_mapping(fields[key], fields.at(key), kind, f"`options` of `{key}`")
    if inner is None:
        return None
    policy = None
    if "on_failure" in inner:
        policy = reading.read_word(
            inner["on_failure"], inner.at("on_failure"), "`on_failure`", FAILURE_POLICIES
        )
    handler = read_handler_options(inner, "", declared, scope)
    return MethodOverride(
        retry=handler.retry if "retry" in inner else None,
        timeout=handler.timeout if "timeout" in inner else None,
        on_failure=policy,
        heartbeat=handler.heartbeat,
        locks=handler.locks if "locks" in inner else None,
        loads=handler.loads if "loads" in inner else None,
        durability=handler.durability,
    )


def read_route(
    reading: Reading,
    node: Json,
    path: Path,
    given: Type | None,
    origin: str | None,
    declared: Declared,
    scope: Scope,
) -> Route | None:
    """A failure route (rule 151); the recovery step gets the failed step's input, of type `given`."""
    options = None
    at = path
    if isinstance(node, dict):
        fields = reading.read_mapping(node, path, "route", "a failure route")
        if fields is None or not fields.require("step"):
            return None
        at = fields.at("step")
        step = reading.read_reference(fields["step"], at, "step")
        if "options" in fields:
            options = read_options(reading, fields["options"], fields.at("options"), step, declared, scope)
    else:
        step = reading.read_reference(node, path, "step")
    if step is None:
        return None
    if origin is not None:
        owner = f"`{origin}` has none to hand on" if origin else "the timeout handler has none to hand on"
        check_input(reading, step, declared.inputs.get(step), given, at, what=owner)
    return Route(step, options, path=path)
