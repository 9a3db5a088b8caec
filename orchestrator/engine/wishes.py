"""What clients want of runs, by the names of the client's methods, ready for a commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from orchestrator.core.events import (
    AttributesWritten,
    ConfigUpdated,
    DeadlineSkipped,
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
from orchestrator.engine.ids import random_id
from orchestrator.engine.submission import Request, Start, Travel, Wish
from orchestrator.errors import UsageError

Span = timedelta | float
"""A float is in seconds."""
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
        flow_id,
        random_id(),
        input,
        has_input=input is not None,
        children=children,
        reuse_policy=_policy(reuse_policy),
        request_id=request_id,
        return_existing=return_existing,
        timeout=span(timeout),
        timeout_policy=_timeout_policy(timeout_policy),
        delay=span(delay),
        attributes=attributes or {},
        config=config or {},
    )


def publish(flow_id: str, channel: str, value: Json = None, key: str | None = None) -> Request:
    messages = (Message(channel, value, key),)
    return Request(flow_id, lambda at: MessagesPublished(at=at, messages=messages))


def set_attributes(flow_id: str, values: Mapping[str, Json]) -> Request:
    writes = tuple(Write(name, value) for name, value in values.items())
    return Request(flow_id, lambda at: AttributesWritten(at=at, writes=writes))


def update_config(flow_id: str, config: Mapping[str, Json]) -> Request:
    wanted = dict(config)
    return Request(flow_id, lambda at: ConfigUpdated(at=at, config=wanted))


def skip_timer(flow_id: str, step_execution_id: str, condition: str | int | None = None) -> Request:
    return Request(
        flow_id, lambda at: TimerSkipped(at=at, execution_id=step_execution_id, condition=condition)
    )


def skip_deadline(flow_id: str) -> Request:
    return Request(flow_id, lambda at: DeadlineSkipped(at=at))


def retry_now(flow_id: str, step_execution_id: str) -> Request:
    return Request(flow_id, lambda at: RetryHastened(at=at, execution_id=step_execution_id))


def stop(flow_id: str, stop: str = "cancel", reason: str | None = None) -> Request:
    if stop not in _STOPS:
        raise UsageError(f"a run is stopped by one of {', '.join(_STOPS)}; not by {stop!r}")
    return Request(flow_id, lambda at: StopRequested(at=at, stop=stop, reason=reason))


def time_travel(flow_id: str, target: Target | None = None, *, reapply: bool = True) -> Travel:
    return Travel(flow_id, target or Target(), reapply)


OF_RUNS: dict[str, Callable[..., Wish]] = {
    wish.__name__: wish
    for wish in (
        publish,
        set_attributes,
        update_config,
        skip_timer,
        skip_deadline,
        retry_now,
        stop,
        time_travel,
    )
}
"""Those that need nothing but the words of their caller."""


def span(span: Span | None) -> timedelta | None:
    return span if span is None or isinstance(span, timedelta) else timedelta(seconds=span)


def _policy(policy: ReusePolicy | str) -> ReusePolicy:
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
