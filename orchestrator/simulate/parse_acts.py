"""`events:` of a rehearsal: what clients do, and when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from orchestrator.core.events import (
    DeadlineSkipped,
    Event,
    MessagesPublished,
    RetryHastened,
    RpcCalled,
    StopRequested,
    TimerSkipped,
)
from orchestrator.definition.model import Flow, Json, Path
from orchestrator.definition.reading import Fields, Reading
from orchestrator.simulate.forms import ACTS, ANSWER, EVENT, TRIGGERS, read_execution_id, read_keys
from orchestrator.simulate.parse_effects import read_messages
from orchestrator.simulate.script import Answer, ClientAct, MakeEvent, Trigger

_BELONGS = {
    "input": ("rpc",),
    "request_id": ("rpc",),
    "execution": ("skip_timer",),
    "reason": ("stop",),
}
Read = tuple[str, MakeEvent]
"""What it is, and how it is made."""


def read_acts(reading: Reading, node: Json, path: Path, flow: Flow) -> tuple[ClientAct, ...]:
    items = reading.read_list(node, path, "`events`", allows_empty=True) or []
    read = [_read_act(reading, item, (*path, index), flow) for index, item in enumerate(items)]
    return tuple(act for act in read if act is not None)


def _read_act(reading: Reading, node: Json, path: Path, flow: Flow) -> ClientAct | None:
    fields = read_keys(reading, node, path, EVENT, "an event")
    if fields is None:
        return None
    acts = [key for key in ACTS if key in fields]
    if not acts:
        if not fields.has_unknown:
            help = "one of " + ", ".join(f"`{key}`" for key in ACTS)
            reading.report("SCH002", path, "an event says what a client does", help=help)
        return None
    act = acts[0]
    fields.exclude(act, ACTS, help="write two events")
    for key, owners in _BELONGS.items():
        if act not in owners:
            fields.refuse([key], f"belongs to `{owners[0]}`")
    flow_id = fields.text("flow_id") or None
    about = flow if flow_id is None else None
    trigger = _read_trigger(fields, about)
    read = _READ[act](fields, about)
    answer = _read_answer(fields, act)
    if trigger is None or read is None:
        return None
    return ClientAct(read[0], trigger, read[1], path, flow_id, answer)


# --- When ---------------------------------------------------------------------------------------------------


def _read_trigger(fields: Fields, flow: Flow | None) -> Trigger | None:
    if not any(key in fields for key in TRIGGERS):
        if not fields.has_unknown:
            help = "`at: 10m` from the start, `after: Charge-1` or `after_wait: Ship-1`"
            fields.reading.report("SCH002", fields.path, "an event says when it happens", help=help)
        return None
    if "after" in fields:
        fields.exclude("after", ["after_wait"])
    span = fields.duration("at")
    if "at" in fields and span is None:
        return None
    for key in ("after", "after_wait"):
        if key in fields:
            execution = _read_execution(fields, key, flow)
            if execution is None:
                return None
            return Trigger(span or timedelta(0), execution, is_wait=key == "after_wait")
    return Trigger(span or timedelta(0))


def _read_execution(fields: Fields, key: str, flow: Flow | None) -> str | None:
    if flow is None:
        return fields.text(key) or None
    return read_execution_id(fields.reading, fields[key], fields.at(key), flow.steps)


# --- What ---------------------------------------------------------------------------------------------------


def _read_publish(fields: Fields, flow: Flow | None) -> Read | None:
    messages = read_messages(fields.reading, fields["publish"], fields.at("publish"), flow, is_client=True)
    if not messages:
        return None
    channels = ", ".join(dict.fromkeys(message.channel for message in messages))
    return f"publish to {channels}", lambda at: MessagesPublished(at=at, messages=messages)


def _read_rpc(fields: Fields, flow: Flow | None) -> Read | None:
    reading, node, path = fields.reading, fields["rpc"], fields.at("rpc")
    if flow is None:
        name = reading.read_text(node, path, "`rpc`")
    else:
        name = reading.read_reference(node, path, "rpc")
    if name is None:
        return None
    has_input, input = "input" in fields, fields.values.get("input")
    request_id = fields.text("request_id") or None

    def make(at: datetime) -> Event:
        return RpcCalled(at=at, name=name, input=input, has_input=has_input, request_id=request_id)

    return f"call RPC {name}", make


def _read_stop(fields: Fields, flow: Flow | None) -> Read | None:
    how = fields.reading.read_word(
        fields["stop"], fields.at("stop"), "`stop`", ("cancel", "fail", "terminate")
    )
    if how is None:
        return None
    reason = fields.text("reason") or None
    return f"stop the run ({how})", lambda at: StopRequested(at=at, stop=how, reason=reason)


def _read_skip_timer(fields: Fields, flow: Flow | None) -> Read | None:
    reading, node, path = fields.reading, fields["skip_timer"], fields.at("skip_timer")
    if not (node is True or isinstance(node, str) or (isinstance(node, int) and not isinstance(node, bool))):
        help = "`true` for the only timer, else the id of its condition, or its position from 0"
        reading.report("SCH003", path, "`skip_timer` says which timer", help=help)
        return None
    key = "execution" if "execution" in fields else "after_wait"
    if key not in fields:
        help = "add `execution: Step-1`, or use `after_wait`"
        reading.report("SCH002", fields.path, "`skip_timer` needs to know whose timer", help=help)
        return None
    execution = _read_execution(fields, key, flow)
    if execution is None:
        return None
    condition = None if node is True else node
    text = (
        f"skip the timer {condition} of {execution}"
        if condition is not None
        else f"skip the timer of {execution}"
    )
    return text, lambda at: TimerSkipped(at=at, execution_id=execution, condition=condition)


def _read_skip_deadline(fields: Fields, flow: Flow | None) -> Read | None:
    if fields["skip_deadline"] is not True:
        fields.reading.report("SCH003", fields.at("skip_deadline"), "`skip_deadline` is `true`")
        return None
    return "skip the deadline", lambda at: DeadlineSkipped(at=at)


def _read_retry_now(fields: Fields, flow: Flow | None) -> Read | None:
    execution = _read_execution(fields, "retry_now", flow)
    if execution is None:
        return None
    return f"retry {execution} now", lambda at: RetryHastened(at=at, execution_id=execution)


_READ: dict[str, Callable[[Fields, Flow | None], Read | None]] = {
    "publish": _read_publish,
    "rpc": _read_rpc,
    "stop": _read_stop,
    "skip_timer": _read_skip_timer,
    "skip_deadline": _read_skip_deadline,
    "retry_now": _read_retry_now,
}


# --- What comes of it ---------------------------------------------------------------------------------------


def _read_answer(fields: Fields, act: str) -> Answer | None:
    if "expect" not in fields:
        return None
    path = fields.at("expect")
    keys = ANSWER if act == "rpc" else ANSWER[1:]
    expected = read_keys(fields.reading, fields["expect"], path, keys, "`expect` of an event")
    if expected is None:
        return None
    if "error" in expected:
        expected.exclude("error", ["output"])
    elif "message" in expected:
        fields.reading.report(
            "SCH002", path, "`message` is that of an `error`: say its type", help="error: rejected"
        )
    return Answer(
        path,
        expected.values.get("output"),
        has_output="output" in expected,
        error=expected.text("error") or None,
        message=expected.text("message") or None,
    )
