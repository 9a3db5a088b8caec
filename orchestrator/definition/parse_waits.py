"""`wait_for`: conditions, how they combine, and what is committed when the wait is accepted (section 4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from orchestrator.definition.durations import parse_duration
from orchestrator.definition.expressions import Value
from orchestrator.definition.keys import CONDITION_KINDS
from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Condition,
    Handler,
    Join,
    JoinCondition,
    Json,
    Path,
    SubflowCondition,
    TimerCondition,
    WaitFor,
)
from orchestrator.definition.parse_effects import read_channel_key, read_effects
from orchestrator.definition.parse_handlers import (
    FAILURE_POLICIES,
    Declared,
    read_durability,
    read_handler_name,
    read_handler_options,
)
from orchestrator.definition.parse_values import (
    Repetition,
    Scope,
    read_count,
    read_repetition,
    read_span,
    read_string,
    read_time,
    read_value,
)
from orchestrator.definition.reading import Fields, Reading, shown

_COMBINATORS = ("until", "any_of", "all_of", "any_combination_of", "handler")
_NEEDS_HANDLER = ("timeout", "retry", "may", "locks", "loads")
_REUSE = ("restart_if_previous_exits_abnormally", "attach", "always_restart")
_IF_ABANDONED = ("continue", "cancel", "terminate")
_NEEDS = ("all", "active", "first")
_REFUSED_IN_FLOW_IDS = "/$:"


@dataclass
class _Wait:
    """What reading one `wait_for` keeps at hand."""

    reading: Reading
    declared: Declared
    scope: Scope
    ids: set[str] = field(default_factory=set)


def read_wait_for(
    reading: Reading, node: Json, path: Path, declared: Declared, joins: dict[str, Join], scope: Scope
) -> WaitFor | None:
    fields = reading.read_mapping(node, path, "wait_for", "`wait_for`")
    if fields is None:
        return None
    combinators = [key for key in fields.values if key in _COMBINATORS]
    if combinators:
        fields.exclude(combinators[0], combinators[1:], help="a wait combines its conditions in one way")
    combinator = _combinator(fields, combinators)
    if combinator not in (Combinator.ANY_COMBINATION_OF, Combinator.HANDLER):
        fields.refuse(("conditions",), "stands beside `any_combination_of` or `handler`")
    wait = _Wait(reading, declared, scope)
    conditions = _read_conditions(fields, combinator, wait)
    groups: tuple[tuple[str, ...], ...] = ()
    if combinator is Combinator.ANY_COMBINATION_OF:
        groups = _read_groups(fields, wait.ids)
    handler = _read_handler(fields, declared, scope)
    effects = read_effects(fields, declared, joins, scope)
    proceeds = False
    if "on_failure" in fields:
        at = fields.at("on_failure")
        proceeds = (
            reading.read_word(fields["on_failure"], at, "`on_failure` of a wait", FAILURE_POLICIES)
            == "proceed"
        )
    locals_ = _read_locals(fields, scope) if "local" in fields else ()
    return WaitFor(combinator, conditions, groups, handler, effects.effects, locals_, proceeds, path=path)


def _combinator(fields: Fields, written: list[str]) -> Combinator:
    """`all_of: []` is the wait without conditions, which holds at once (rule 63)."""
    if not written or (written[0] == "all_of" and fields["all_of"] == []):
        return Combinator.NONE
    return Combinator(written[0])


def _read_handler(fields: Fields, declared: Declared, scope: Scope) -> Handler | None:
    if "handler" not in fields:
        help = "to limit how long a step waits, add a timer condition: any_of: [{…}, {timer: 30m}]"
        fields.refuse(("timeout",), "is that of the wait's handler, and there is none", help=help)
        fields.refuse(_NEEDS_HANDLER, "is for the wait's handler, and there is none")
        return None
    name = read_handler_name(fields.reading, fields["handler"], fields.at("handler"))
    options = read_handler_options(fields, name or "", declared, scope)
    return options if name is not None else None


def _read_locals(fields: Fields, scope: Scope) -> tuple[tuple[str, Value], ...]:
    reading = fields.reading
    locals_ = []
    for name, item, at in reading.read_named(fields["local"], fields.at("local"), "`local`"):
        known = reading.read_identifier(name, at, "local", is_key=True)
        value = read_value(reading, item, at, scope, f"`{name}`")
        if known is not None and value is not None:
            locals_.append((known, value))
    return tuple(locals_)


def _read_groups(fields: Fields, ids: set[str]) -> tuple[tuple[str, ...], ...]:
    reading = fields.reading
    path = fields.at("any_combination_of")
    groups = []
    reading.names["condition"] = ids
    for index, node in enumerate(
        reading.read_list(fields["any_combination_of"], path, "`any_combination_of`") or []
    ):
        at = (*path, index)
        groups.append(reading.read_references(node, at, "condition", "a group of conditions"))
    reading.names["condition"] = ()
    return tuple(group for group in groups if group)


# --- Conditions --------------------------------------------------------------------------------------------


def _read_conditions(fields: Fields, combinator: Combinator, wait: _Wait) -> tuple[Condition, ...]:
    reading = fields.reading
    if combinator is Combinator.NONE:
        return ()
    if combinator in (Combinator.ANY_COMBINATION_OF, Combinator.HANDLER):
        return _read_named_conditions(fields, combinator, wait)
    key = combinator.value
    path = fields.at(key)
    if combinator is Combinator.UNTIL:
        node = fields[key]
        if isinstance(node, list):
            reading.report(
                "SCH003", path, "`until` has one condition, not a list", help="use `any_of` or `all_of`"
            )
            return ()
        nodes = [(node, path)]
    else:
        nodes = [
            (node, (*path, i))
            for i, node in enumerate(reading.read_list(fields[key], path, f"`{key}`") or [])
        ]
    ids = _choose_ids(nodes, wait)
    found = [_read_condition(node, at, id, wait) for (node, at), id in zip(nodes, ids, strict=True)]
    return tuple(condition for condition in found if condition is not None)


def _read_named_conditions(fields: Fields, combinator: Combinator, wait: _Wait) -> tuple[Condition, ...]:
    reading = fields.reading
    if "conditions" not in fields:
        if combinator is Combinator.ANY_COMBINATION_OF:
            fields.require("conditions", help="name the conditions that the groups speak of")
        return ()
    conditions = []
    for name, node, at in reading.read_named(fields["conditions"], fields.at("conditions"), "`conditions`"):
        wait.ids.add(name)
        id = reading.read_identifier(name, at, "condition", is_key=True)
        if isinstance(node, dict) and "id" in node:
            reading.report(
                "SCH008",
                (*at, "id"),
                "`id` has no place inside `conditions`: the key is the id",
                is_about_key=True,
            )
            node = {key: value for key, value in node.items() if key != "id"}
        condition = _read_condition(node, at, id or name, wait)
        if id is not None and condition is not None:
            conditions.append(condition)
    return tuple(conditions)


def _choose_ids(nodes: list[tuple[Json, Path]], wait: _Wait) -> list[str]:
    """Written ids first; the others get the name of what they wait for, a second one `_2` and so on."""
    reading = wait.reading
    first_at: dict[str, Path] = {}
    for node, path in nodes:
        if isinstance(node, dict) and "id" in node:
            at = (*path, "id")
            id = reading.read_identifier(node["id"], at, "condition id")
            if id is not None and id in first_at:
                reading.report(
                    "NAM005",
                    at,
                    f"condition id `{id}` is used twice in this wait",
                    labels={"first used here": first_at[id]},
                )
            elif id is not None:
                first_at[id] = at
    wait.ids.update(first_at)
    chosen = []
    for node, _ in nodes:
        if isinstance(node, dict) and isinstance(node.get("id"), str):
            chosen.append(node["id"])
            continue
        name = _default_id(node)
        id, number = name, 1
        while id in wait.ids:
            number += 1
            id = f"{name}_{number}"
        wait.ids.add(id)
        chosen.append(id)
    return chosen


def _default_id(node: Json) -> str:
    if isinstance(node, dict):
        for key in ("channel", "join", "subflow"):
            if isinstance(node.get(key), str):
                return str(node[key])
    return "timer"


def _read_condition(node: Json, path: Path, id: str, wait: _Wait) -> Condition | None:
    reading = wait.reading
    if not isinstance(node, dict):
        reading.report(
            "SCH003", path, f"a condition is a mapping, not {shown(node)}", help=_propose(node, reading)
        )
        return None
    kinds = [kind for kind in CONDITION_KINDS if kind in node]
    if len(kinds) != 1:
        if kinds:
            reading.report(
                "SCH005",
                (*path, kinds[1]),
                f"`{kinds[0]}` and `{kinds[1]}` cannot stand together in a condition",
                is_about_key=True,
            )
        elif (
            fields := reading.read_mapping(node, path, "condition", "a condition")
        ) and not fields.has_unknown:
            help = "one of " + ", ".join(f"`{kind}`" for kind in CONDITION_KINDS)
            reading.report("SCH002", path, "a condition says what it waits for", help=help)
        return None
    kind = kinds[0]
    fields = reading.read_mapping(node, path, f"{kind} condition", f"a {kind} condition")
    if fields is None:
        return None
    repetition = read_repetition(fields, wait.scope)
    common: dict[str, Any] = {
        "id": id,
        "when": repetition.when,
        "for_each": repetition.for_each,
        "as_name": repetition.as_name,
        "path": path,
    }
    if kind == "channel":
        return _read_channel_condition(fields, wait, repetition, common)
    if kind in ("timer", "timer_at"):
        return _read_timer_condition(fields, kind, repetition, common)
    if kind == "subflow":
        return _read_subflow_condition(fields, repetition, common)
    return _read_join_condition(fields, repetition, common)


def _propose(node: Json, reading: Reading) -> str:
    if isinstance(node, str) and node in reading.names["channel"]:
        return f"write {{channel: {node}}}"
    try:
        parse_duration(node)
    except ValueError:
        return "write {channel: …}, {timer: …}, {timer_at: …}, {subflow: …} or {join: …}"
    return f"write {{timer: {node}}}"


def _read_channel_condition(
    fields: Fields, wait: _Wait, repetition: Repetition, common: dict[str, Any]
) -> Condition | None:
    reading, scope = fields.reading, repetition.scope
    name = reading.read_reference(fields["channel"], fields.at("channel"), "channel")
    key = read_channel_key(fields, name, wait.declared, scope)
    if "for" in fields:
        fields.exclude("for", ("at_least", "at_most"), help="`for: N` takes exactly N")
    counts = {
        count: read_count(reading, fields[count], fields.at(count), scope, f"`{count}`")
        for count in ("for", "at_least", "at_most")
        if count in fields
    }
    least, most = fields.values.get("at_least"), fields.values.get("at_most")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        reading.report("SCH010", fields.at("at_most"), f"`at_most` is at least `at_least`, which is {least}")
    if name is None:
        return None
    return ChannelCondition(
        channel=name,
        key=key,
        exactly=counts.get("for"),
        at_least=counts.get("at_least"),
        at_most=counts.get("at_most"),
        **common,
    )


def _read_timer_condition(
    fields: Fields, kind: str, repetition: Repetition, common: dict[str, Any]
) -> Condition | None:
    node, path = fields[kind], fields.at(kind)
    if kind == "timer":
        after = read_span(fields.reading, node, path, repetition.scope, "`timer`")
        return TimerCondition(after=after, **common) if after is not None else None
    at = read_time(fields.reading, node, path, repetition.scope, "`timer_at`")
    return TimerCondition(at=at, **common) if at is not None else None


def _read_subflow_condition(
    fields: Fields, repetition: Repetition, common: dict[str, Any]
) -> Condition | None:
    reading, scope = fields.reading, repetition.scope
    flow = reading.read_identifier(fields["subflow"], fields.at("subflow"), "flow type")
    values: dict[str, Any] = {}
    if "input" in fields:
        values["input"] = read_value(reading, fields["input"], fields.at("input"), scope, "`input`")
    if "flow_id" in fields:
        node, at = fields["flow_id"], fields.at("flow_id")
        values["flow_id"] = flow_id = read_string(reading, node, at, scope, "`flow_id`")
        if flow_id is not None and flow_id.is_literal:
            found = [mark for mark in _REFUSED_IN_FLOW_IDS if mark in str(node)]
            if found or not node:
                message = f"a flow id has no `{found[0]}` in it" if found else "a flow id is not empty"
                reading.report("SCH012", at, message)
    if "timeout" in fields:
        values["timeout"] = read_span(reading, fields["timeout"], fields.at("timeout"), scope, "`timeout`")
    if "reuse" in fields:
        values["reuse"] = (
            reading.read_word(fields["reuse"], fields.at("reuse"), "`reuse`", _REUSE) or _REUSE[0]
        )
    if "if_abandoned" in fields:
        word = reading.read_word(
            fields["if_abandoned"], fields.at("if_abandoned"), "`if_abandoned`", _IF_ABANDONED
        )
        values["if_abandoned"] = word or _IF_ABANDONED[0]
    if "config" in fields:
        values["config"] = read_config(reading, fields["config"], fields.at("config"))
    return SubflowCondition(flow=flow, **values, **common) if flow is not None else None


def read_config(reading: Reading, node: Json, path: Path) -> dict[str, Json]:
    """Run-time defaults of a flow or of a child run."""
    fields = reading.read_mapping(node, path, "config", "`config`")
    if fields is None or "durability" not in fields:
        return {}
    durability = read_durability(reading, fields["durability"], fields.at("durability"))
    return {"durability": durability.value} if durability is not None else {}


def _read_join_condition(fields: Fields, repetition: Repetition, common: dict[str, Any]) -> Condition | None:
    reading = fields.reading
    join = reading.read_reference(fields["join"], fields.at("join"), "join")
    need: Value | str = "all"
    if "need" in fields:
        node, at = fields["need"], fields.at("need")
        if isinstance(node, str) and "${" not in node:
            need = reading.read_word(node, at, "`need` (where it is no number)", _NEEDS) or "all"
        else:
            need = read_count(reading, node, at, repetition.scope, "`need`") or "all"
    return JoinCondition(join=join, need=need, **common) if join is not None else None
