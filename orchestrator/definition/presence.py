"""Whether what was named is there; what to say where it is not."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from orchestrator.definition.nearness import nearest
from orchestrator.errors import UsageError

_SHOWN_COUNT = 3


def is_there(place: Path) -> bool:
    """Also what cannot be read, which is a problem of its own (YML013)."""
    try:
        return place.exists()
    except (OSError, ValueError):
        return False


def is_directory(place: Path) -> bool:
    try:
        return place.is_dir()
    except (OSError, ValueError):
        return False


def as_path(given: object) -> Path:
    """Raises UsageError for what is none."""
    if not isinstance(given, str | os.PathLike):
        raise UsageError(f"a path is text or a Path, not {given!r}"[:200])
    return Path(given)


def as_paths(given: object) -> list[Path]:
    """Of one, or of several. Raises UsageError."""
    if isinstance(given, str | os.PathLike):
        return [Path(given)]
    if not isinstance(given, Iterable):
        raise UsageError(f"a list of paths is needed, not {given!r}"[:200])
    return [as_path(each) for each in given]


def require(path: str | Path) -> None:
    """A file or directory. Raises UsageError."""
    if not is_there(Path(path)):
        raise UsageError(absence(Path(path)))


def require_flow_file(path: str | Path) -> None:
    """Raises UsageError where there is nothing, or a directory."""
    require(path)
    if is_directory(Path(path)):
        from orchestrator.definition.catalogue import find_files

        found = [str(each) for each in find_files([path])]
        more = ", …" if len(found) > _SHOWN_COUNT else ""
        advice = f": {', '.join(found[:_SHOWN_COUNT])}{more}" if found else ", and no flow is in it"
        raise UsageError(f"{Path(path)} is a directory; name one flow{advice}")


def reason(error: Exception) -> str:
    """Of a file that cannot be used, whose name is said already."""
    return str(getattr(error, "strerror", None) or error)


def absence(place: Path) -> str:
    """Names the nearest thing there is, in the deepest directory of the path that exists."""
    parts = place.parts
    for count in range(len(parts) - 1, -1, -1):
        parent = Path(*parts[:count])
        if is_directory(parent):
            break
    near = nearest(parts[count], sorted(each.name for each in parent.iterdir())) if parts else None
    advice = f"; did you mean `{(parent / near).as_posix()}`?" if near is not None else ""
    return f"there is no {place}{advice}"
