"""Opening the store as it is configured: the codec of values, the place for large ones."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.cli.settings import Settings
from orchestrator.errors import OrchestratorError, UsageError

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from orchestrator.engine.tracing import Tracing
    from orchestrator.store.bodies import Bodies


def open_engine(settings: Settings, tracing: Tracing | None = None, *, makes: bool = True) -> Engine:
    """`makes` False: raises NotFound where there is no store."""
    from orchestrator.engine.engine import Engine
    from orchestrator.store.opening import open_store

    bodies = configured_bodies(settings)
    store = open_store(settings.db, makes=makes)
    return Engine(store, attribute_store=settings.attribute_store, tracing=tracing, bodies=bodies)


def configured_bodies(settings: Settings) -> Bodies | None:
    """None: values are kept as they are. Raises UsageError."""
    if settings.codec is None and settings.objects is None:
        return None
    from orchestrator.store.bodies import Bodies

    made = _made("codec", settings.codec) if settings.codec is not None else []
    codecs = made if isinstance(made, list | tuple) else [made]
    for codec in codecs:
        _demand("codec", settings.codec, codec, ("key_id", "is_secret", "encode", "decode"))
    return Bodies(codecs, _objects(settings.objects), settings.offload_over)


def _objects(named: str | None) -> Any:
    """A directory, or `module:factory`."""
    if named is None:
        return None
    module, _, factory = named.partition(":")
    if factory.isidentifier() and all(part.isidentifier() for part in module.split(".")):
        objects = _made("objects", named)
        _demand("objects", named, objects, ("put", "get", "delete", "list"))
        return objects
    from orchestrator.store.objects import FileObjects

    return FileObjects(named)


def _made(key: str, named: str) -> Any:
    place = f"[tool.orchestrator] {key}"
    module, _, factory = named.partition(":")
    if not module or not factory.isidentifier():
        raise UsageError(f'{place}: `{named}` is not "module:factory"')
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), factory)()
    except OrchestratorError:
        raise
    except Exception as error:
        raise UsageError(f"{place}: {named} gives none: {type(error).__name__}: {error}") from None


def _demand(key: str, named: str | None, made: object, members: tuple[str, ...]) -> None:
    lacking = [name for name in members if not hasattr(made, name)]
    if lacking:
        raise UsageError(
            f"[tool.orchestrator] {key}: what {named} gives is a {type(made).__name__} "
            f"without {', '.join(lacking)}"
        )
