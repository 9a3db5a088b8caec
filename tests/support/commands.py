"""Commands of the executable, each a process of its own, forked from one that has imported what they load.

Importing takes most of the time of a command. Those with settings of Python's, those typed in the
documentation, and those that tests start as processes themselves, are interpreters started anew.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("command_server.py")
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
PATIENCE = 60
"""Seconds until a command that has not ended is a failure."""


class CommandServer:
    """One command at a time."""

    def __init__(self) -> None:
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(PROGRAM), str(theirs.fileno())],
                env=_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def begin(self, request: Mapping[str, object], streams: Sequence[int]) -> int:
        """The process, to which the streams are given."""
        body = json.dumps(request).encode()
        socket.send_fds(self._connection, [len(body).to_bytes(8, "big")], streams)
        for stream in streams:
            os.close(stream)
        self._connection.sendall(body)
        return self._receive()

    def wait(self, process: int) -> int:
        """Its exit code, or minus the signal that ended it."""
        self._connection.settimeout(PATIENCE)
        try:
            return self._receive()
        except BaseException:
            os.kill(process, signal.SIGKILL)
            self._connection.settimeout(None)
            self._receive()
            raise
        finally:
            self._connection.settimeout(None)

    def _receive(self) -> int:
        number = self._connection.recv(8)
        assert number, "the server of commands has gone"
        return int.from_bytes(number, "big", signed=True)

    def close(self) -> None:
        self._connection.close()
        self._process.wait()


@cache
def _server() -> CommandServer:
    server = CommandServer()
    atexit.register(server.close)
    return server


def run_command(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """What `python -m orchestrator` with `arguments` comes to."""
    run = _fork if _settings(environment) == _settings(_ENVIRONMENT) else _start
    return run(arguments, directory, environment, stdin)


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    """What an interpreter looks at when it starts."""
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LANG", "LC_"))}


def _start(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str], stdin: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "orchestrator", *arguments],
        cwd=directory,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def _fork(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str], stdin: str
) -> subprocess.CompletedProcess[str]:
    request = {"arguments": arguments, "directory": str(directory), "environment": dict(environment)}
    reading, writing = zip(os.pipe(), os.pipe(), os.pipe(), strict=True)
    server = _server()
    process = server.begin(request, [reading[0], *writing[1:]])
    with ThreadPoolExecutor() as pool:
        pool.submit(_write, writing[0], stdin)
        printed = [pool.submit(_read, stream) for stream in reading[1:]]
        code = server.wait(process)
        stdout, stderr = (each.result(PATIENCE) for each in printed)
    return subprocess.CompletedProcess(arguments, code, stdout, stderr)


def _write(stream: int, text: str) -> None:
    with suppress(BrokenPipeError), open(stream, "w", encoding="utf-8") as file:
        file.write(text)


def _read(stream: int) -> str:
    with open(stream, encoding="utf-8") as file:
        return file.read()
