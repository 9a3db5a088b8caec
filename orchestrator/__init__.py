"""Flow graphs declared in YAML, bound to Python handlers by name, executed durably.

Handlers import from here: `from orchestrator import Context, choose`. Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.binding.context import Context
    from orchestrator.binding.waits import (
        Choice,
        Wait,
        all_of,
        any_combination_of,
        any_of,
        choose,
        skip,
        until,
    )
    from orchestrator.core.travel import Target
    from orchestrator.definition.catalogue import Catalogue, load_flow
    from orchestrator.engine.client import Client
    from orchestrator.engine.engine import Engine
    from orchestrator.engine.worker import Worker
    from orchestrator.errors import (
        AlreadyStarted,
        Blocked,
        BodyUnreadable,
        ChannelFull,
        DefinitionInvalid,
        HandlerFailed,
        InvalidValue,
        LockConflict,
        NonRetryable,
        NotActive,
        NotExternal,
        NotFound,
        OrchestratorError,
        Rejected,
        RetryAfter,
        StoreError,
        UsageError,
        WaitTimeout,
    )

__version__ = "0.1.0"

__all__ = [
    "AlreadyStarted",
    "Blocked",
    "BodyUnreadable",
    "Catalogue",
    "ChannelFull",
    "Choice",
    "Client",
    "Context",
    "DefinitionInvalid",
    "Engine",
    "HandlerFailed",
    "InvalidValue",
    "LockConflict",
    "NonRetryable",
    "NotActive",
    "NotExternal",
    "NotFound",
    "OrchestratorError",
    "Rejected",
    "RetryAfter",
    "StoreError",
    "Target",
    "UsageError",
    "Wait",
    "WaitTimeout",
    "Worker",
    "all_of",
    "any_combination_of",
    "any_of",
    "choose",
    "load_flow",
    "skip",
    "until",
]

_HOMES = {
    "orchestrator.binding.context": ("Context",),
    "orchestrator.binding.waits": (
        "Choice",
        "Wait",
        "choose",
        "until",
        "any_of",
        "all_of",
        "any_combination_of",
        "skip",
    ),
    "orchestrator.core.travel": ("Target",),
    "orchestrator.definition.catalogue": ("Catalogue", "load_flow"),
    "orchestrator.engine.client": ("Client",),
    "orchestrator.engine.engine": ("Engine",),
    "orchestrator.engine.worker": ("Worker",),
    "orchestrator.errors": (
        "AlreadyStarted",
        "Blocked",
        "BodyUnreadable",
        "ChannelFull",
        "DefinitionInvalid",
        "HandlerFailed",
        "InvalidValue",
        "LockConflict",
        "NonRetryable",
        "NotActive",
        "NotExternal",
        "NotFound",
        "OrchestratorError",
        "Rejected",
        "RetryAfter",
        "StoreError",
        "UsageError",
        "WaitTimeout",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
