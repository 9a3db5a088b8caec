"""Who works, and what becomes of the work of those who died.

A lease is a row's `worker` together with that worker's `alive_until`: renewing ten thousand leases writes one
row. On the same machine a dead process is noticed at once, elsewhere when its time is over.
"""

from __future__ import annotations

import os
import socket
from datetime import datetime, timedelta
from pathlib import Path

from orchestrator.store.contract import Transaction, WorkerRow
from orchestrator.store.times import to_micros

RENEW_EVERY = timedelta(seconds=2)
ALIVE_FOR = timedelta(seconds=10)


def host_name() -> str:
    """Equal only where process ids mean the same: one machine, one boot, one container."""
    boot = _read("/proc/sys/kernel/random/boot_id")
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{boot}/{namespace}"


def process_started(pid: int) -> str:
    """When a process began, in the system's own words; empty where that is not known."""
    _, _, rest = _read(f"/proc/{pid}/stat").rpartition(")")
    fields = rest.split()
    return fields[19] if len(fields) > 19 else ""


def register(transaction: Transaction, now: datetime, serves: str = "") -> int:
    """`serves`: see contract.WorkerRow."""
    pid = os.getpid()
    return transaction.register_worker(now + ALIVE_FOR, host_name(), pid, process_started(pid), serves)


def take_over(transaction: Transaction, now: datetime, own: int) -> int:
    """Free what dead workers had leased; how much that was."""
    freed = 0
    for row in transaction.workers():
        if row.worker != own and is_dead(row, now):
            freed += transaction.bury_worker(row.worker)
    return freed


def is_dead(row: WorkerRow, now: datetime) -> bool:
    if row.alive_until < to_micros(now):
        return True
    return row.host == host_name() and not _is_running(row.pid, row.process_started)


def _is_running(pid: int, started: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return not started or process_started(pid) == started


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
