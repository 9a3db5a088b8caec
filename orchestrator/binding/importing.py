"""Imports modules of users: whatever they do while they are imported, the caller goes on."""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TextIO

_KEPT_OUTPUT = 200
"""Characters of what a module prints; enough to recognise it."""


class Failure(NamedTuple):
    """Why a module cannot be imported, and what to do."""

    message: str
    advice: str


class Imported(NamedTuple):
    """What came of one import."""

    module: ModuleType | None
    failure: Failure | None = None
    """Given where there is no module."""
    output: str = ""
    """The beginning of what it printed on stdout."""
    seconds: float = 0.0


def import_module(name: str) -> Imported:
    """Import it, its parents and what it needs. Only KeyboardInterrupt passes through."""
    began = time.perf_counter()
    with _listening() as heard:
        try:
            module, failure = importlib.import_module(name), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            module, failure = None, _explain(name, error)
    return Imported(module, failure, heard.text, time.perf_counter() - began)


def _explain(name: str, error: BaseException) -> Failure:
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        if name == error.name or name.startswith(error.name + "."):
            advice = f"looked for {name.replace('.', '/')}.py; create it there"
            return Failure(f"there is no module `{name}`", advice)
        missing = error.name.partition(".")[0]
        advice = f"install `{missing}` here, or import it in the handlers that need it; {_where(error)}"
        return Failure(f"importing `{name}` fails: {_text_of(error)}", advice)
    if isinstance(error, SystemExit):
        advice = f'guard it by `if __name__ == "__main__":`; {_where(error)}'
        return Failure(f"importing `{name}` ends the program: {_text_of(error)}", advice)
    return Failure(f"importing `{name}` fails: {_text_of(error)}", _where(error))


def _text_of(error: BaseException) -> str:
    try:
        return traceback.format_exception_only(error)[-1].strip().replace("\n", " ")
    except Exception:  # an exception whose own text raises
        return type(error).__name__


def _where(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"see {shown_path(error.filename)}:{error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "importlib" not in frame.filename and frame.filename != __file__
    ]
    if not frames:
        return "import it in a Python shell to see where"
    return f"see {shown_path(frames[-1].filename)}:{frames[-1].lineno}"


def shown_path(file: str) -> str:
    """As seen from the working directory, where the file is below it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


class _Listener:
    """A stdout that passes everything on and keeps how it began."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.text = ""

    def write(self, text: str) -> int:
        if len(self.text) < _KEPT_OUTPUT:
            self.text = (self.text + text)[:_KEPT_OUTPUT]
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _listening() -> Iterator[_Listener]:
    stream = sys.stdout
    listener = _Listener(stream)
    sys.stdout = listener
    try:
        yield listener
    finally:
        if sys.stdout is listener:  # else the module has put another one there
            sys.stdout = stream
