"""Where the store and the flows are: flag, else environment, else pyproject.toml, else default."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.definition.presence import reason
from orchestrator.errors import UsageError

DEFAULT_DB = "sqlite:///orchestrator.db"
DEFAULT_FLOWS = "flows"


@dataclass(frozen=True)
class Settings:
    db: str
    """SQLAlchemy URL."""
    flows: tuple[Path, ...]
    is_flows_default: bool
    """Nobody named the flows: a missing default directory is no mistake."""
    attribute_store: str | None = None
    """Database URL that synced attributes are projected to."""
    retention: str | None = None
    """How long closed runs are kept: a duration of the language; None: for ever."""
    codec: str | None = None
    """`module:factory` of what encodes values (store/bodies.py)."""
    objects: str | None = None
    """Directory, or `module:factory`, of values that are larger than `offload_over` bytes."""
    offload_over: int = 256 * 1024
    processes: int | None = None
    """For handlers that compute; None: as many as the machine has processors."""
    run_in_process: tuple[str, ...] = ()
    """Handlers and steps that are called in them."""


def resolve_settings(
    db: str | None,
    flows: Sequence[str] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Settings:
    environment = os.environ if environment is None else environment
    configured = read_pyproject(Path.cwd() if directory is None else directory)
    named = list(flows or ()) or _split(environment.get("ORCHESTRATOR_FLOWS")) or _listed(configured)
    db = db or environment.get("ORCHESTRATOR_DB") or _configured_url(configured, "db") or DEFAULT_DB
    return Settings(
        db=check_url(db),
        flows=tuple(Path(path) for path in named or [DEFAULT_FLOWS]),
        is_flows_default=not named,
        attribute_store=environment.get("ORCHESTRATOR_ATTRIBUTE_STORE")
        or _configured_url(configured, "attribute_store"),
        retention=environment.get("ORCHESTRATOR_RETENTION") or _configured_retention(configured),
        codec=environment.get("ORCHESTRATOR_CODEC") or _configured_text(configured, "codec"),
        objects=environment.get("ORCHESTRATOR_OBJECTS") or _configured_text(configured, "objects"),
        offload_over=_configured_size(configured),
        processes=_configured_processes(_worker_table(configured)),
        run_in_process=_configured_names(_worker_table(configured)),
    )


def check_url(url: str) -> str:
    if "://" in url:
        return url
    scheme, colon, rest = url.partition(":")
    if colon and scheme.startswith("postgres"):
        advice = "that of a PostgreSQL database is postgresql://USER@HOST/NAME"
    else:
        file = rest if colon and scheme.startswith("sqlite") else url
        advice = f"for a SQLite file write: --db sqlite:///{file or 'orchestrator.db'}"
    raise UsageError(f"`{url}` is not a database URL; {advice}", db=url)


def _split(paths: str | None) -> list[str]:
    return [path for path in (paths or "").split(os.pathsep) if path]


def read_pyproject(directory: Path) -> Mapping[str, Any]:
    """The table `[tool.orchestrator]`; empty where there is none."""
    path = directory / "pyproject.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read pyproject.toml: {reason(error)}") from None
    table = document.get("tool", {}).get("orchestrator", {})
    return table if isinstance(table, dict) else {}


def _configured_url(configured: Mapping[str, Any], key: str) -> str | None:
    url = configured.get(key)
    if url is None or isinstance(url, str):
        return url
    raise UsageError(f"pyproject.toml: [tool.orchestrator] {key} must be text, a database URL")


def _configured_text(configured: Mapping[str, Any], key: str) -> str | None:
    text = configured.get(key)
    if text is None or isinstance(text, str):
        return text
    raise UsageError(f"pyproject.toml: [tool.orchestrator] {key} must be text")


def _configured_size(configured: Mapping[str, Any]) -> int:
    size = configured.get("offload_over_kib", 256)
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size * 1024
    raise UsageError("pyproject.toml: [tool.orchestrator] offload_over_kib must be a whole number, of KiB")


def _configured_retention(configured: Mapping[str, Any]) -> str | None:
    span = configured.get("retention")
    if span is None or isinstance(span, str):
        return span
    raise UsageError(
        'pyproject.toml: [tool.orchestrator] retention must be a duration as text, such as "30d"'
    )


_WORKER = "pyproject.toml: [tool.orchestrator.worker]"


def _worker_table(configured: Mapping[str, Any]) -> Mapping[str, Any]:
    table = configured.get("worker", {})
    if not isinstance(table, dict):
        raise UsageError(f"{_WORKER} must be a table")
    unknown = sorted(table.keys() - {"processes", "run_in_process"})
    if unknown:
        raise UsageError(f"{_WORKER} has no `{unknown[0]}`; it has `processes` and `run_in_process`")
    return table


def _configured_processes(table: Mapping[str, Any]) -> int | None:
    count = table.get("processes")
    if count is None or (isinstance(count, int) and not isinstance(count, bool) and count >= 0):
        return count
    raise UsageError(f"{_WORKER} processes must be a number of processes, such as 2")


def _configured_names(table: Mapping[str, Any]) -> tuple[str, ...]:
    names = table.get("run_in_process", [])
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return tuple(names)
    raise UsageError(f'{_WORKER} run_in_process must be a list such as ["reports:draw", "Order/Charge"]')


def _listed(configured: Mapping[str, Any]) -> list[str]:
    flows = configured.get("flows", [])
    if isinstance(flows, str):
        return [flows]
    if isinstance(flows, list) and all(isinstance(path, str) for path in flows):
        return flows
    raise UsageError("pyproject.toml: [tool.orchestrator] flows must be a path or a list of paths")
