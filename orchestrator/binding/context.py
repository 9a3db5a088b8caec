"""`ctx`: what a handler may know of its run, and what it may do to it (language.md 6.2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableMapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from orchestrator.binding.attributes import Attributes
from orchestrator.binding.channels import Channels, message_to
from orchestrator.binding.convert import copy_json
from orchestrator.binding.method import Method, MethodKind
from orchestrator.binding.mistakes import HandlerMistake, declared_as, hint
from orchestrator.binding.results import Locals, WaitResults
from orchestrator.binding.staging import Staging, as_json
from orchestrator.core.events import NO_EFFECTS, HandlerEffects
from orchestrator.core.state import RecoveredFailure
from orchestrator.definition.model import Json

if TYPE_CHECKING:
    from orchestrator.core.snapshot import Snapshot


def _never() -> bool:
    return False


def _ignore(value: Json) -> None:
    """Called without an engine: nothing waits for a sign of life."""


class Services(Struct, frozen=True, repr_omit_defaults=True):
    """What the caller of handlers lends to one call."""

    client: Any = None
    """`ctx.client`; what is done through it is not part of the commit."""
    is_cancelled: Callable[[], bool] = _never
    heartbeat: Callable[[Json], None] = _ignore
    """Keeps a checkpoint."""
    connection: Any = None
    """Of the commit that the call is part of (`transactional: true`)."""
    open_client: Callable[[], Any] | None = None
    """Gives `ctx.client` to those who ask for it, where opening one takes time."""


NO_SERVICES = Services()


class Context:
    """Given to handlers that ask for it: `def charge(ctx: Context, order: Order) -> Receipt`.

    All that is done through it is committed with the result of the call, or not at all (rule 48).
    """

    __slots__ = ("_attributes", "_local", "_logger", "_method", "_services", "_snapshot", "_staging")

    def __init__(self, method: Method, snapshot: Snapshot, services: Services = NO_SERVICES) -> None:
        self._method = method
        self._snapshot = snapshot
        self._services = services
        self._staging: Staging | None = None
        self._attributes: Attributes | None = None
        self._local: Locals | None = None
        self._logger: logging.LoggerAdapter[logging.Logger] | None = None

    # --- Who and where -------------------------------------------------------------------------------------

    @property
    def flow(self) -> str:
        """The flow type."""
        return self._method.flow.name

    @property
    def flow_id(self) -> str:
        return self._snapshot.flow_id

    @property
    def run_id(self) -> str:
        return self._snapshot.run_id

    @property
    def run_attempt(self) -> int:
        return self._snapshot.run_attempt

    @property
    def step(self) -> str:
        return self._snapshot.execution.step

    @property
    def step_execution_id(self) -> str:
        """Such as `Charge-2`."""
        return self._snapshot.execution.id

    @property
    def from_step_execution_id(self) -> str:
        """The execution that this one comes from, `__start__`, or `__rpc/<name>` (rule 12)."""
        return self._snapshot.execution.origin

    @property
    def attempt(self) -> int:
        """From 1."""
        return self._snapshot.execution.attempt

    @property
    def first_attempt_at(self) -> datetime | None:
        """When the first of several attempts began; the same in all later ones (rule 54)."""
        return self._snapshot.execution.first_attempt_at

    @property
    def started_at(self) -> datetime | None:
        """When the run was started."""
        return self._snapshot.started_at

    @property
    def idempotency_key(self) -> str:
        """The same in every attempt of this execution; for external systems (rule 50)."""
        return f"{self.flow_id}/{self.step_execution_id}"

    # --- What was given ------------------------------------------------------------------------------------

    @property
    def wait(self) -> WaitResults:
        """Results of this execution's wait: `ctx.wait.approval.message`."""
        return WaitResults(self._method.owner, None if self._method.is_wait_for else self._snapshot.wait)

    @property
    def attributes(self) -> Attributes:
        if self._attributes is None:
            self._attributes = Attributes(self._method.flow.attributes, self._snapshot, self._stage())
        return self._attributes

    @property
    def channels(self) -> Channels:
        return Channels(self._method.flow.channels, self._snapshot, self._stage())

    @property
    def local(self) -> Locals:
        if self._local is None:
            method = self._method
            self._local = Locals(
                method.owner, self._snapshot.execution.locals, self._stage(), is_writable=method.is_wait_for
            )
        return self._local

    @property
    def failure(self) -> RecoveredFailure | None:
        """What failed, in a recovery step and after a WaitFor failure that proceeds (rule 153)."""
        return self._snapshot.execution.failure

    @property
    def wait_for_failed(self) -> bool:
        """The wait failed for good and the step proceeds (rule 89)."""
        return self._snapshot.execution.has_wait_for_failed

    @property
    def cancelled(self) -> bool:
        """The result of this call will be ignored; a long handler polls it and stops (rule 112)."""
        return self._services.is_cancelled()

    @property
    def last_heartbeat(self) -> Any:
        """What the latest heartbeat of this method said, in this attempt's predecessors; null without one."""
        heartbeat = self._snapshot.execution.heartbeat
        return None if heartbeat is None else copy_json(heartbeat.value)

    @property
    def has_heartbeat(self) -> bool:
        """An earlier attempt has sent one: tells a null that was sent from none (rule 162)."""
        return self._snapshot.execution.heartbeat is not None

    @property
    def connection(self) -> Any:
        """A `sqlalchemy.Connection` inside the commit of this call: writes and result are one commit.

        For handlers with `transactional: true`; neither commit nor close it.
        """
        if self._services.connection is None:
            raise HandlerMistake(
                "there is no connection here: declare `transactional: true` beside the handler "
                "(in a rehearsal, script its reply)"
            )
        return self._services.connection

    @property
    def client(self) -> Any:
        """An `orchestrator.Client` on the same store; what it does is not part of the commit."""
        if self._services.client is None:
            if self._services.open_client is not None:
                return self._services.open_client()
            raise HandlerMistake("there is no client here: this handler was called without a store")
        return self._services.client

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        """Each record carries flow, flow_id, run_id, step, step_execution_id and attempt."""
        if self._logger is None:
            self._logger = _CallLogger(
                logging.getLogger(f"orchestrator.handlers.{self.flow}.{self.step}"),
                {
                    "flow": self.flow,
                    "flow_id": self.flow_id,
                    "run_id": self.run_id,
                    "step": self.step,
                    "step_execution_id": self.step_execution_id,
                    "attempt": self.attempt,
                },
            )
        return self._logger

    # --- What may be done ----------------------------------------------------------------------------------

    def publish(self, channel: str, value: Any = None, key: str | int | None = None) -> None:
        """Append a message; `key` names the instance of a channel map."""
        declared = declared_as("channel", channel, self._method.flow.channels)
        self._stage().publish(message_to(declared, value, key))

    def cancel(self, step: str) -> None:
        """Cancel all active executions of a step, this one excepted (rules 131-133)."""
        self._stage().cancel(declared_as("step", step, self._method.flow.steps).name)

    def heartbeat(self, value: Any = None) -> None:
        """Say that the call is alive, and keep `value` for the next attempt (`ctx.last_heartbeat`).

        Without one for longer than the method's `heartbeat`, the attempt fails early (rule 162).
        """
        if self._method.kind is MethodKind.RPC:
            raise HandlerMistake(f"{self._method.owner} is an RPC: it has one attempt and no heartbeats")
        self._services.heartbeat(as_json(value, "a heartbeat"))

    def record_event(self, name: str, value: Any = None) -> None:
        """Leave a note in the run's history; the name is unique in this call (rule 55)."""
        self._stage().record(name, value)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if hasattr(type(self), name):
                object.__getattribute__(self, name)  # raises again what brought us here
            raise AttributeError(f"a context has no `{name}`{hint(name, _public(type(self)))}")

    def _stage(self) -> Staging:
        if self._staging is None:
            self._staging = Staging(self._method.owner, self._method.may)
        return self._staging


class _CallLogger(logging.LoggerAdapter[logging.Logger]):
    """Adds the ids of the call to each record, and keeps what the handler adds itself."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs


def _public(owner: type) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def effects_of(context: Context) -> HandlerEffects:
    """What the handler has done through its context."""
    staging = context._staging
    return NO_EFFECTS if staging is None else staging.freeze()
