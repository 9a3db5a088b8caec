"""What a handler's place does not have, and values that the declared types do not take."""

from __future__ import annotations

import ast

from orchestrator.binding.convert import NotJson, to_json
from orchestrator.binding.method import Method, MethodKind
from orchestrator.binding.source.deeds import Act, Deed
from orchestrator.binding.verdict import Verdict
from orchestrator.definition.model import Json
from orchestrator.definition.types import Type
from orchestrator.errors import InvalidValue

NOT_HERE = "DAT013"
WRONG_VALUE = "DAT014"
_UNKNOWN = object()


def judge_place(method: Method, deed: Deed) -> Verdict | None:
    """Parts of the context that only some kinds of handlers have."""
    if deed.act is Act.SET_LOCAL and not method.is_wait_for:
        help = "write it in the wait_for handler or with `local:`; keep later values in attributes"
        return Verdict(NOT_HERE, "writes a local, which only wait_for handlers do", help)
    if deed.act is Act.READ_WAIT and method.kind is not MethodKind.EXECUTE:
        text = "reads what came of the wait, which is still to come" if method.is_wait_for else _WAITLESS
        return Verdict(NOT_HERE, text, "read it in the execute of a step that waits")
    if deed.act is Act.HEARTBEAT and method.kind is MethodKind.RPC:
        text = f"gives a heartbeat, but {method.owner} is an RPC: it has one attempt"
        return Verdict(NOT_HERE, text, "take it out, or do the work in a step")
    if deed.act is Act.MEMBER and deed.name == "connection" and not method.handler.transactional:
        text = "uses the connection of the commit, but is not declared transactional"
        return Verdict(NOT_HERE, text, "declare `transactional: true` beside the handler")
    return None


_WAITLESS = "reads what came of a wait, but has none"


def judge_value(method: Method, deed: Deed) -> Verdict | None:
    """Literals only. Null deletes an attribute; a channel takes it where its type does."""
    name = deed.name or ""
    if deed.act is Act.PUBLISH and name in method.flow.channels:
        return _judge_message(method, deed)
    if deed.act in (Act.SET, Act.SET_ENTRY) and name in method.flow.attributes:
        attribute = method.flow.attributes[name]
        if attribute.is_map != (deed.act is Act.SET_ENTRY):
            return _judge_whole_map(deed) if attribute.is_map else None
        value = _literal(deed.value)
        if value is not None:
            return _misfit(f"writes {_shown(value)} to `{deed.name}`", value, attribute.type)
    return None


def _judge_message(method: Method, deed: Deed) -> Verdict | None:
    channel = method.flow.channels[deed.name or ""]
    if channel.is_map and deed.has_key is False:
        help = f"say which instance: ctx.publish({channel.name!r}, value, key=…)"
        return Verdict(WRONG_VALUE, f"publishes to the channel map `{channel.name}` without a key", help)
    if not channel.is_map and deed.has_key:
        text = f"publishes with a key to `{channel.name}`, which is no channel map"
        return Verdict(WRONG_VALUE, text, "leave `key` out, or declare the channel with `map: true`")
    value = _literal(deed.value)
    return _misfit(f"publishes {_shown(value)} to `{channel.name}`", value, channel.type)


def _judge_whole_map(deed: Deed) -> Verdict | None:
    """Only null is written to a map itself: it deletes all entries."""
    if deed.value is None or (isinstance(deed.value, ast.Constant) and deed.value.value is None):
        return None
    if isinstance(deed.value, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.IfExp | ast.BoolOp):
        return None  # may be null
    help = f"write its entries: ctx.attributes[{deed.name!r}][key] = value"
    return Verdict(WRONG_VALUE, f"writes a value to the map `{deed.name}` itself", help)


def _misfit(what: str, value: Json, declared: Type) -> Verdict | None:
    if value is _UNKNOWN:
        return None
    try:
        declared.check(value)
    except InvalidValue as problem:
        text = f"{what}, which is {declared.text}: {problem.message}"
        return Verdict(WRONG_VALUE, text, "correct the value, or the type that the definition declares")
    return None


def _literal(node: ast.expr | None) -> Json:
    if node is None:
        return _UNKNOWN
    try:
        return to_json(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, NotJson):
        return _UNKNOWN


def _shown(value: Json) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 40 else text[:37] + "…"
