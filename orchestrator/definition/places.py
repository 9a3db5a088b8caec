"""Flows found by their type in files and directories, read only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from orchestrator.definition.catalogue import SUFFIX, find_files, read_file
from orchestrator.definition.model import Flow, SubflowCondition


class FlowPlaces:
    """A flow once found stays what it is for the life of the process; a file with problems counts as none."""

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._paths = tuple(paths)
        self._found: dict[str, Flow | None] = {}

    def find(self, name: str) -> Flow | None:
        if name not in self._found:
            self._found[name] = self._look_for(name)
        return self._found[name]

    def _look_for(self, name: str) -> Flow | None:
        for path in find_files(self._paths):
            if not _mentions(path, name):
                continue
            flow, _ = read_file(path)
            if flow is not None and flow.name == name:
                return flow
        return None


def beside(flow: Flow) -> FlowPlaces:
    """The directory of the flow's file, when it has one."""
    path = Path(flow.source.path) if flow.source is not None else None
    is_file = path is not None and path.name.endswith(SUFFIX) and path.is_file()
    return FlowPlaces([path.parent] if path is not None and is_file else [])


def find_children(flow: Flow, find: Callable[[str], Flow | None]) -> tuple[Flow, ...]:
    """The flows of its subflows, of their subflows, and so on, as far as they are found."""
    found: dict[str, Flow] = {flow.name: flow}
    left = [flow]
    while left:
        for name in subflow_types(left.pop()):
            if name not in found and (child := find(name)) is not None:
                found[name] = child
                left.append(child)
    del found[flow.name]
    return tuple(found.values())


def subflow_types(flow: Flow) -> list[str]:
    """In declared order, each once."""
    waits = (step.wait_for for step in flow.steps.values() if step.wait_for is not None)
    conditions = (condition for wait in waits for condition in wait.conditions)
    return list(dict.fromkeys(c.flow for c in conditions if isinstance(c, SubflowCondition)))


def _mentions(path: Path, name: str) -> bool:
    """A cheap look before a file is parsed."""
    try:
        return name.encode() in path.read_bytes()
    except (OSError, ValueError):
        return False
