"""`db export` and `db import`: files and streams."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from orchestrator.cli.questions import confirm
from orchestrator.cli.session import open_client
from orchestrator.cli.settings import resolve_settings
from orchestrator.cli.standard_input import standard_input_bytes
from orchestrator.cli.terminal import note
from orchestrator.engine.transfer import import_runs
from orchestrator.errors import UsageError
from orchestrator.store.opening import without_password


def write_lines(lines: Iterable[bytes], file: str | None) -> None:
    """What is wrong with the request is found before the file is made."""
    waiting = iter(lines)
    first = next(waiting)
    if file is None or file == "-":
        _write(sys.stdout.buffer, first, waiting)
        return
    try:
        with open(file, "wb") as stream:
            _write(stream, first, waiting)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None
    note(f"written to {file}")


def read_runs(db: str | None, file: str, *, is_confirmed: bool) -> dict[str, Any]:
    url = without_password(resolve_settings(db).db)
    with _opened(file) as stream:
        confirm(f"Import the runs of {file} into {url}?", is_confirmed)
        with open_client(db, may_create=True) as client:
            imported = import_runs(client.engine, stream)
    note(f"imported {imported.run_count} runs into {url}")
    return {"runs": imported.run_count, "definitions": imported.definition_count}


def _write(stream: IO[bytes], first: bytes, lines: Iterable[bytes]) -> None:
    stream.write(first + b"\n")
    stream.writelines(line + b"\n" for line in lines)
    stream.flush()


@contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    if file == "-":
        yield standard_input_bytes()
        return
    try:
        stream = open(file, "rb")  # noqa: SIM115
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    with stream:
        yield stream
