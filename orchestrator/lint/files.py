"""Which files are looked at: files, directories, globs, standard input."""

from __future__ import annotations

from collections.abc import Iterable
from glob import glob, has_magic
from pathlib import Path

from orchestrator.definition.catalogue import SUFFIX, find_files
from orchestrator.definition.nearness import nearest
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
    if place.is_dir():
        if not find_files([place]):
            raise UsageError(f"there is no *{SUFFIX} under {path}")
        return [place]
    if _exists(place):
        return [place]
    if has_magic(str(path)):
        matches = sorted(match for match in glob(str(path), recursive=True) if match.endswith(SUFFIX))
        if not matches:
            raise UsageError(f"no *{SUFFIX} is matched by {path}")
        return [Path(match) for match in matches]
    raise UsageError(_absent(place))


def _exists(place: Path) -> bool:
    """Also what is there and cannot be read, which is a problem of its own (YML013)."""
    try:
        return place.exists()
    except (OSError, ValueError):
        return False


def _absent(place: Path) -> str:
    """Names the nearest thing there is, in the deepest directory of the path that exists."""
    parts = place.parts
    for count in range(len(parts) - 1, -1, -1):
        parent = Path(*parts[:count])
        if parent.is_dir():
            break
    near = nearest(parts[count], sorted(each.name for each in parent.iterdir())) if parts else None
    advice = f"; did you mean `{(parent / near).as_posix()}`?" if near is not None else ""
    return f"there is no {place}{advice}"
