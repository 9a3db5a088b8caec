"""What goes to which stream, and in what colour. stdout carries results only."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import IO

COLOURS = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}


def is_terminal(stream: IO[str]) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(stream: IO[str]) -> bool:
    """https://no-color.org: any non-empty NO_COLOR turns colours off."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def paint(text: str, *styles: str, stream: IO[str]) -> str:
    if not text or not has_colours(stream):
        return text
    return f"\x1b[{';'.join(COLOURS[style] for style in styles)}m{text}\x1b[0m"


def painter(stream: IO[str]) -> Callable[..., str]:
    """`paint` for one stream."""

    def paint_there(text: str, *styles: str) -> str:
        return paint(text, *styles, stream=stream)

    return paint_there


def say(text: str = "") -> None:
    """A line of the result."""
    sys.stdout.write(f"{text}\n")


def note(text: str) -> None:
    """A line of progress or advice."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
