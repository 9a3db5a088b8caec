"""Waking other processes that use the same SQLite file, within a millisecond.

Each listener binds a datagram socket in a directory beside the file; ringing sends one byte to every socket
there. A ring carries nothing: who hears it looks at the database. Where there are no such sockets, listeners
look for foreign commits a few times a second.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import sys
import threading
from collections.abc import Callable

_numbers = itertools.count(1)
_MAXIMUM_PATH = 100


class Doorbell:
    def __init__(self, path: str) -> None:
        self._directory = f"{path}.bells"
        self._own: set[str] = set()
        self._seen_at: int | None = None
        self._names: list[str] = []
        self._sender: socket.socket | None = None
        self._handle: int | None = None
        self._lock = threading.Lock()

    def ring(self) -> None:
        """Never blocks; a listener whose buffer is full has been rung already."""
        with self._lock:
            names = self._others()
            if not names:
                return
            if self._sender is None:
                self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self._sender.setblocking(False)
            for name in names:
                self._ring_one(self._sender, name)

    def listen(self, on_ring: Callable[[], None]) -> Callable[[], None]:
        """Raises OSError where there are no such sockets."""
        os.makedirs(self._directory, exist_ok=True)
        name = f"{os.getpid()}-{next(_numbers)}"
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            receiver.bind(self._address(name))
        except OSError:
            receiver.close()
            raise
        self._own.add(name)
        thread = threading.Thread(target=_hear, args=(receiver, on_ring), name="doorbell", daemon=True)
        thread.start()

        def end() -> None:
            with contextlib.suppress(OSError):
                receiver.shutdown(socket.SHUT_RDWR)
            self._forget(name)
            thread.join(1)
            receiver.close()

        return end

    def close(self) -> None:
        with self._lock:
            if self._sender is not None:
                self._sender.close()
            if self._handle is not None:
                os.close(self._handle)
            self._sender = self._handle = None

    def _others(self) -> list[str]:
        try:
            changed_at = os.stat(self._directory).st_mtime_ns
        except OSError:
            return []
        if changed_at != self._seen_at:
            self._names = [name for name in os.listdir(self._directory) if name not in self._own]
            self._seen_at = changed_at
        return self._names

    def _ring_one(self, sender: socket.socket, name: str) -> None:
        try:
            sender.sendto(b"!", self._address(name))
        except BlockingIOError:
            pass
        except OSError:
            self._forget(name)

    def _forget(self, name: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self._directory, name))

    def _address(self, name: str) -> str:
        """Socket paths are short; a long one is reached through a handle of its directory."""
        path = os.path.join(self._directory, name)
        if len(os.fsencode(path)) <= _MAXIMUM_PATH or sys.platform != "linux":
            return path
        if self._handle is None:
            self._handle = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._handle}/{name}"


def _hear(receiver: socket.socket, on_ring: Callable[[], None]) -> None:
    while True:
        try:
            rung = receiver.recv(16)
        except OSError:
            return
        if not rung:
            return
        on_ring()
