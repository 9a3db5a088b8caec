"""What is given on standard input."""

from __future__ import annotations

import sys
from typing import IO, TextIO

from orchestrator.errors import UsageError


def read_standard_input() -> str:
    """All of it. Raises UsageError."""
    try:
        return _opened().read()
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not {error.encoding.upper()}: {error.reason}") from None


def standard_input_bytes() -> IO[bytes]:
    """Raises UsageError."""
    return _opened().buffer


def _opened() -> TextIO:
    if sys.stdin is None:
        raise UsageError("standard input is closed, and is to be read")
    return sys.stdin
