"""What goes to which stream, and in what colour. stdout carries results only."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TextIO

from orchestrator.cli.streams import drop, escape, escape_to_json

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


def is_terminal(stream: TextIO | None) -> bool:
    """None: a standard input that is closed."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(stream: TextIO) -> bool:
    """https://no-color.org: any non-empty NO_COLOR turns colours off."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def paint(text: str, *styles: str, stream: TextIO) -> str:
    if not text or not has_colours(stream):
        return text
    return f"\x1b[{';'.join(COLOURS[style] for style in styles)}m{text}\x1b[0m"


def painter(stream: TextIO) -> Callable[..., str]:
    """`paint` for one stream."""

    def paint_there(text: str, *styles: str) -> str:
        return paint(text, *styles, stream=stream)

    return paint_there


def say(text: str = "") -> None:
    """A line of the result, for people."""
    _write(sys.stdout, f"{harmless(text, sys.stdout)}\n")


def say_data(text: str) -> None:
    """Lines of JSON, for programs: the same whatever the stream takes, and without steering a terminal."""
    _write(sys.stdout, f"{_exact(text)}\n")


def say_at_once(text: str, *, is_data: bool) -> None:
    """A line that is read while the command goes on. Raises BrokenPipeError where nobody reads it."""
    sys.stdout.write(f"{_exact(text) if is_data else harmless(text, sys.stdout)}\n")
    sys.stdout.flush()


def say_file(text: str) -> None:
    """The text of a file, as it is."""
    _write(sys.stdout, text)


def say_report(text: str, format: str) -> None:
    """Problems in a format of `lint`."""
    if format == "junit":
        say_file(f"{_with_references(text)}\n")
    else:
        (say if format in {"text", "concise", "github"} else say_data)(text)


def note(text: str) -> None:
    """A line of progress or advice."""
    sys.stderr.write(f"{harmless(text, sys.stderr)}\n")
    sys.stderr.flush()


@cache
def warn(text: str) -> None:
    """What is not as it should be, once."""
    note(f"{paint('warning:', 'yellow', 'bold', stream=sys.stderr)} {text}")


def bare(text: str) -> str:
    """Text of others within a line: it neither ends the line nor steers the terminal."""
    return _CONTROLS.sub(lambda found: _escaped(found[0]), text)


def bare_all(value: Any) -> Any:
    """The same of every text in a JSON value, keys too."""
    if isinstance(value, str):
        return bare(value)
    if isinstance(value, dict):
        return {bare_all(key): bare_all(each) for key, each in value.items()}
    return [bare_all(each) for each in value] if isinstance(value, (list, tuple)) else value


def can_write(text: str, stream: TextIO) -> bool:
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


_BREAKS = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_CONTROLS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069]")
"""C0 and C1, line separators, and what turns the direction of writing."""
_CONTROL = re.compile(rf"(?![\n\t]){_CONTROLS.pattern}")
_COLOUR_OR_CONTROL = re.compile(rf"\x1b\[[0-9;]*m|{_CONTROL.pattern}")


def harmless(text: str, stream: TextIO) -> str:
    """Colours stay where the stream has them; other controls of the terminal are shown, not obeyed."""

    def shown(found: re.Match[str]) -> str:
        matched = found[0]
        is_kept = len(matched) > 1 and has_colours(stream)
        return matched if is_kept else _escaped(matched[0]) + matched[1:]

    return _COLOUR_OR_CONTROL.sub(shown, text)


def _escaped(character: str) -> str:
    return _BREAKS.get(character) or escape(character)


def _exact(text: str) -> str:
    text = _CONTROL.sub(lambda found: escape(found[0]), text)
    if can_write(text, sys.stdout):
        return text
    return "".join(character if character.isascii() else escape_to_json(character) for character in text)


def _with_references(text: str) -> str:
    """XML of characters that the stream can take and that steer no terminal."""
    text = _CONTROL.sub(lambda found: f"&#{ord(found[0])};", text)
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "xmlcharrefreplace").decode(encoding)


def _write(stream: TextIO, text: str) -> None:
    """A reader who has gone (`… | head`) is no reason to leave the work undone."""
    try:
        stream.write(text)
    except BrokenPipeError:
        drop(stream)
