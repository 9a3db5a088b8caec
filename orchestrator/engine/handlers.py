"""Handlers of every definition that this process meets, bound once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.binding.check import BindingProblem
from orchestrator.binding.invoke import BoundHandler
from orchestrator.binding.method import MethodKind
from orchestrator.binding.registry import Bindings
from orchestrator.core.state import TIMEOUT_STEP, Execution, Phase
from orchestrator.core.tasks import step_of
from orchestrator.definition.model import Flow
from orchestrator.engine.served import Served
from orchestrator.store.queues import NO_QUEUES, Queues

if TYPE_CHECKING:
    from orchestrator.engine.processes.choice import Choice

log = logging.getLogger("orchestrator.engine")


class Handlers:
    def __init__(
        self,
        search_path: Iterable[str | Path] = (".",),
        served: Served | None = None,
        choice: Choice | None = None,
    ) -> None:
        """`served`: what of all work is taken; None: everything. `choice`: what runs in processes."""
        self.served = served
        self.queues = NO_QUEUES
        """As the last transaction had them."""
        self.search_path = tuple(search_path)
        self.in_process: list[str] = []
        """`hash/step` of the steps with a handler that runs in a process."""
        self.in_loop: list[str] = []
        """The same of those that are coroutines."""
        self.on_in_process: Callable[[Flow], None] = lambda flow: None
        """Called once for each flow with such a handler."""
        self._choice = choice
        self._left: dict[str, list[str]] = {}
        """What is not served, of the definitions met so far."""
        self._bindings: dict[str, Bindings] = {}
        self._unbound: dict[str, list[BindingProblem]] = {}
        self._wait_for: dict[tuple[str, str], BoundHandler] = {}
        self._execute: dict[tuple[str, str], BoundHandler] = {}
        self._lock = threading.Lock()

    def of(self, flow: Flow, execution: Execution) -> BoundHandler | None:
        """None: its work is for other workers, because it is not served or cannot be bound here."""
        of_phase = self._wait_for if execution.phase is Phase.WAIT_FOR else self._execute
        bound = of_phase.get((flow.hash, execution.step))
        if bound is not None:
            return bound
        if not self.serves(flow.name, execution.step):
            self.leave_unserved(flow)
            return None
        bindings = self._bind(flow)
        if flow.hash in self._unbound:
            return None
        if execution.phase is Phase.WAIT_FOR:
            bound = bindings.wait_for(execution.step)
        else:
            bound = bindings.execute(step_of(flow, execution).name)
        of_phase[flow.hash, execution.step] = bound
        return bound

    def serves(self, flow: str, step: str) -> bool:
        served, queues = self.served, self.queues
        return served is None or served.has(flow, step) or served.names(queues, queues.of(flow, step))

    def is_named(self, number: int) -> bool:
        """All work of this queue is served, whatever flow it is of."""
        return self.served is None or self.served.names(self.queues, number)

    def serves_beside(self, queues: Queues) -> bool:
        """Anything beside queues that are named?"""
        return self.served is None or not self.served.is_of_queues(queues)

    def unbound(self) -> list[str]:
        """Hashes of definitions that cannot be bound here."""
        return list(self._unbound)

    def rpc(self, flow: Flow, name: str) -> BoundHandler:
        """Raises DefinitionInvalid when it cannot be called here."""
        return self._bind(flow).rpc(name)

    def problems(self, flow: Flow) -> list[BindingProblem]:
        self._bind(flow)
        return self._unbound.get(flow.hash, [])

    def excluded(self) -> list[str]:
        """Hashes of definitions that cannot be bound here or are not served; `hash/step` of single steps."""
        if self.served is None:
            return list(self._unbound)
        left = [each for lefts in list(self._left.values()) for each in lefts]
        return [*self._unbound, *left]

    def leave_unserved(self, flow: Flow) -> None:
        """Claim no more of it than is served."""
        if self.served is not None:
            self._left[flow.hash] = self.served.left_of(flow)

    def leave(self, hash: str) -> None:
        """Claim nothing of this definition."""
        self._left[hash] = [hash]

    def _bind(self, flow: Flow) -> Bindings:
        with self._lock:
            if flow.hash not in self._bindings:
                bindings = Bindings(flow, self.search_path)
                if problems := bindings.problems() or self._note_places(flow, bindings):
                    texts = "; ".join(f"{problem.message} ({problem.help})" for problem in problems)
                    log.warning("flow %s is left to other workers: %s", flow.name, texts)
                    self._unbound[flow.hash] = problems
                self._bindings[flow.hash] = bindings
            return self._bindings[flow.hash]

    def _note_places(self, flow: Flow, bindings: Bindings) -> list[BindingProblem]:
        """Where its handlers run; what is in the way of it."""
        problems = self._choice.mark(flow, bindings) if self._choice is not None else []
        if problems:
            return problems
        handlers = [bound for bound in bindings.handlers() if bound.method.kind is not MethodKind.RPC]
        in_process = [bound for bound in handlers if bound.runs_in_process]
        self.in_process.extend(_steps_of(flow, in_process))
        in_loop = (bound for bound in handlers if bound.is_async and not bound.runs_in_process)
        self.in_loop.extend(_steps_of(flow, in_loop))
        if in_process:
            self.on_in_process(flow)
        return []


def _steps_of(flow: Flow, handlers: Iterable[BoundHandler]) -> dict[str, None]:
    methods = (bound.method for bound in handlers)
    names = (TIMEOUT_STEP if each.kind is MethodKind.ON_TIMEOUT else each.name for each in methods)
    return dict.fromkeys(f"{flow.hash}/{name}" for name in names)
