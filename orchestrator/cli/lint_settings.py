"""What `lint`, `verify` and `check` report: flags, else `[tool.orchestrator.lint]` in pyproject.toml."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.cli.settings import read_pyproject
from orchestrator.definition.nearness import did_you_mean
from orchestrator.errors import UsageError
from orchestrator.lint.selection import PRESETS, SEVERITIES, is_known_word, known_words

_TABLE = "pyproject.toml: [tool.orchestrator.lint]"
DEFAULT_PRESET = "recommended"


class Selection(NamedTuple):
    """The arguments of `select_problems`."""

    select: tuple[str, ...] = ()
    """Codes, families or names of problems. Nothing selected is all of the preset."""
    ignore: tuple[str, ...] = ()
    preset: str = DEFAULT_PRESET
    severities: Mapping[str, str] = {}
    ignored_in: Mapping[str, tuple[str, ...]] = {}


@dataclass(frozen=True)
class LintSettings:
    selection: Selection
    baseline: str | None
    """The file of accepted problems."""


def resolve_lint_settings(
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    *,
    preset: str | None = None,
    fail_on: str = "error",
    directory: Path | None = None,
) -> LintSettings:
    """Flags replace what is configured. To fail on infos is to want to see them."""
    directory = Path.cwd() if directory is None else directory
    table = read_pyproject(directory).get("lint", {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{_TABLE} must be a table")
    for key in table:
        _check_word(key, _READERS, _TABLE, "key")
    configured = {key: read(table[key], f"{_TABLE} {key}") for key, read in _READERS.items() if key in table}
    default = "strict" if fail_on == "info" else DEFAULT_PRESET
    selection = Selection(
        select=_checked(select, "--select") or configured.get("select", ()),
        ignore=_checked(ignore, "--ignore") or configured.get("ignore", ()),
        preset=preset or configured.get("preset", default),
        severities=configured.get("severity", {}),
        ignored_in=configured.get("per-file-ignores", {}),
    )
    return LintSettings(selection, configured.get("baseline"))


def _checked(words: Sequence[str] | None, where: str) -> tuple[str, ...]:
    """`SCH,REF` is two words."""
    split = [word.strip() for each in words or () for word in each.split(",") if word.strip()]
    for word in split:
        if not is_known_word(word):
            raise UsageError(
                _unknown(f"{where}: there is no problem or family `{word}`", word, known_words())
            )
    return tuple(split)


def _read_words(value: Any, where: str) -> tuple[str, ...]:
    if not (isinstance(value, list) and all(isinstance(word, str) for word in value)):
        raise UsageError(f'{where} must be a list of codes, such as ["GRA010", "WAI"]')
    return _checked(value, where)


def _read_preset(value: Any, where: str) -> str:
    _check_word(value, PRESETS, where, "preset")
    return str(value)


def _read_baseline(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{where} must be the path of a file")
    return value


def _read_severities(value: Any, where: str) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise UsageError(f'{where} must be a table, such as {{WAI002 = "info"}}')
    for word, severity in value.items():
        _checked([word], where)
        _check_word(severity, SEVERITIES, f"{where}: {word}", "severity")
    return dict(value)


def _read_ignored_in(value: Any, where: str) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise UsageError(f'{where} must be a table, such as {{"flows/old/*" = ["WAI"]}}')
    return {pattern: _read_words(words, f'{where}: "{pattern}"') for pattern, words in value.items()}


def _check_word(value: Any, known: Collection[str], where: str, kind: str) -> None:
    if isinstance(value, str) and value in known:
        return
    shown = f"`{value}`" if isinstance(value, str) else str(value)
    raise UsageError(_unknown(f"{where}: there is no {kind} {shown}", str(value), list(known)))


def _unknown(message: str, word: str, known: Sequence[str]) -> str:
    few = "known: " + ", ".join(f"`{each}`" for each in known) if len(known) <= 8 else ""
    help = did_you_mean(word, known) or few or "see docs/rules/README.md"
    return f"{message}; {help}"


_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "select": _read_words,
    "ignore": _read_words,
    "per-file-ignores": _read_ignored_in,
    "severity": _read_severities,
    "preset": _read_preset,
    "baseline": _read_baseline,
}
