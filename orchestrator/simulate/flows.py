"""Where a simulation finds flows by their type: beside the flow that it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.definition.catalogue import SUFFIX, load
from orchestrator.definition.model import Flow
from orchestrator.errors import DefinitionInvalid, NotFound

if TYPE_CHECKING:
    from orchestrator.definition.catalogue import Catalogue


class FlowSource:
    """The flows of one directory, read when first asked for another than `flow`."""

    def __init__(self, flow: Flow, directory: Path | None = None) -> None:
        self._flow = flow
        self._directory = directory
        self._catalogue: Catalogue | None = None

    def by_type(self, name: str) -> Flow:
        """Raises NotFound, or DefinitionInvalid for a directory with problems."""
        if name == self._flow.name:
            return self._flow
        if self._directory is None:
            raise NotFound(f"no flow `{name}`: only `{self._flow.name}` is here")
        if self._catalogue is None:
            from orchestrator.definition.catalogue import Catalogue

            self._catalogue = Catalogue.of_paths([self._directory])
        return self._catalogue.by_type(name)

    def find(self, flow: Flow | str | Path) -> Flow:
        """A flow, its file, or its type; raises NotFound, DefinitionInvalid."""
        if isinstance(flow, Flow):
            return flow
        if isinstance(flow, Path) or flow.endswith(SUFFIX):
            return load(flow)
        return self.by_type(flow)

    def child(self, name: str) -> Flow | str:
        """A child's flow, or why there is none."""
        try:
            return self.by_type(name)
        except (NotFound, DefinitionInvalid) as error:
            return error.message
