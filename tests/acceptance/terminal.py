"""The executable with a terminal for its stdout."""

from __future__ import annotations

import os
import pty
import subprocess
import threading

from tests.acceptance.command import Done, Place


def type_on_terminal(place: Place, *words: str, **environment: str) -> Done:
    """`stdout` is what the terminal was sent; colours as by default."""
    ours, theirs = pty.openpty()
    sent: list[bytes] = []
    reading = threading.Thread(target=_read, args=(ours, sent))
    reading.start()
    try:
        done = subprocess.run(
            place.command(*words),
            cwd=place.directory,
            env=place.environment(**{"NO_COLOR": "", "TERM": "xterm", **environment}),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(theirs)
        reading.join()
        os.close(ours)
    return Done(done.returncode, b"".join(sent).decode().replace("\r\n", "\n"), done.stderr.decode())


def _read(terminal: int, sent: list[bytes]) -> None:
    while True:
        try:
            read = os.read(terminal, 65536)
        except OSError:  # all of it was read, and nobody has the other end
            return
        if not read:
            return
        sent.append(read)
