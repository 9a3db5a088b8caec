"""The files of a new project."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from orchestrator.definition.schema_files import FLOW_SCHEMA, REHEARSAL_SCHEMA, read_schema
from orchestrator.errors import UsageError

SCHEMAS = (FLOW_SCHEMA, REHEARSAL_SCHEMA)
"""For editors; the first lines of the files name them."""


def write_project(directory: str) -> list[str]:
    """Writes all files or, when one of them is there already, none; the paths written."""
    root = Path(directory)
    contents = {name: part.read_bytes() for name, part in _walk(files("orchestrator.cli") / "templates")}
    contents.update({name: read_schema(name) for name in SCHEMAS})
    present = [name for name in contents if (root / name).exists()]
    if present:
        raise UsageError(f"{root} has {', '.join(present)} already; nothing was written")
    for name, content in contents.items():
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return [str(root / name) for name in sorted(contents)]


def _walk(part: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    """`dot_x` stands for `.x`: packages leave hidden files out."""
    for child in sorted(part.iterdir(), key=lambda child: child.name):
        if child.name == "__pycache__":
            continue
        name = prefix + (f".{child.name[4:]}" if child.name.startswith("dot_") else child.name)
        if child.is_dir():
            yield from _walk(child, f"{name}/")
        else:
            yield name, child
