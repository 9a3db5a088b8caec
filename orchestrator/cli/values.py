"""Values on the command line: JSON, `@file`, or `-` for standard input; never a guess."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from orchestrator.cli.arguments import decode
from orchestrator.cli.standard_input import read_standard_input
from orchestrator.definition.presence import reason
from orchestrator.errors import UsageError

_SHOWN_LENGTH = 500


def parse_value(text: str | None, place: str) -> Any:
    """The JSON that `text` stands for; None (nothing given) is null. `place` names the option in errors."""
    if text is None:
        return None
    if text == "-":
        return _parse(read_standard_input(), f"{place} (standard input)")
    if text.startswith("@"):
        return _parse(_read(text[1:], place), f"{place} {text}")
    text = decode(text, place)
    try:
        return _load(text)
    except ValueError as error:
        if len(text) > _SHOWN_LENGTH:
            raise UsageError(f"{place}: `{text[:_SHOWN_LENGTH]}…` is not JSON: {error}") from None
        quoted = shlex.quote(json.dumps(text, ensure_ascii=False))
        file = f", for a file {shlex.quote(f'@{text}')}" if text.strip() else ""
        what = f"`{text}` is not JSON ({error})" if text.strip() else "nothing stands here"
        raise UsageError(f"{place}: {what}; for text write {quoted}{file}", quoted=quoted) from None


def parse_assignments(texts: Sequence[str] | None, place: str) -> dict[str, Any]:
    """`name=VALUE` pairs."""
    assigned: dict[str, Any] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{place}: `{text}` is not of the form name=VALUE, VALUE being JSON")
        if name in assigned:
            raise UsageError(f"{place}: `{name}` is given twice")
        name = decode(name, place)
        assigned[name] = parse_value(value, f"{place} {name}")
    return assigned


def _read(path: str, place: str) -> str:
    if not path:
        raise UsageError(f"{place}: `@` stands before the name of a file: @input.json")
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{place}: cannot read {path}: {reason(error)}") from None


def _parse(text: str, place: str) -> Any:
    try:
        return _load(text)
    except ValueError as error:
        raise UsageError(f"{place}: not JSON: {error}") from None


def _load(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"key {next(name for name in names if names.count(name) > 1)!r} appears twice")
    return made
