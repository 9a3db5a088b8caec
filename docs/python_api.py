"""The page of the public Python API, out of its signatures and docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
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
        *(_entry(name, with_members=False) for name in errors),
    ]
    return "\n\n".join(parts) + "\n"


def _entry(name: str, *, with_members: bool = True) -> str:
    value = getattr(orchestrator, name)
    parts = [f"### `{name}`", f"```python\n{name}{_signature(value)}\n```", _text(value)]
    if with_members and inspect.isclass(value) and not issubclass(value, Exception):
        parts += [_member(member, found) for member, found in _members(value)]
    return "\n\n".join(part for part in parts if part)


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
    if inspect.isclass(value) and issubclass(value, Exception):
        return ""
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
