"""Handlers that scenarios with several processes use."""

from __future__ import annotations

import os
from pathlib import Path


def wait_for_file(path: str) -> int:
    """Tells through the pipe `PATH.begun` that it has begun, then reads PATH: a pipe makes it wait."""
    begun = Path(path + ".begun")
    if begun.exists():
        begun.write_text("begun")
    Path(path).read_text()
    return os.getpid()


def who(number: int) -> int:
    return os.getpid()
