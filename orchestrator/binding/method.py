"""The places of a definition that name a handler, and what holds for its calls there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from orchestrator.definition.model import Flow, Handler, May, Path, Rpc, Step

if TYPE_CHECKING:
    from orchestrator.definition.types import Type


class MethodKind(StrEnum):
    WAIT_FOR = "wait_for"
    EXECUTE = "execute"
    RPC = "rpc"
    ON_TIMEOUT = "on_timeout"


@dataclass(frozen=True, slots=True)
class Method:
    """One method: a step's wait_for or execute, an RPC, or the timeout handler."""

    flow: Flow
    kind: MethodKind
    name: str
    """Of the step or RPC."""
    handler: Handler
    input: Type | None = None
    choices: frozenset[str] = frozenset()
    conditions: tuple[str, ...] = ()
    """What a wait_for handler may wait for."""

    @property
    def may(self) -> May | None:
        return self.handler.may

    @property
    def path(self) -> Path:
        return self.handler.path

    @property
    def is_wait_for(self) -> bool:
        return self.kind is MethodKind.WAIT_FOR

    @property
    def owner(self) -> str:
        """How messages call it."""
        return f"{self.name} (wait_for)" if self.is_wait_for else self.name


def methods_of(flow: Flow) -> Iterator[Method]:
    """Every method with a handler, in the order of the definition."""
    for step in flow.steps.values():
        yield from _step_methods(flow, step, MethodKind.EXECUTE)
    for rpc in flow.rpcs.values():
        if rpc.handler is not None:
            yield _rpc_method(flow, rpc, rpc.handler)
    if flow.on_timeout is not None:
        yield from _step_methods(flow, flow.on_timeout, MethodKind.ON_TIMEOUT)


def _step_methods(flow: Flow, step: Step, kind: MethodKind) -> Iterator[Method]:
    wait_for = step.wait_for
    if wait_for is not None and wait_for.handler is not None:
        ids = tuple(condition.id for condition in wait_for.conditions)
        yield Method(flow, MethodKind.WAIT_FOR, step.name, wait_for.handler, input=step.input, conditions=ids)
    if step.execute is not None:
        yield Method(flow, kind, step.name, step.execute, step.input, _choices(step))


def _rpc_method(flow: Flow, rpc: Rpc, handler: Handler) -> Method:
    return Method(flow, MethodKind.RPC, rpc.name, handler, rpc.input, _choices(rpc))


def _choices(owner: Step | Rpc) -> frozenset[str]:
    return frozenset(decision.choice for decision in owner.decisions if decision.choice is not None)
