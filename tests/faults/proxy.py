"""A network that is slow, silent or torn: a proxy on 127.0.0.1 before the socket of a server."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from pathlib import Path

_CHUNK = 65536


class Proxy:
    """One thread a connection. `delay`: seconds that each piece of data is late."""

    def __init__(self, target: Path) -> None:
        self.delay = 0.0
        self._target = str(target)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._passing = threading.Event()
        self._passing.set()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def hush(self) -> None:
        """What is sent is kept, in both directions."""
        self._passing.clear()

    def speak(self) -> None:
        self._passing.set()

    def cut(self) -> int:
        """All connections, at once; how many."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            for each in pair:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        return len(pairs)

    def close(self) -> None:
        self._listener.close()
        self.speak()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        pair = (client, server)
        try:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server.connect(self._target)
            with self._lock:
                self._pairs.add(pair)
            self._carry(client, server)
        except OSError:
            pass
        finally:
            with self._lock:
                self._pairs.discard(pair)
            client.close()
            server.close()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in selector.select():
                    assert isinstance(key.fileobj, socket.socket)
                    data = key.fileobj.recv(_CHUNK)
                    if not data:
                        return
                    self._passing.wait()
                    if self.delay:
                        time.sleep(self.delay)
                    key.data.sendall(data)
