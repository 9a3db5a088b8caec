"""Opening what commands work on: the store, the client, the flows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.nearby import nearby_runs_told
from orchestrator.cli.settings import Settings, resolve_settings
from orchestrator.cli.storage import configured_bodies
from orchestrator.definition.presence import is_there
from orchestrator.errors import DefinitionInvalid, NotFound, UsageError

if TYPE_CHECKING:
    from orchestrator.definition.model import Flow
    from orchestrator.engine.client import Client


def now() -> datetime:
    from orchestrator.clock import SystemClock

    return SystemClock().now()


@contextmanager
def open_client(
    db: str | None, *, flows: Sequence[str] | None = None, may_create: bool = False
) -> Iterator[Client]:
    """A client of the store, closed at the end. Only a start makes a database that is not there.

    What a command commits may start other flows: they are found in `flows`. Raises NotFound, UsageError.
    """
    from orchestrator.definition.places import FlowPlaces
    from orchestrator.engine.client import Client
    from orchestrator.store.opening import is_memory, open_store

    require_places(flows)
    settings = resolve_settings(db, flows)
    if may_create and is_memory(settings.db):
        raise UsageError("a database in memory ends with this command: use `orchestrator run`, or a file")
    bodies = configured_bodies(settings)
    store = open_store(settings.db, makes=may_create)
    with Client(store, attribute_store=settings.attribute_store, bodies=bodies) as client:
        client.engine.definitions.look_in(FlowPlaces(named_flows(settings)).find)
        with nearby_runs_told(store):
            yield client


def named_flows(settings: Settings) -> tuple[Path, ...]:
    """The catalogue's places; a missing `flows/` that nobody named is no mistake."""
    if settings.is_flows_default and not settings.flows[0].exists():
        return ()
    return settings.flows


def require_places(flows: Iterable[str | Path] | None) -> None:
    """What is named with --flows must be there. Raises UsageError."""
    from orchestrator.definition.presence import require

    for place in flows or ():
        require(place)


def find_flow(named: str, flows: Sequence[str] | None) -> Flow:
    """A path, or a flow type of the catalogue. Refuses what cannot be executed."""
    from orchestrator.cli.flow_files import load_named
    from orchestrator.definition.catalogue import check_executable

    flow = load_named(named) if is_path(named) else _of_type(named, resolve_settings(None, flows))
    unfit = check_executable(flow)
    if unfit:
        raise DefinitionInvalid(f"{flow.name} cannot be executed by this release", tuple(unfit))
    return flow


def _of_type(named: str, settings: Settings) -> Flow:
    from orchestrator.definition.catalogue import SUFFIX, Catalogue

    places = named_flows(settings)
    if not places:
        raise NotFound(f"no flow `{named}`: there is no directory flows/; give a path, or --flows PATH")
    require_places(places)
    catalogue = Catalogue.of_paths(places)
    if not catalogue.flows:
        under = ", ".join(map(str, places))
        why = f"there is no *{SUFFIX} under {under}"
        raise NotFound(f"no flow `{named}`: {why}; give a path, or --flows PATH")
    return catalogue.by_type(named)


def is_path(named: str) -> bool:
    return named.endswith((".yaml", ".yml")) or "/" in named or is_there(Path(named))


def demand_handlers(flow: Flow) -> None:
    """Refuse to work on a flow whose handlers cannot be called here."""
    from orchestrator.binding.check import locate
    from orchestrator.binding.registry import Bindings

    problems = locate(flow, Bindings(flow).problems())
    if problems:
        raise DefinitionInvalid(f"the handlers of {flow.name} cannot be called", tuple(problems))
