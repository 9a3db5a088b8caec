"""Flows that a client may start: found, checked, and with those that their subflows may be started from."""

from __future__ import annotations

from pathlib import Path

from orchestrator.definition.catalogue import SUFFIX, check_executable, load
from orchestrator.definition.model import Flow
from orchestrator.definition.places import beside, find_children
from orchestrator.engine.arguments import another
from orchestrator.engine.engine import Engine
from orchestrator.errors import DefinitionInvalid


class Startable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._children: dict[str, tuple[Flow, ...]] = {}
        """By hash of the flows that were found."""

    def find(self, flow: Flow | str | Path) -> Flow:
        """The flow of a file, of a catalogue or, the latest one, of the store.

        Raises DefinitionInvalid, NotFound.
        """
        definitions = self._engine.definitions
        if isinstance(flow, Path) or (isinstance(flow, str) and flow.endswith(SUFFIX)):
            flow = load(flow)
        elif isinstance(flow, str):
            with self._engine.store.reading() as reading:
                flow = definitions.of_type(flow, reading)
        if not isinstance(flow, Flow):
            raise another("a flow", "a Flow, its type or its file", flow)
        if flow.hash not in self._children:
            if problems := check_executable(flow):
                texts = "; ".join(problem.concise() for problem in problems)
                raise DefinitionInvalid(f"{flow.name} cannot be executed yet: {texts}", tuple(problems))
            places = beside(flow)
            self._children[flow.hash] = find_children(
                flow, lambda name: definitions.find(name) or places.find(name)
            )
        return flow

    def is_known(self, flow: Flow | str | Path) -> bool:
        """It was found before: nothing has to be read for it."""
        return isinstance(flow, Flow) and flow.hash in self._children

    def children_of(self, flow: Flow) -> tuple[Flow, ...]:
        """Of one that was found."""
        return self._children[flow.hash]
