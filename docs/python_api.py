"""The page of the public Python API, out of its signatures and docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from typing import Any

import orchestrator

_APPLICATIONS = ("Client", "Engine", "Worker", "Catalogue", "load_flow", "Target")
_HANDLERS = (
    "Context",
    "choose",
    "Choice",
    "until",
    "any_of",
    "all_of",
    "any_combination_of",
    "skip",
    "Wait",
    "RetryAfter",
    "NonRetryable",
)

_NAMED = {
    "ReusePolicy": "orchestrator.core.reuse",
    "TimeoutPolicy": "orchestrator.definition.model",
    "Started": "orchestrator.engine.submission",
    "Receipt": "orchestrator.engine.submission",
    "Travelled": "orchestrator.engine.travelling",
    "Migration": "orchestrator.engine.migrating",
    "Bodies": "orchestrator.store.bodies",
    "Tracing": "orchestrator.engine.tracing",
    "Metrics": "orchestrator.engine.metrics",
    "WaitResults": "orchestrator.binding.results",
    "Attributes": "orchestrator.binding.attributes",
    "Channels": "orchestrator.binding.channels",
    "Locals": "orchestrator.binding.results",
    "RecoveredFailure": "orchestrator.core.state",
}
"""What stands in signatures: a name and its module."""
_IMPORTED = ("Bodies", "Tracing", "Metrics")
_HINTS = """Of arguments and results. None has to be imported but `Bodies`, `Tracing` and `Metrics`.

* `Json`: None, bool, int, float, str, and lists and dicts (with keys of text) of these.
* `Span`: a `timedelta`, or a number of seconds.
* `Flow`: what `load_flow` gives.
* `Store`, `Clock`, `Faults`, `Definitions`, `Wish`, `Handlers`: parts of the engine, not for applications."""


def api_page() -> str:
    """Markdown; every public name once."""
    errors = [
        name for name in sorted(orchestrator.__all__) if name not in _APPLICATIONS and name not in _HANDLERS
    ]
    parts = [
        "# Python API",
        "Generated from the code. Everything is imported from `orchestrator`; names are loaded when first "
        "used, so `import orchestrator` is light. Clients and stores are synchronous and safe to use from "
        "many threads: a web application keeps one `Client` (or one `Engine` with a `Client` and a "
        "`Worker`) for its process.",
        "## For applications",
        *(_entry(name) for name in _APPLICATIONS),
        "## For handlers",
        *(_entry(name) for name in _HANDLERS),
        "## Errors",
        "All are `OrchestratorError`s: `message` is for people, `data` for programs.",
        *_table(errors),
        "## Names in the signatures",
        _HINTS,
        *(_named(name, module) for name, module in _NAMED.items()),
    ]
    return "\n\n".join(parts) + "\n"


def _entry(name: str, *, with_members: bool = True) -> str:
    value = getattr(orchestrator, name)
    parts = [f"### `{name}`", f"```python\n{name}{_signature(value)}\n```", _text(value)]
    if with_members and inspect.isclass(value) and not issubclass(value, Exception):
        parts += [_member(member, found) for member, found in _members(value)]
    return "\n\n".join(part for part in parts if part)


def _table(errors: list[str]) -> list[str]:
    rows = ["| raised | exit code of commands | |", "|---|---|---|"]
    for name in errors:
        error = getattr(orchestrator, name)
        rows.append(f"| `{name}` | {error.exit_code} | {_line(error)} |")
    return ["\n".join(rows)]


def _named(name: str, module: str) -> str:
    value = getattr(import_module(module), name)
    if issubclass(value, Enum):
        about = "One of " + ", ".join(f"`{member.value}`" for member in value) + "; text will do."
        return f"### `{name}`\n\n{about}"
    shown = "" if module.startswith("orchestrator.binding") else f"```python\n{name}{_signature(value)}\n```"
    where = f"`from {module} import {name}`" if name in _IMPORTED else ""
    text = "" if _text(value).startswith(f"{name}(") else _text(value)
    return "\n\n".join(part for part in (f"### `{name}`", shown, where, text) if part)


def _members(owner: type) -> Iterator[tuple[str, Any]]:
    for member, found in vars(owner).items():
        is_method = inspect.isfunction(found) or isinstance(found, property | classmethod | staticmethod)
        if is_method and not member.startswith("_"):
            yield member, found


def _member(name: str, found: Any) -> str:
    if isinstance(found, property):
        returns = inspect.signature(found.fget).return_annotation if found.fget else "Any"
        return f"* `.{name}: {returns}` {_line(found)}".rstrip()
    function = found.__func__ if isinstance(found, classmethod | staticmethod) else found
    return f"* `.{name}{_without_self(inspect.signature(function))}` {_line(function)}".rstrip()


def _signature(value: Any) -> str:
    if inspect.isclass(value) and issubclass(value, Exception) and "__init__" not in vars(value):
        return "(message: str)"
    try:
        return _spelled(inspect.signature(value))
    except (TypeError, ValueError):
        return ""


def _without_self(signature: inspect.Signature) -> str:
    kept = [p for name, p in signature.parameters.items() if name not in ("self", "cls")]
    return _spelled(signature.replace(parameters=kept))


class _Bare(str):
    """Shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _spelled(signature: inspect.Signature) -> str:
    parameters = [
        p.replace(annotation=_bare(p.annotation), default=_bare_default(p.default))
        for p in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters, return_annotation=_bare(signature.return_annotation)))


def _bare(annotation: Any) -> Any:
    return _Bare(annotation) if isinstance(annotation, str) else annotation


def _bare_default(value: Any) -> Any:
    return _Bare(f"{type(value).__name__}.{value.name}") if isinstance(value, Enum) else value


def _text(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


def _line(value: Any) -> str:
    return " ".join(_text(value).split())
