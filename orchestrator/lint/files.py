"""Which files are looked at: files, directories, globs, standard input."""

from __future__ import annotations

from collections.abc import Iterable
from glob import glob, has_magic
from pathlib import Path

from orchestrator.definition.catalogue import SUFFIX, find_files
from orchestrator.definition.presence import is_directory, is_there, require
from orchestrator.errors import UsageError

STANDARD_INPUT = "-"
STDIN = "<stdin>"
"""Its path in problems."""


def listed_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files to look at, in their order, each once. Nothing to look at is a usage error."""
    found: list[Path] = []
    for path in paths:
        found += _expand(path)
    return find_files(found)


def shown_path(path: Path) -> str:
    """As seen from the working directory, where the file is below it."""
    if str(path) == STANDARD_INPUT:
        return STDIN
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def _expand(path: str | Path) -> list[Path]:
    """One argument. A quoted glob is ours to expand, `**` over directories."""
    place = Path(path)
    if str(path) == STANDARD_INPUT:
        return [place]
    if is_directory(place):
        if not find_files([place]):
            raise UsageError(f"there is no *{SUFFIX} under {path}")
        return [place]
    if is_there(place):
        return [place]
    if has_magic(str(path)):
        matches = sorted(match for match in glob(str(path), recursive=True) if match.endswith(SUFFIX))
        if not matches:
            raise UsageError(f"no *{SUFFIX} is matched by {path}")
        return [Path(match) for match in matches]
    require(place)
    return [place]
