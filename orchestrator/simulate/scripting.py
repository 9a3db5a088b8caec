"""A take becomes a rehearsal: what handlers, clients and children did, and how the run stood at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from orchestrator.binding.invoke import Returned
from orchestrator.core.events import (
    DeadlineSkipped,
    Failure,
    HandlerWait,
    Message,
    MessagesPublished,
    RpcCalled,
    TimerSkipped,
    Write,
)
from orchestrator.core.state import TIMEOUT_STEP, Status
from orchestrator.definition.durations import format_duration
from orchestrator.definition.model import Flow, Json
from orchestrator.simulate.directing import FLOW_ID
from orchestrator.simulate.outcome import unread_of
from orchestrator.simulate.script import CallKind, ScriptedChild
from orchestrator.simulate.takes import Act, Call, Take


def rehearsal_of(take: Take, name: str, description: str = "") -> dict[str, Json]:
    """As the file has it."""
    found: dict[str, Json] = {"name": name}
    if description:
        found["description"] = description
    if take.has_input:
        found["input"] = take.input
    found["flow_id"] = FLOW_ID
    if take.delay is not None:
        found["delay"] = format_duration(take.delay)
    if handlers := _handlers(take.calls):
        found["handlers"] = handlers
    if take.children:
        found["subflows"] = {flow: _child(child) for flow, child in take.children.items()}
    if take.acts:
        found["events"] = [_act(take.simulated.flow, act) for act in take.acts]
    if take.until is not None:
        found["until"] = format_duration(take.until)
    found["expect"] = _expectations(take)
    whole: dict[str, Json] = _without_aliases(found)
    return whole


# --- Handlers -----------------------------------------------------------------------------------------------


def _handlers(calls: Sequence[Call]) -> dict[str, Json]:
    """By handler its replies in the order of calls; one reply where all are alike."""
    replies: dict[str, list[Json]] = {}
    for call in calls:
        replies.setdefault(call.key.text, []).append(_reply(call))
    return {key: all[0] if all.count(all[0]) == len(all) else all for key, all in replies.items()}


def _reply(call: Call) -> dict[str, Json]:
    end, reply = call.end, dict[str, Json]()
    if isinstance(end.outcome, Failure):
        reply = {"raises": end.outcome.type, "message": end.outcome.message, "non_retryable": True}
    elif call.key.kind is CallKind.WAIT_FOR:
        reply = _wait(end.outcome.wait or HandlerWait("none"))
    else:
        reply = _result(end.outcome)
    if isinstance(end.outcome, Returned):
        reply |= _effects(end.outcome)
    if end.takes:
        reply["takes"] = format_duration(end.takes)
    return reply


def _result(returned: Returned) -> dict[str, Json]:
    reply: dict[str, Json] = {} if returned.choice is None else {"choose": returned.choice}
    return reply if returned.result is None else reply | {"returns": returned.result}


def _wait(wait: HandlerWait) -> dict[str, Json]:
    if wait.combinator == "none":
        return {"skip": True}
    if wait.combinator == "any_combination_of":
        return {wait.combinator: [list(group) for group in wait.groups]}
    ids = [each for group in wait.groups for each in group]
    return {wait.combinator: ids[0] if wait.combinator == "until" else ids}


def _effects(returned: Returned) -> dict[str, Json]:
    effects, found = returned.effects, dict[str, Json]()
    if effects.publishes:
        found["publish"] = _messages(effects.publishes)
    if effects.writes:
        found["set"] = dict(_written(effects.writes))
    if effects.cancels:
        found["cancel"] = list(effects.cancels)
    return found


def _messages(messages: Sequence[Message]) -> Json:
    """`{channel: value}`; a list where a channel gets several."""
    listed = [
        {message.channel: message.value if message.key is None else {message.key: message.value}}
        for message in messages
    ]
    if len({message.channel for message in messages}) < len(messages):
        return listed
    return {channel: value for each in listed for channel, value in each.items()}


def _written(writes: Sequence[Write]) -> Iterator[tuple[str, Json]]:
    for write in writes:
        yield write.attribute, write.value if write.key is None else {write.key: write.value}


# --- Clients and children -----------------------------------------------------------------------------------


def _act(flow: Flow, act: Act) -> dict[str, Json]:
    found: dict[str, Json] = {"at": format_duration(act.at)} if act.after is None else {"after": act.after}
    match act.event:
        case MessagesPublished(messages=messages):
            return found | {"publish": _messages(messages)}
        case RpcCalled(name=name, input=input, has_input=has_input):
            return found | {"rpc": name} | ({"input": input} if has_input else {})
        case TimerSkipped(execution_id=execution_id, condition=condition):
            return found | {"execution": execution_id, "skip_timer": condition}
        case DeadlineSkipped():
            return found | {"skip_deadline": True}
    raise AssertionError(f"no client of a story does {act.event}")


def _child(child: ScriptedChild) -> dict[str, Json]:
    found: dict[str, Json] = {}
    if child.status != Status.COMPLETED:
        found["status"] = child.status
    elif child.outputs:
        found["output"] = child.outputs[0]
    if child.error is not None:
        found["error"] = child.error
    if child.takes > timedelta(0):
        found["takes"] = format_duration(child.takes)
    return found


# --- What must come -----------------------------------------------------------------------------------------


def _expectations(take: Take) -> dict[str, Json]:
    run, flow = take.simulated.run, take.simulated.flow
    found: dict[str, Json] = {"status": run.status.value}
    if run.error is not None:
        found["error"] = {"type": run.error.type}
        if run.error.step_execution_id is not None and not run.error.step_execution_id.startswith("sys:"):
            found["error"]["step_execution_id"] = run.error.step_execution_id
    if run.status is Status.RUNNING:
        found["active"] = sorted(each.id for each in run.executions.values() if each.step != TIMEOUT_STEP)
    found["path"] = take.simulated.completed()
    messages: dict[str, Json] = {}
    for channel in flow.channels.values():
        if channel.is_map:
            queues = {key: unread_of(run, name, key) for name, key in run.queues if name == channel.name}
            messages[channel.name] = {str(key): queue for key, queue in queues.items() if queue}
        else:
            messages[channel.name] = unread_of(run, channel.name, None)
    return found | ({"messages": messages} if messages else {})


def _without_aliases(value: Any) -> Any:
    """Equal parts as parts of their own: YAML would name them once and refer to them."""
    if isinstance(value, dict):
        return {key: _without_aliases(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_without_aliases(entry) for entry in value]
    return value
