"""Waking other processes that use the same PostgreSQL store: NOTIFY, sent with the commit.

A ring carries who rang, so that nobody wakes itself. Who listens has a connection and a thread for that; when
the connection is lost it listens anew, and looks at once, since rings may have been missed.
"""

from __future__ import annotations

import hashlib
import logging
import selectors
import socket
import threading
from collections.abc import Callable

import psycopg
from psycopg.sql import SQL, Identifier

from orchestrator.store.postgres_url import Address

log = logging.getLogger("orchestrator.store")
CALL = "?"
"""Behind who rings: who rings has nothing to do."""
_POLL_SECONDS = 0.1
_SNAPSHOT = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
"""Another one when anybody has begun to write."""
_LISTEN_AGAIN_AFTER = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Seconds."""


class Bell:
    def __init__(self, address: Address, token: str) -> None:
        self.token = token
        digest = hashlib.sha256(address.schema.encode()).hexdigest()[:8]
        self.channel = f"orchestrator_{digest}"
        self._conninfo = address.conninfo
        self._is_pooled = address.is_pooled

    def listen(self, on_ring: Callable[[], None], on_call: Callable[[], None]) -> Callable[[], None]:
        """Raises psycopg.Error when the server cannot be reached now."""
        if self._is_pooled:
            return _poll(self._conninfo, on_ring)
        ear = _Ear(self._conninfo, self.channel, self.token, on_ring, on_call)
        ear.start()
        return ear.stop


class _Ear:
    def __init__(
        self,
        conninfo: str,
        channel: str,
        token: str,
        on_ring: Callable[[], None],
        on_call: Callable[[], None],
    ) -> None:
        self._conninfo = conninfo
        self._channel = channel
        self._token = token
        self._on_ring = on_ring
        self._on_call = on_call
        self._stopped = threading.Event()
        self._mine, self._theirs = socket.socketpair()
        self._connection = self._connect()
        self._thread = threading.Thread(target=self._run, name="bell", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._mine.send(b"!")
        self._thread.join(5)
        self._mine.close()
        self._theirs.close()

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        connection = psycopg.connect(self._conninfo, autocommit=True)
        connection.execute(SQL("LISTEN {}").format(Identifier(self._channel)))
        return connection

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._hear()
            except (psycopg.Error, OSError) as error:
                self._connection.close()
                if not self._listen_anew(error):
                    break
                self._on_ring()
        self._connection.close()

    def _hear(self) -> None:
        """With libpq's own calls: every process hears every ring, its own ones too."""
        server, mine, call = self._connection.pgconn, self._token.encode(), CALL.encode()
        with selectors.DefaultSelector() as selector:
            selector.register(self._connection.fileno(), selectors.EVENT_READ)
            selector.register(self._theirs, selectors.EVENT_READ)
            while not self._stopped.is_set():
                server.consume_input()
                payloads = [notice.extra for notice in iter(server.notifies, None)]
                others = [payload for payload in payloads if not payload.startswith(mine)]
                if any(not payload.endswith(call) for payload in others):
                    self._on_ring()
                if any(payload.endswith(call) for payload in others):
                    self._on_call()
                selector.select()

    def _listen_anew(self, error: Exception) -> bool:
        log.warning("no longer hear other processes, listening anew: %s", error)
        for attempt in range(1_000_000):
            if self._stopped.wait(_LISTEN_AGAIN_AFTER[min(attempt, len(_LISTEN_AGAIN_AFTER) - 1)]):
                return False
            try:
                self._connection = self._connect()
            except psycopg.Error:
                continue
            return True
        return False


def _poll(conninfo: str, on_ring: Callable[[], None]) -> Callable[[], None]:
    """Ring when somebody has written: behind a transaction pooler nobody can listen."""
    ended = threading.Event()

    def look() -> None:
        seen: object = None
        while not ended.is_set():
            try:
                with psycopg.connect(conninfo, autocommit=True, prepare_threshold=None) as connection:
                    while not ended.wait(_POLL_SECONDS):
                        snapshot = connection.execute(_SNAPSHOT).fetchone()
                        if snapshot != seen:
                            seen = snapshot
                            on_ring()
            except psycopg.Error as error:
                log.warning("no longer see what other processes write, looking anew: %s", error)
                ended.wait(_LISTEN_AGAIN_AFTER[-1])

    thread = threading.Thread(target=look, name="bell", daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join(5)

    return end
