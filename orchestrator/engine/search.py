"""`list --where`: CEL over the latest run of each flow id."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from orchestrator.core.state import Run
from orchestrator.definition.expressions import Environment, ExpressionFailed, ExpressionProblem, parse_guard
from orchestrator.definition.model import Attribute, Json
from orchestrator.definition.types import ANY
from orchestrator.engine.definitions import Definitions
from orchestrator.errors import BodyUnreadable, UsageError
from orchestrator.store.contract import Head, Reading
from orchestrator.store.times import from_micros

_NAMES = ("flow", "flow_id", "status", "started_at", "closed_at", "attributes", "steps")
_NOT_CLOSED = datetime(9999, 12, 31, tzinfo=UTC)
"""`closed_at` of a run that is not."""


class Search:
    """Names: flow, flow_id, status, started_at, closed_at, attributes by index key, steps (active types)."""

    def __init__(self, where: str, definitions: Definitions) -> None:
        try:
            self._condition = parse_guard(where, Environment(dict.fromkeys(_NAMES, ANY)))
        except ExpressionProblem as problem:
            advice = f"; {problem.help}" if problem.help else ""
            raise UsageError(
                f"--where, at character {problem.offset + 1}: {problem.message}{advice}"
            ) from None
        self._definitions = definitions
        self._needs_contents = bool(self._condition.names & {"attributes", "steps"})

    def matches(self, reading: Reading, head: Head) -> bool:
        """A run that lacks what the condition reads does not match."""
        scope: dict[str, Json] = {
            "flow": head.flow,
            "flow_id": head.flow_id,
            "status": head.status,
            "started_at": from_micros(head.started_at),
            "closed_at": from_micros(head.closed_at) if head.closed_at is not None else _NOT_CLOSED,
        }
        try:
            if self._needs_contents:
                scope |= self._contents(reading, head)
            return self._condition.evaluate(scope) is True
        except (ExpressionFailed, BodyUnreadable):
            return False

    def _contents(self, reading: Reading, head: Head) -> dict[str, Json]:
        run = reading.load(head).run
        declared = self._definitions.of(head.definition, reading).attributes
        return {"attributes": _indexed(declared, run), "steps": sorted(run.by_step)}


def _indexed(declared: Mapping[str, Attribute], run: Run) -> dict[str, Json]:
    """Values by index key, by default the attribute's name; of a map the entry written last (rule 100)."""
    indexed: dict[str, Json] = {}
    for name, attribute in declared.items():
        if attribute.index is None:
            continue
        if not attribute.is_map and name in run.attributes:
            indexed[attribute.index_key or name] = run.attributes[name]
        elif entries := run.attribute_maps.get(name):
            indexed[attribute.index_key or name] = list(entries.values())[-1]
    return indexed
