"""What clients want of runs, by the names of the client's methods, ready for a commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from orchestrator.core.events import (
    AttributesWritten,
    ConfigUpdated,
    DeadlineSkipped,
    Event,
    Message,
    MessagesPublished,
    RetryHastened,
    StopRequested,
    TimerSkipped,
    Write,
)
from orchestrator.core.reuse import ReusePolicy
from orchestrator.core.travel import Target
from orchestrator.definition.model import Flow, Json, TimeoutPolicy
from orchestrator.engine.arguments import (
    Span,
    another,
    instance_key,
    mapping,
    optional_text,
    span,
    text,
)
from orchestrator.engine.ids import random_id
from orchestrator.engine.submission import Request, Start, Travel
from orchestrator.errors import UsageError

_STOPS = ("cancel", "fail", "terminate")


def start(
    flow: Flow,
    children: tuple[Flow, ...],
    flow_id: str,
    input: Json = None,
    *,
    reuse_policy: ReusePolicy | str = ReusePolicy.DISALLOW,
    request_id: str | None = None,
    return_existing: bool = False,
    timeout: Span | None = None,
    timeout_policy: TimeoutPolicy | str | None = None,
    delay: Span | None = None,
    attributes: Mapping[str, Json] | None = None,
    config: Mapping[str, Json] | None = None,
) -> Start:
    return Start(
        flow,
        text(flow_id, "flow_id"),
        random_id(),
        input,
        has_input=input is not None,
        children=children,
        reuse_policy=_policy(reuse_policy),
        request_id=optional_text(request_id, "request_id"),
        return_existing=return_existing,
        timeout=span(timeout, "timeout"),
        timeout_policy=_timeout_policy(timeout_policy),
        delay=span(delay, "delay"),
        attributes=mapping(attributes, "attributes") if attributes else {},
        config=mapping(config, "config") if config else {},
    )


def publish(flow_id: str, channel: str, value: Json = None, key: str | int | None = None) -> Request:
    messages = (Message(text(channel, "channel"), value, instance_key(key, f"channel {channel}")),)
    return _request(flow_id, lambda at: MessagesPublished(at=at, messages=messages))


def set_attributes(flow_id: str, values: Mapping[str, Json]) -> Request:
    writes = tuple(Write(name, value) for name, value in mapping(values, "values").items())
    return _request(flow_id, lambda at: AttributesWritten(at=at, writes=writes))


def update_config(flow_id: str, config: Mapping[str, Json]) -> Request:
    wanted = mapping(config, "config")
    return _request(flow_id, lambda at: ConfigUpdated(at=at, config=wanted))


def skip_timer(flow_id: str, step_execution_id: str, condition: str | int | None = None) -> Request:
    execution_id = text(step_execution_id, "step_execution_id")
    if condition is not None and type(condition) not in (str, int):
        raise another("condition", "the id of a timer or its number", condition)
    return _request(flow_id, lambda at: TimerSkipped(at=at, execution_id=execution_id, condition=condition))


def skip_deadline(flow_id: str) -> Request:
    return _request(flow_id, lambda at: DeadlineSkipped(at=at))


def retry_now(flow_id: str, step_execution_id: str) -> Request:
    execution_id = text(step_execution_id, "step_execution_id")
    return _request(flow_id, lambda at: RetryHastened(at=at, execution_id=execution_id))


def stop(flow_id: str, stop: str = "cancel", reason: str | None = None) -> Request:
    if stop not in _STOPS:
        raise UsageError(f"a run is stopped by one of {', '.join(_STOPS)}; not by {stop!r}")
    why = optional_text(reason, "reason")
    return _request(flow_id, lambda at: StopRequested(at=at, stop=stop, reason=why))


def time_travel(flow_id: str, target: Target | None = None, *, reapply: bool = True) -> Travel:
    return Travel(text(flow_id, "flow_id"), _point(target), reapply)


def _point(target: Target | None) -> Target:
    if target is None:
        return Target()
    if not isinstance(target, Target):
        raise another("target", "a Target", target)
    time = target.time
    if time is not None and (not isinstance(time, datetime) or time.utcoffset() is None):
        raise another("time", "a datetime with a time zone", time)
    return target


def _request(flow_id: str, make: Callable[[datetime], Event]) -> Request:
    return Request(text(flow_id, "flow_id"), make)


def _policy(policy: ReusePolicy | str) -> ReusePolicy:
    if isinstance(policy, ReusePolicy):
        return policy
    try:
        return ReusePolicy(policy)
    except ValueError:
        known = ", ".join(ReusePolicy)
        raise UsageError(f"{policy!r} is no reuse policy; there are: {known}") from None


def _timeout_policy(policy: TimeoutPolicy | str | None) -> str | None:
    try:
        return None if policy is None else TimeoutPolicy(policy).value
    except ValueError:
        known = ", ".join(TimeoutPolicy)
        raise UsageError(f"{policy!r} is no timeout policy; there are: {known}") from None
