"""What a worker says on stderr: text for people, or one JSON object a line for programs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import IO, Any

from orchestrator.cli.options import LogFormat, LogLevel
from orchestrator.cli.terminal import harmless, note
from orchestrator.engine.log_lines import JsonLines, PrintedLines

Tell = Callable[[str], None]
"""Says a line of progress or advice."""
_SILENT = logging.CRITICAL + 1


def _number(level: LogLevel) -> int:
    return logging.getLevelNamesMapping()[level.value.upper()]


@contextmanager
def logging_as(format: LogFormat, level: LogLevel | None) -> Iterator[Tell]:
    """As text, records of runs (orchestrator.events) are shown only if a level is asked for."""
    if format is LogFormat.TEXT:
        with _texts(level):
            yield note
    else:
        with _lines(level or LogLevel.INFO):
            yield logging.getLogger("orchestrator.worker").info


@contextmanager
def _texts(level: LogLevel | None) -> Iterator[None]:
    speaker = StderrHandler()
    speaker.setFormatter(TextLines("%(levelname)s %(name)s: %(message)s"))
    number = logging.INFO if level is None else _number(level)
    with (
        _levels(("orchestrator", number), ("orchestrator.events", _SILENT if level is None else number)),
        _attached("orchestrator", speaker),
        redirect_stdout(sys.stderr),
    ):
        yield


@contextmanager
def _lines(level: LogLevel) -> Iterator[None]:
    """Everything that is logged, by handlers and libraries too; what handlers print is wrapped."""
    speaker = StderrHandler()
    speaker.setFormatter(JsonLines())
    printed: Any = PrintedLines(logging.getLogger("orchestrator.printed"))
    with (
        _levels(("", _number(level)), ("orchestrator", _number(level))),
        _attached("", speaker),
        redirect_stdout(printed),
    ):
        yield


@contextmanager
def handlers_speak_on_stderr() -> Iterator[None]:
    """What handlers print or log is no result of the command."""
    with _texts(None):
        yield


@contextmanager
def _levels(*levels: tuple[str, int]) -> Iterator[None]:
    loggers = [(logging.getLogger(name), level) for name, level in levels]
    before = [logger.level for logger, _ in loggers]
    for logger, level in loggers:
        logger.setLevel(level)
    try:
        yield
    finally:
        for (logger, _), level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def _attached(name: str, handler: logging.Handler) -> Iterator[None]:
    logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger(name).removeHandler(handler)


class TextLines(logging.Formatter):
    """What handlers and clients send is shown, and does not steer the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return harmless(super().format(record), sys.stderr)


class StderrHandler(logging.StreamHandler[Any]):
    """Writes to whatever stderr is at that moment: the live display replaces it for a while."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> IO[str]:
        return sys.stderr
