"""Flows that name the same modules of handlers: a function that one does not use, another may."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from orchestrator.binding.method import Method, methods_of
from orchestrator.definition.catalogue import SUFFIX, find_files, read_file
from orchestrator.definition.model import Flow

Name: TypeAlias = tuple[str, str]
"""A module, and what is looked up in it."""


class Relatives:
    """Among the flows that are looked at, and all that lie beside them."""

    def __init__(self, files: Iterable[str | Path] = ()) -> None:
        self._files = [Path(file) for file in files]
        self._texts: dict[Path, str] | None = None
        self._flows: dict[Path, Flow | None] = {}
        self._by_name: tuple[Flow | None, dict[Name, list[Method]]] = (None, {})
        self._reported: dict[str, str] = {}
        """Modules, and the file of the flow that is told of their unused functions."""

    def of(self, flow: Flow) -> list[Flow]:
        """Others that may use the same modules."""
        modules = modules_of(flow)
        own = os.path.realpath(flow.source.path) if flow.source is not None else ""
        found = []
        for path, text in self._all_texts(flow).items():
            if os.path.realpath(path) != own and any(module in text for module in modules):
                other = self._read(path)
                if other is not None and modules & modules_of(other):
                    found.append(other)
        return found

    def sharers(self, method: Method) -> list[Method]:
        """All methods that may have the same function, this one too."""
        return [each for name in sorted(names_of(method)) for each in self._methods(method.flow)[name]]

    def _methods(self, flow: Flow) -> Mapping[Name, list[Method]]:
        """Of a flow and its relatives, by where their handlers are looked up; of the last flow asked for."""
        known, found = self._by_name
        if known is not flow:
            found = {}
            for each in [flow, *self.of(flow)]:
                for method in methods_of(each):
                    for name in names_of(method):
                        found.setdefault(name, []).append(method)
            self._by_name = flow, found
        return found

    def names_in(self, flow: Flow, module: str) -> frozenset[str]:
        """All that this flow and its relatives look up in a module."""
        return frozenset(attribute for each, attribute in self._methods(flow) if each == module)

    def is_first(self, flow: Flow, module: str) -> bool:
        """Whether what is to say of the module is said here, once for all flows."""
        assert flow.source is not None
        return self._reported.setdefault(module, flow.source.path) == flow.source.path

    def _all_texts(self, flow: Flow) -> dict[Path, str]:
        if self._texts is None:
            assert flow.source is not None
            places = [*self._files, Path(flow.source.path)]
            beside = {place.resolve().parent for place in places if place.name.endswith(SUFFIX)}
            paths = {os.path.realpath(path): path for path in [*places, *find_files(sorted(beside))]}
            self._texts = {path: text for path in paths.values() if (text := _text_of(path))}
        return self._texts

    def _read(self, path: Path) -> Flow | None:
        if path not in self._flows:
            self._flows[path] = read_file(path)[0]
        return self._flows[path]


def names_of(method: Method) -> frozenset[Name]:
    """Where the handler may be found."""
    module, colon, attribute = method.handler.name.partition(":")
    if colon:
        return frozenset([(module, attribute)])
    return frozenset((each, method.handler.name) for each in method.flow.handlers)


def modules_of(flow: Flow) -> frozenset[str]:
    return frozenset(module for method in methods_of(flow) for module, _ in names_of(method))


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
