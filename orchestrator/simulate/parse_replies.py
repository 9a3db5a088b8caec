"""`handlers:` of a rehearsal: what each handler answers, call by call."""

from __future__ import annotations

import builtins
from typing import NamedTuple

from orchestrator.core.events import Failure, HandlerEffects, HandlerWait
from orchestrator.definition.model import Decision, Flow, Handler, Json, Path, WaitFor
from orchestrator.definition.nearness import did_you_mean
from orchestrator.definition.reading import Fields, Reading, shown
from orchestrator.simulate.forms import EFFECTS, EXECUTE_REPLY, RAISING, WAIT_FOR_REPLY, WAITS, read_keys
from orchestrator.simulate.parse_effects import read_messages, read_writes
from orchestrator.simulate.script import ON_TIMEOUT, REAL, CallKey, CallKind, Reply

REAL_WORD = "real"
_BASES = {"Timeout": ("Timeout", "TimeoutError")}


class Callee(NamedTuple):
    """One handler of the flow, and what its replies may say."""

    handler: Handler
    decisions: tuple[Decision, ...] = ()
    wait_for: WaitFor | None = None
    """Of a wait_for handler."""


def callees_of(flow: Flow) -> dict[CallKey, Callee]:
    """Every handler that a rehearsal can script."""
    found: dict[CallKey, Callee] = {}
    for step in flow.steps.values():
        if step.wait_for is not None and step.wait_for.handler is not None:
            key = CallKey(CallKind.WAIT_FOR, step.name)
            found[key] = Callee(step.wait_for.handler, wait_for=step.wait_for)
        if step.execute is not None:
            found[CallKey(CallKind.EXECUTE, step.name)] = Callee(step.execute, step.decisions)
    for rpc in flow.rpcs.values():
        if rpc.handler is not None:
            found[CallKey(CallKind.RPC, rpc.name)] = Callee(rpc.handler, rpc.decisions)
    if flow.on_timeout is not None and flow.on_timeout.execute is not None:
        handler = flow.on_timeout.execute
        found[CallKey(CallKind.EXECUTE, ON_TIMEOUT)] = Callee(handler, flow.on_timeout.decisions)
    return found


def read_handlers(reading: Reading, node: Json, path: Path, flow: Flow) -> dict[CallKey, tuple[Reply, ...]]:
    if node == REAL_WORD:
        return {}
    callees = {key.text: (key, callee) for key, callee in callees_of(flow).items()}
    replies: dict[CallKey, tuple[Reply, ...]] = {}
    for name, value, at in reading.read_named(node, path, "`handlers`"):
        if name not in callees:
            _report_unknown(reading, name, at, flow, list(callees))
            continue
        key, callee = callees[name]
        replies[key] = _read_replies(reading, value, at, flow, key, callee)
    return replies


def _report_unknown(reading: Reading, name: str, path: Path, flow: Flow, known: list[str]) -> None:
    listed = ", ".join(f"`{each}`" for each in known) or "none"
    help = f"handlers of the flow: {listed}"
    if name in flow.steps:
        message = f"step `{name}` has no `execute` handler to script"
    elif name.removesuffix(".wait_for") in flow.steps:
        message = f"the wait of `{name.removesuffix('.wait_for')}` has no handler to script"
    elif name.removeprefix("rpc.") in flow.rpcs:
        message = f"RPC `{name.removeprefix('rpc.')}` has no handler to script"
    else:
        message, help = f"the flow has no handler `{name}`", did_you_mean(name, known) or help
    reading.report("RHS001", path, message, help=help, is_about_key=True)


def _read_replies(
    reading: Reading, node: Json, path: Path, flow: Flow, key: CallKey, callee: Callee
) -> tuple[Reply, ...]:
    if isinstance(node, list):
        items = reading.read_list(node, path, f"the replies of `{key.text}`") or []
        read = [
            _read_reply(reading, item, (*path, index), flow, key, callee) for index, item in enumerate(items)
        ]
        return tuple(reply for reply in read if reply is not None)
    reply = _read_reply(reading, node, path, flow, key, callee)
    return () if reply is None else (reply,)


def _read_reply(
    reading: Reading, node: Json, path: Path, flow: Flow, key: CallKey, callee: Callee
) -> Reply | None:
    if node == REAL_WORD:
        return REAL
    keys = EXECUTE_REPLY if callee.wait_for is None else WAIT_FOR_REPLY
    if not isinstance(node, dict):
        help = "write {returns: …}, {raises: ValueError}, or `real` for the Python function"
        reading.report("SCH003", path, f"a reply is a mapping, not {shown(node)}", help=help)
        return None
    fields = read_keys(reading, node, path, keys, f"a reply of `{key.text}`")
    if fields is None:
        return None
    takes = fields.duration("takes") or REAL.takes
    if "real" in fields:
        fields.exclude("real", [each for each in keys if each != "takes"])
        return Reply(takes=takes, is_real=True) if fields.flag("real") else None
    if "raises" in fields:
        fields.exclude("raises", [each for each in keys if each not in ("takes", *RAISING)])
        return Reply(takes=takes, failure=_read_failure(fields))
    fields.refuse(RAISING, "belongs to `raises`")
    effects = _read_effects(fields, flow, callee.handler)
    if callee.wait_for is not None:
        return Reply(takes=takes, wait=_read_wait(fields, callee.wait_for), effects=effects)
    choice = _read_choice(fields, callee.decisions)
    return Reply(takes=takes, result=fields.values.get("returns"), choice=choice, effects=effects)


def _read_failure(fields: Fields) -> Failure:
    name = fields.text("raises").rpartition(".")[2]
    return Failure(
        type=name,
        message=fields.text("message"),
        bases=_bases_of(name),
        retry_after=fields.duration("retry_after"),
        is_retryable=name != "NonRetryable" and not fields.flag("non_retryable"),
    )


def _bases_of(name: str) -> tuple[str, ...]:
    """As Python has them for its own exceptions; others are taken for plain ones."""
    found = getattr(builtins, name, None)
    if isinstance(found, type) and issubclass(found, Exception):
        return tuple(each.__name__ for each in found.__mro__ if each not in (object, BaseException))
    return _BASES.get(name, (name, "Exception"))


def _read_choice(fields: Fields, decisions: tuple[Decision, ...]) -> str | None:
    if "choose" not in fields:
        return None
    words = list(dict.fromkeys(decision.choice for decision in decisions if decision.choice is not None))
    if not words:
        message = "no decision of this step has a `choice`"
        fields.reading.report("RHS001", fields.at("choose"), message, is_about_key=True)
        return None
    return fields.reading.read_word(fields["choose"], fields.at("choose"), "`choose`", words)


def _read_wait(fields: Fields, wait_for: WaitFor) -> HandlerWait | None:
    reading = fields.reading
    given = [key for key in WAITS if key in fields]
    if not given:
        if not fields.has_unknown:
            help = "write {any_of: [id]}, {until: [id]}, {skip: true}, …"
            reading.report("SCH002", fields.path, f"{fields.what} says what to wait for", help=help)
        return None
    combinator = given[0]
    fields.exclude(combinator, WAITS)
    node, path = fields[combinator], fields.at(combinator)
    reading.names["condition"] = [condition.id for condition in wait_for.conditions]
    if combinator == "skip":
        reading.read_flag(node, path, "`skip`")
        return HandlerWait("none")
    if combinator == "any_combination_of":
        groups = reading.read_list(node, path, "`any_combination_of`") or []
        read = (
            reading.read_references(group, (*path, i), "condition", "a group")
            for i, group in enumerate(groups)
        )
        return HandlerWait(combinator, tuple(read))
    nodes = [node] if isinstance(node, str) else node
    ids = reading.read_references(nodes, path, "condition", f"`{combinator}`")
    groups_of_ids = tuple((each,) for each in ids) if combinator == "any_of" else (ids,)
    return HandlerWait(combinator, groups_of_ids)


def _read_effects(fields: Fields, flow: Flow, handler: Handler) -> HandlerEffects:
    reading, at = fields.reading, fields.at
    effects = HandlerEffects(
        publishes=read_messages(reading, fields["publish"], at("publish"), flow, is_client=False)
        if "publish" in fields
        else (),
        writes=read_writes(reading, fields["set"], at("set"), flow) if "set" in fields else (),
        cancels=reading.read_references(fields["cancel"], at("cancel"), "step", "`cancel`")
        if "cancel" in fields
        else (),
        locals={name: value for name, value, _ in reading.read_named(fields["local"], at("local"), "`local`")}
        if "local" in fields
        else {},
    )
    done = {
        "publish": [message.channel for message in effects.publishes],
        "set": [write.attribute for write in effects.writes],
        "cancel": list(effects.cancels),
    }
    for verb in EFFECTS:
        allowed = getattr(handler.may, verb) if handler.may is not None else {}
        for name in dict.fromkeys(done[verb]):
            if name not in allowed:
                message = f"handler {handler.name} does not declare that it may {verb} `{name}`"
                help = f"declare `may: {{{verb}: [{name}]}}` beside the handler"
                reading.report("RHS002", at(verb), message, help=help, is_about_key=True)
    return effects
