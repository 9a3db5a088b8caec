"""Log records as JSON, one line each: for programs that collect them.

handler = logging.StreamHandler()
handler.setFormatter(JsonLines())
"""

from __future__ import annotations

import io
import logging
import threading
from datetime import UTC, datetime
from typing import Any

import msgspec

_OF_EVERY_RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """`time`, `level`, `logger`, `message`, the fields that were given as `extra`, and a traceback if any."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _OF_EVERY_RECORD}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        elif record.exc_text:  # of a process that sends its records here
            line["exception"] = record.exc_text
        if record.stack_info:
            line["stack"] = self.formatStack(record.stack_info)
        try:
            return msgspec.json.encode(line, enc_hook=repr).decode()
        except (TypeError, ValueError, OverflowError, RecursionError):
            texts = {name: value if isinstance(value, str) else repr(value) for name, value in line.items()}
            return msgspec.json.encode(_without_surrogates(texts)).decode()


def _without_surrogates(texts: dict[str, str]) -> dict[str, str]:
    return {name: text.encode(errors="backslashreplace").decode() for name, text in texts.items()}


class PrintedLines(io.TextIOBase):
    """Stands in for stdout while handlers run: every line printed becomes a record."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._begun = threading.local()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, rest = (getattr(self._begun, "text", "") + text).split("\n")
        self._begun.text = rest
        for line in lines:
            if line:
                self._logger.info("%s", line, extra={"event": "printed"})
        return len(text)

    def flush(self) -> None:
        """Half a line waits for its end."""
