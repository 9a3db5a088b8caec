"""Queues as people write and read them: on the command line, in a TOML file, as a table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from orchestrator.cli.layout import columns
from orchestrator.cli.options import parse_span
from orchestrator.definition.durations import format_duration
from orchestrator.definition.presence import reason
from orchestrator.errors import UsageError
from orchestrator.store.queues import Priority, Queue, QueueSettings, Rate

_KEYS = ("routes", "concurrency", "rate", "burst", "priority", "within")
_PYPROJECT = "pyproject.toml"


def parse_rate(text: str, burst: int | None, place: str) -> Rate:
    """`100/1m`, `5/s`: so many in such a time; `burst`: how many of them at once, by default one."""
    count, slash, span = text.replace(" ", "").partition("/")
    if not slash or not count.isdigit():
        raise UsageError(f"{place}: `{text}` is no rate: write COUNT/DURATION, such as 100/1m or 5/s")
    within = parse_span(f"1{span}" if span[:1].isalpha() else span, place)
    assert within is not None
    return Rate(int(count), within // timedelta(microseconds=1), burst or 1)


def parse_priority(text: str, place: str) -> Priority:
    try:
        return Priority[text.upper()]
    except KeyError:
        raise UsageError(f"{place}: `{text}` is no priority: high, normal or low") from None


def read_queues_file(path: Path) -> dict[str, QueueSettings]:
    """`[tool.orchestrator.queues.NAME]` in a pyproject.toml, `[NAME]` in any other file."""
    try:
        document: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read {path}: {reason(error)}") from None
    if path.name == _PYPROJECT:
        document = document.get("tool", {}).get("orchestrator", {}).get("queues", {})
    return {name: _settings_of(table, f"{path}: {name}") for name, table in document.items()}


def _settings_of(table: object, place: str) -> QueueSettings:
    if not isinstance(table, dict):
        raise UsageError(f"{place} must be a table")
    if unknown := sorted(table.keys() - set(_KEYS)):
        raise UsageError(f"{place} has no `{unknown[0]}`; it has {', '.join(_KEYS)}")
    routes = table.get("routes", [])
    if not isinstance(routes, list) or not all(isinstance(route, str) for route in routes):
        raise UsageError(f'{place}: routes must be a list such as ["Order", "Report/Draw"]')
    concurrency, burst = (_whole(table, key, place) for key in ("concurrency", "burst"))
    rate, priority, within = (_text(table, key, place) for key in ("rate", "priority", "within"))
    if burst is not None and rate is None:
        raise UsageError(f"{place}: burst belongs to a rate")
    return QueueSettings(
        routes=tuple(routes),
        concurrency=concurrency,
        rate=parse_rate(rate, burst, place) if rate is not None else None,
        priority=parse_priority(priority or "normal", place),
        within=within,
    )


def _whole(table: Mapping[str, Any], key: str, place: str) -> int | None:
    value = table.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise UsageError(f"{place}: {key} must be a whole number")


def _text(table: Mapping[str, Any], key: str, place: str) -> str | None:
    value = table.get(key)
    if value is None or isinstance(value, str):
        return value
    raise UsageError(f"{place}: {key} must be text")


def rate_text(rate: Rate) -> str:
    return f"{rate.count}/{format_duration(timedelta(microseconds=rate.micros))}"


def queue_as_json(queue: Queue, counts: Mapping[int, tuple[int, int]]) -> dict[str, Any]:
    """`counts`: leased and due, by the number of the queue."""
    settings = queue.settings
    leased_count, due_count = counts.get(queue.number, (0, 0))
    return {
        "name": queue.name,
        "routes": list(settings.routes),
        "concurrency": settings.concurrency,
        "rate": rate_text(settings.rate) if settings.rate is not None else None,
        "burst": settings.rate.burst if settings.rate is not None else None,
        "priority": settings.priority.name.lower(),
        "within": settings.within,
        "leased": leased_count,
        "due": due_count,
    }


def queues_as_text(queues: list[dict[str, Any]]) -> str:
    rows = [["queue", "routes", "concurrency", "rate", "priority", "within", "leased", "due"]]
    for queue in queues:
        burst = f" burst {queue['burst']}" if (queue["burst"] or 1) > 1 else ""
        cells = (
            queue["name"],
            " ".join(queue["routes"]),
            queue["concurrency"],
            f"{queue['rate']}{burst}" if queue["rate"] else None,
            queue["priority"],
            queue["within"],
            queue["leased"],
            queue["due"],
        )
        rows.append(["-" if cell in (None, "") else str(cell) for cell in cells])
    return "\n".join("".join(row).rstrip() for row in columns(rows)) if queues else ""
