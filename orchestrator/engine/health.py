"""Is a worker alive, is it ready? What probes of a supervisor ask (docs/how-to/deploy.md)."""

from __future__ import annotations

from typing import NamedTuple

from orchestrator.definition.model import Json
from orchestrator.engine import leases
from orchestrator.engine.worker import Worker
from orchestrator.errors import OrchestratorError


class Finding(NamedTuple):
    is_good: bool
    said: dict[str, Json]


class Health:
    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def alive(self) -> Finding:
        """Not when its lease was not renewed in time: others take its work over."""
        return _finding(lease=self._lease())

    def ready(self) -> Finding:
        """Is work taken? Not before it has begun, not while it drains, not without the store."""
        return _finding(lease=self._lease(), claiming=self._claiming(), store=self._store())

    def _lease(self) -> str:
        renewed_at = self._worker.renewed_at
        if renewed_at is None:
            return "ok"  # it has none yet, or no more
        age = self._worker.engine.clock.now() - renewed_at
        if age < leases.ALIVE_FOR:
            return "ok"
        return f"not renewed for {age.total_seconds():.0f} s"

    def _claiming(self) -> str:
        if self._worker.is_draining:
            return "draining"
        if not self._worker.is_started:
            return "not started"
        return "the store has failed just now" if self._worker.engine.committer.is_paused else "ok"

    def _store(self) -> str:
        try:
            with self._worker.engine.store.reading() as reading:
                reading.find_pauses()
        except OrchestratorError as error:
            return error.message
        return "ok"


def _finding(**checks: Json) -> Finding:
    is_good = all(said == "ok" for said in checks.values())
    return Finding(is_good, {"status": "ok" if is_good else "failing", "checks": checks})
