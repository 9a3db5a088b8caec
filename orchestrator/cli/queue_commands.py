"""What `orchestrator queues …` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from orchestrator.cli.queue_values import parse_priority, parse_rate, queue_as_json, read_queues_file
from orchestrator.cli.session import now, open_client
from orchestrator.engine.engine import Engine
from orchestrator.engine.queue_settings import remove_queue, replace_queues, set_queue
from orchestrator.errors import UsageError
from orchestrator.store.queues import QueueSettings

_NONE = "none"


@dataclass(frozen=True)
class QueueChange:
    """As it is typed; None: stays as it is."""

    routes: Sequence[str] | None
    concurrency: str | None
    rate: str | None
    burst: int | None
    priority: str | None
    within: str | None

    def of(self, settings: QueueSettings) -> QueueSettings:
        """Raises UsageError."""
        changes: dict[str, Any] = {}
        if self.routes is not None:
            changes["routes"] = tuple(self.routes)
        if self.concurrency is not None:
            changes["concurrency"] = _count(self.concurrency)
        if self.rate is not None:
            changes["rate"] = None if self.rate == _NONE else parse_rate(self.rate, self.burst, "--rate")
        elif self.burst is not None:
            if settings.rate is None:
                raise UsageError("--burst belongs to a rate: give --rate too")
            changes["rate"] = replace(settings.rate, burst=self.burst)
        if self.priority is not None:
            changes["priority"] = parse_priority(self.priority, "--priority")
        if self.within is not None:
            changes["within"] = None if self.within == _NONE else self.within
        return replace(settings, **changes)


def change_queue(db: str | None, name: str, change: QueueChange) -> dict[str, Any]:
    with open_client(db, may_create=True) as client:
        set_queue(client.engine, name, change.of)
        return next(queue for queue in _queues(client.engine) if queue["name"] == name)


def find_queues(db: str | None) -> list[dict[str, Any]]:
    with open_client(db) as client:
        return _queues(client.engine)


def drop_queue(db: str | None, name: str) -> None:
    with open_client(db) as client:
        remove_queue(client.engine, name)


def apply_file(db: str | None, path: Path) -> list[dict[str, Any]]:
    queues = read_queues_file(path)
    with open_client(db, may_create=True) as client:
        replace_queues(client.engine, queues)
        return _queues(client.engine)


def _queues(engine: Engine) -> list[dict[str, Any]]:
    with engine.store.reading() as reading:
        counts = reading.work_counts(now())
        return [queue_as_json(queue, counts) for queue in reading.find_queues()]


def _count(text: str) -> int | None:
    if text == _NONE:
        return None
    if not text.isdigit():
        raise UsageError(f"--concurrency: `{text}` is no number of handlers; write 0 or more, or none")
    return int(text)
