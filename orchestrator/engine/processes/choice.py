"""Which handlers run in processes: those that the worker was told, and those whose module says so itself.

RUN_IN_PROCESS = [crunch]  # in the module of the handlers: functions, not names, so that tools know them
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from orchestrator.binding.check import MISFIT, BindingProblem
from orchestrator.binding.invoke import BoundHandler
from orchestrator.binding.method import MethodKind
from orchestrator.binding.registry import Bindings
from orchestrator.definition.model import Flow
from orchestrator.engine.arguments import whole
from orchestrator.errors import UsageError

MARK = "RUN_IN_PROCESS"
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*\Z")
_STEP = re.compile(r"[A-Za-z_][A-Za-z0-9_]*/[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)
log = logging.getLogger("orchestrator.engine")


class Choice:
    """`size`: how many processes there are to be at most; 0: none, and marks of modules are passed over."""

    def __init__(self, names: Iterable[str] = (), size: int | None = None) -> None:
        """`size` None: as many as the machine has processors. Raises UsageError."""
        self.names = frozenset(names)
        for name in self.names:
            if _FUNCTION.match(name) is None and _STEP.match(name) is None:
                raise UsageError(
                    f"`{name}` names no handler to run in a process: write MODULE:FUNCTION or FLOW/STEP"
                )
        if size is not None and whole(size, "processes") < 0:
            raise UsageError(f"there cannot be {size} processes")
        if size == 0 and self.names:
            raise UsageError(f"`{min(self.names)}` is to run in a process, but there are to be 0 processes")
        self.size = (os.cpu_count() or 1) if size is None else size
        self.is_eager = bool(self.names or size)
        """Somebody has asked for them: have them started before there is work."""

    def mark(self, flow: Flow, bindings: Bindings) -> list[BindingProblem]:
        """Note it in the handlers of a flow; what is in the way of it."""
        problems = []
        if self.size:
            for bound in bindings.handlers():
                if bound.method.kind is not MethodKind.RPC and self._takes(flow, bound):
                    if bound.method.handler.transactional:
                        problems.append(_refusal(bound))
                    bound.move_to_process()
        return problems

    def _takes(self, flow: Flow, bound: BoundHandler) -> bool:
        if f"{flow.name}/{bound.method.name}" in self.names:
            return True
        return not self.names.isdisjoint(_names_of(flow, bound)) or _is_marked(bound.function)


def _names_of(flow: Flow, bound: BoundHandler) -> Iterator[str]:
    """As the definition names it, and as it is called where it is defined."""
    name = bound.method.handler.name
    if ":" in name:
        yield name
    else:
        for module in flow.handlers:
            if getattr(sys.modules.get(module), name.partition(".")[0], None) is not None:
                yield f"{module}:{name}"
                break
    function: Any = bound.function
    yield f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', '')}"


def _is_marked(function: Callable[..., Any]) -> bool:
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    marked = getattr(module, MARK, ())
    if not isinstance(marked, list | tuple | set | frozenset) or not all(map(callable, marked)):
        log.warning("%s of %s is passed over: it must be a list of functions", MARK, function.__module__)
        return False
    return any(each is function for each in marked)


def _refusal(bound: BoundHandler) -> BindingProblem:
    method = bound.method
    return BindingProblem(
        method.path,
        f"`{method.handler.name}` of {method.owner} cannot run in a process of its own: "
        "it is transactional, so it runs inside the commit",
        "drop `transactional`, or run it in the worker itself",
        MISFIT,
    )
