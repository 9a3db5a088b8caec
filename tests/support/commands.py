"""Commands of the executable, each a process of its own, forked from one that has imported what they load.

Importing takes most of the time of a command. Those with settings of Python's, those typed in the
documentation, and those that tests start as processes themselves, are interpreters started anew.
"""

from __future__ import annotations

import atexit
import json
import os
import select
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
PATIENCE = 60
"""Seconds until a command that has not ended is a failure."""
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


class CommandServer:
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

    def fork(self, request: Mapping[str, object], streams: Sequence[int]) -> int:
        """The number of the process; stdin, stdout, stderr, and where its end is told, are given to it."""
        body = json.dumps(request).encode()
        socket.send_fds(self._connection, [len(body).to_bytes(8, "big")], streams)
        for stream in streams:
            os.close(stream)
        self._connection.sendall(body)
        number = self._connection.recv(8)
        assert number, "the server of commands has gone"
        return int.from_bytes(number, "big")

    def close(self) -> None:
        self._connection.close()
        self._process.wait()


@cache
def _server() -> CommandServer:
    server = CommandServer()
    atexit.register(server.close)
    return server


class Command:
    """A process, as `subprocess.Popen` has it with three pipes."""

    def __init__(self, arguments: Sequence[str], directory: Path, environment: Mapping[str, str]) -> None:
        request = {"arguments": arguments, "directory": str(directory), "environment": dict(environment)}
        reading, writing = zip(os.pipe(), os.pipe(), os.pipe(), os.pipe(), strict=True)
        self.stdin = os.fdopen(writing[0], "wb")
        self.stdout = os.fdopen(reading[1], "rb")
        self.stderr = os.fdopen(reading[2], "rb")
        self._end = os.fdopen(reading[3], "rb")
        self._process = _server().fork(request, [reading[0], *writing[1:]])
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, timeout: float) -> int:
        """Its exit code, or minus the signal that ended it."""
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("orchestrator", timeout)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self._process, signal.SIGKILL)

    def _look(self, timeout: float) -> int | None:
        if self.returncode is None and select.select([self._end], [], [], timeout)[0]:
            self.returncode = int.from_bytes(self._end.read(8), "big", signed=True)
            self._end.close()
        return self.returncode

    def run(self, text: str) -> tuple[str, str]:
        """What it prints when `text` is what it reads."""
        with ThreadPoolExecutor() as pool:
            pool.submit(self._feed, text)
            printed = [pool.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(PATIENCE)
            finally:
                self.kill()
            stdout, stderr = (each.result(PATIENCE).decode() for each in printed)
        self.stdout.close()
        self.stderr.close()
        return stdout, stderr

    def _feed(self, text: str) -> None:
        with suppress(BrokenPipeError), self.stdin:
            self.stdin.write(text.encode())


def run_command(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """What `python -m orchestrator` with `arguments` comes to."""
    if _settings(environment) != _settings(_ENVIRONMENT):
        return run_anew(arguments, directory, environment, stdin)
    command = Command(arguments, directory, environment)
    stdout, stderr = command.run(stdin)
    return subprocess.CompletedProcess(arguments, command.wait(0), stdout, stderr)


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    """What an interpreter looks at when it starts."""
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LANG", "LC_"))}


def run_anew(
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
