"""The streams of a command, made fit: all are there, and each takes any text."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any, TextIO

LOOKALIKES = {
    **dict(zip("│┃├└─━┌┐┘┬┴┼", "||+`-=++'-++", strict=True)),
    **dict(zip("→←…×·–—✓✗≤≥≠", ("->", "<-", "...", *"x---*x", "<=", ">=", "!="), strict=True)),
    **dict(zip("‘’“”", "''\"\"", strict=True)),
}
_REPLACING = "orchestrator.replace"
_FAILING = ("strict", "surrogateescape", "backslashreplace")


def prepare() -> None:
    """Whatever the command was started with: nothing that is said fails, no file takes a stream's place."""
    _fill_gaps()
    codecs.register_error(_REPLACING, replace_unencodable)
    sys.stdout = _present(sys.stdout, 1)
    sys.stderr = _heedless(_present(sys.stderr, 2))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _FAILING:
            stream.reconfigure(errors=_REPLACING)


class Heedless(io.FileIO):
    """Where it takes nothing any more, all is lost without a word."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            drop(self)
            return memoryview(data).nbytes


def drop(stream: TextIO | io.FileIO) -> None:
    """Nobody reads it any more: the rest goes nowhere, also what is flushed when the interpreter ends."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    """For `codecs`: what looks alike in ASCII, else an escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(LOOKALIKES.get(character) or escape(character) for character in text), error.end


def escape(character: str) -> str:
    r"""`\u20ac`; `\xff` for a byte of a file name that is not UTF-8."""
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else escape_to_json(character)


def escape_to_json(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


def _fill_gaps() -> None:
    """A closed stream's number would be given to the next file that is opened, such as the database."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:  # a lower one was not to be had
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)


def _heedless(stream: TextIO) -> TextIO:
    """For messages: what cannot be told, by a handler that prints too, is no reason for the work to fail."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    buffer: Any = stream.buffer
    if not isinstance(getattr(buffer, "raw", buffer), io.FileIO):
        return stream  # a console of Windows
    raw = Heedless(stream.fileno(), "w", closefd=False)
    told: Any = raw if isinstance(buffer, io.FileIO) else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        told,
        stream.encoding,
        stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _present(stream: TextIO | None, number: int) -> TextIO:
    return stream if stream is not None else open(number, "w", encoding="utf-8", closefd=False)
