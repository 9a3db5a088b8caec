"""Handlers of every definition that this process meets, bound once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from pathlib import Path

from orchestrator.binding.check import BindingProblem
from orchestrator.binding.invoke import BoundHandler
from orchestrator.binding.registry import Bindings
from orchestrator.core.state import Execution, Phase
from orchestrator.core.tasks import step_of
from orchestrator.definition.model import Flow

log = logging.getLogger("orchestrator.engine")


class Handlers:
    def __init__(self, search_path: Iterable[str | Path] = (".",)) -> None:
        self._search_path = tuple(search_path)
        self._bindings: dict[str, Bindings] = {}
        self._unbound: dict[str, list[BindingProblem]] = {}
        self._wait_for: dict[tuple[str, str], BoundHandler] = {}
        self._execute: dict[tuple[str, str], BoundHandler] = {}
        self._lock = threading.Lock()

    def of(self, flow: Flow, execution: Execution) -> BoundHandler | None:
        """None: the flow's handlers cannot be bound here, its work is for other workers."""
        of_phase = self._wait_for if execution.phase is Phase.WAIT_FOR else self._execute
        bound = of_phase.get((flow.hash, execution.step))
        if bound is not None:
            return bound
        bindings = self._bind(flow)
        if flow.hash in self._unbound:
            return None
        if execution.phase is Phase.WAIT_FOR:
            bound = bindings.wait_for(execution.step)
        else:
            bound = bindings.execute(step_of(flow, execution).name)
        of_phase[flow.hash, execution.step] = bound
        return bound

    def rpc(self, flow: Flow, name: str) -> BoundHandler:
        """Raises DefinitionInvalid when it cannot be called here."""
        return self._bind(flow).rpc(name)

    def problems(self, flow: Flow) -> list[BindingProblem]:
        self._bind(flow)
        return self._unbound.get(flow.hash, [])

    def excluded(self) -> list[str]:
        """Hashes of the definitions that cannot be bound here."""
        return list(self._unbound)

    def _bind(self, flow: Flow) -> Bindings:
        with self._lock:
            if flow.hash not in self._bindings:
                bindings = Bindings(flow, self._search_path)
                if problems := bindings.problems():
                    texts = "; ".join(f"{problem.message} ({problem.help})" for problem in problems)
                    log.warning("flow %s is left to other workers: %s", flow.name, texts)
                    self._unbound[flow.hash] = problems
                self._bindings[flow.hash] = bindings
            return self._bindings[flow.hash]
