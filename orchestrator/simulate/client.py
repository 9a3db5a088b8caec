"""`ctx.client` of handlers in a rehearsal: the engine's client, over the runs in memory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from orchestrator.core.description import describe_run
from orchestrator.core.events import (
    AttributesWritten,
    Event,
    Message,
    MessagesPublished,
    RpcCalled,
    StopRequested,
    Write,
)
from orchestrator.core.reuse import ReusePolicy
from orchestrator.definition.model import Flow, Json
from orchestrator.errors import UsageError, WaitTimeout

if TYPE_CHECKING:
    from orchestrator.simulate.environment import Environment

_STOPS = ("cancel", "fail", "terminate")


class Started(NamedTuple):
    flow_id: str
    run_id: str
    is_new: bool


class SimulatedClient:
    """Everything happens at once, at the present virtual moment."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @property
    def aio(self) -> AsyncClient:
        return AsyncClient(self)

    def start(
        self,
        flow: Flow | str | Path,
        flow_id: str,
        input: Json = None,
        *,
        reuse_policy: ReusePolicy | str = ReusePolicy.DISALLOW,
        request_id: str | None = None,
        return_existing: bool = False,
        timeout: timedelta | float | None = None,
        delay: timedelta | float | None = None,
        attributes: Mapping[str, Json] | None = None,
    ) -> Started:
        simulated, is_new = self._environment.start(
            self._environment.flows.find(flow),
            flow_id,
            input,
            policy=ReusePolicy(reuse_policy),
            return_existing=return_existing,
            request_id=request_id,
            timeout=_span(timeout),
            delay=_span(delay),
            attributes=dict(attributes or {}),
        )
        return Started(flow_id, simulated.run.run_id, is_new)

    def publish(self, flow_id: str, channel: str, value: Json = None, key: str | int | None = None) -> None:
        messages = (Message(channel, value, None if key is None else str(key)),)
        self._send(flow_id, MessagesPublished(at=self._environment.now, messages=messages))

    def rpc(self, flow_id: str, name: str, input: Json = None, *, request_id: str | None = None) -> Json:
        event = RpcCalled(
            at=self._environment.now,
            name=name,
            input=input,
            has_input=input is not None,
            request_id=request_id,
        )
        return self._environment.call_rpc(self._environment.find(flow_id), event)

    def set_attributes(self, flow_id: str, values: Mapping[str, Json]) -> None:
        writes = tuple(Write(name, value) for name, value in values.items())
        self._send(flow_id, AttributesWritten(at=self._environment.now, writes=writes))

    def attributes(self, flow_id: str) -> dict[str, Json]:
        described: dict[str, Json] = self.describe(flow_id)["attributes"]
        return described

    def stop(self, flow_id: str, stop: str = "cancel", reason: str | None = None) -> None:
        if stop not in _STOPS:
            raise UsageError(f"a run is stopped by one of {', '.join(_STOPS)}; not by {stop!r}")
        self._send(flow_id, StopRequested(at=self._environment.now, stop=stop, reason=reason))

    def describe(self, flow_id: str, *, messages: bool = False) -> dict[str, Json]:
        simulated = self._environment.find(flow_id)
        leased = dict.fromkeys(execution_id for execution_id, _, _ in simulated.in_flight)
        return describe_run(
            simulated.flow, simulated.run, leased, self._environment.now, with_messages=messages
        )

    def wait(self, flow_id: str, timeout: timedelta | float | None = None) -> dict[str, Json]:
        """Waiting inside a handler lets no virtual time pass: the run is closed already, or WaitTimeout."""
        described = self.describe(flow_id)
        if described["status"] == "RUNNING":
            raise WaitTimeout(
                f"{flow_id} is still running (in a rehearsal no time passes here)", flow_id=flow_id
            )
        return described

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            known = ", ".join(each for each in vars(SimulatedClient) if not each.startswith("_"))
            raise AttributeError(
                f"in a rehearsal the client of a handler has no `{name}`; it has: {known}. "
                "Script the handler's reply"
            )

    def _send(self, flow_id: str, event: Event) -> None:
        self._environment.commit(self._environment.find(flow_id), event)


class AsyncClient:
    """The same methods, to be awaited."""

    def __init__(self, client: SimulatedClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            return method(*arguments, **options)

        return call


def _span(span: timedelta | float | None) -> timedelta | None:
    return span if span is None or isinstance(span, timedelta) else timedelta(seconds=span)
