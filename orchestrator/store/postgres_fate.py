"""Connections that are lost, and what became of the transaction that was just being committed.

Before its commit, a transaction has left nothing: it is done again. When the connection is lost at the commit
itself, the server is asked: it knows what became of a transaction by its number. Where it was replaced by
another server meanwhile, its numbers mean nothing: the history row that the transaction wrote decides. So it
does for a commit that asked nothing and does not know its number.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import psycopg

from orchestrator.errors import StoreError
from orchestrator.store.postgres_link import Link

_WAITS = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 1.0, 1.0, 1.0)
"""Seconds before each try to connect: long enough for a restart, or for another server to take over."""
LOOK_UPS = 5
"""So often a connection may be lost that asks what became of a commit, before its fate is told as unknown."""
_LOOK_EVERY = 0.02
_LOOKS = 500
_IN_PROGRESS = "in progress"
_ENDS = ("08", "57P")
"""Classes of errors after which there is no connection: of connections, of servers that shut down."""


def patiently(connect: Callable[[], Link]) -> Link:
    """Raises psycopg.Error in the end."""
    for wait in _WAITS[1:]:
        try:
            return connect()
        except psycopg.OperationalError:
            threading.Event().wait(wait)
    return connect()


def is_lost(link: Link, error: psycopg.OperationalError) -> bool:
    """Does the connection end with this error? Then it is closed here: a server that ends says so before."""
    state = error.sqlstate
    if not link.is_broken and state is not None and not state.startswith(_ENDS):
        return False
    link.close()
    return True


def wait_for_end(link: Link, fence: int, place: str) -> None:
    """Of a transaction whose number is not known: each of that connection takes the lock `fence`.

    From then on it is ours, and what may still be on the way fails for want of it. Raises StoreError.
    """
    for _ in range(_LOOKS):
        if link.all("fence", fence)[0][0]:
            return
        threading.Event().wait(_LOOK_EVERY)
    raise unknown(place)


def was_committed(link: Link, number: str | None, proof: tuple[Any, ...] | None, place: str) -> bool:
    """`number`: of the transaction; `proof`: a history row that it wrote, if any. Raises StoreError."""
    fate = _fate(link, number)
    for _ in range(_LOOKS):
        if fate != _IN_PROGRESS:
            break
        threading.Event().wait(_LOOK_EVERY)  # the server has not noticed yet that nobody listens
        fate = _fate(link, number)
    if fate == _IN_PROGRESS:
        raise unknown(place)
    if proof is not None:
        return _is_stored(link, proof)
    return fate == "committed"


class Stray(NamedTuple):
    """A commit that was not stored when it was looked up; what was sent of it may still arrive."""

    fence: int
    proof: tuple[Any, ...]

    def settle(self, link: Link, place: str) -> None:
        """On a connection that may be another than which looked. Raises StoreError if it has arrived."""
        wait_for_end(link, self.fence, place)
        if _is_stored(link, self.proof):
            raise unknown(place)


def unknown(place: str) -> StoreError:
    return StoreError(f"{place}: whether the last commit was stored is not known: the server does not say")


def _fate(link: Link, number: str | None) -> str | None:
    """None: the server does not know."""
    if number is None:
        return None
    try:
        fate: str | None = link.all("fate", number)[0][0]
    except psycopg.DataError:  # a number from another server's future
        return None
    return fate


def _is_stored(link: Link, proof: tuple[Any, ...]) -> bool:
    run, version, *content = proof
    rows = link.all("history_of", run, version - 1)
    return bool(rows) and list(rows[0]) == [version, *content]
