"""The flow of a file that is named on the command line."""

from __future__ import annotations

from orchestrator.definition.catalogue import load
from orchestrator.definition.model import Flow
from orchestrator.definition.presence import require_flow_file


def load_named(path: str) -> Flow:
    """Raises UsageError where there is no such file, DefinitionInvalid where it has problems."""
    require_flow_file(path)
    return load(path)
