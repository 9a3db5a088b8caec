"""Where bodies are kept that are too large for the database: four operations; a directory that has them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

MARK = "objects:"
"""Begins the name of a mark in the database: the objects of this run, which is no more, are to be deleted."""


def mark_of(run: int) -> str:
    return f"{MARK}{run}"


class ObjectMissing(LookupError):
    """There is no object of this name."""


class ObjectStore(Protocol):
    """Safe to use from many threads. Of one database alone: names are `<run>/<hash of the content>`.

    What goes wrong otherwise is raised as OSError: the commit that needs it is tried again.
    """

    def put(self, name: str, body: bytes) -> None:
        """Durable when it returns. The same name always comes with the same body."""
        ...

    def get(self, name: str) -> bytes:
        """Raises ObjectMissing."""
        ...

    def delete(self, name: str) -> None:
        """Nothing happens when it is not there."""
        ...

    def list(self, prefix: str) -> Iterator[str]:
        """Names that begin so."""
        ...


class FileObjects:
    """A directory of its own on a file system that all workers of the database share."""

    def __init__(self, directory: str | Path) -> None:
        self._directory = Path(directory).absolute()

    def put(self, name: str, body: bytes) -> None:
        path = self._directory / name
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _sync(path.parent)
        _sync(self._directory)

    def get(self, name: str) -> bytes:
        try:
            return (self._directory / name).read_bytes()
        except FileNotFoundError:
            raise ObjectMissing(name) from None

    def delete(self, name: str) -> None:
        path = self._directory / name
        path.unlink(missing_ok=True)
        try:
            path.parent.rmdir()
        except OSError:
            return  # others are still in it, or it is gone

    def list(self, prefix: str) -> Iterator[str]:
        directory, _, rest = prefix.rpartition("/")
        place = self._directory / directory
        if not place.is_dir():
            return
        for path in sorted(place.rglob("*")):
            if path.is_file() and path.name[0] != "." and path.relative_to(place).as_posix().startswith(rest):
                yield path.relative_to(self._directory).as_posix()


def _sync(directory: Path) -> None:
    """A file's name is durable with its directory."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
