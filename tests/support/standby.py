"""A PostgreSQL server with a standby that has everything before it is confirmed, and can take over."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psycopg

from orchestrator.store.postgres_url import read_url
from tests.faults.server import Cluster

_IS_SYNCHRONOUS = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
_LOOKS = 6000


class Standby(Cluster):
    """Follows `primary` until it is promoted."""

    def __init__(self, directory: Path, primary: Cluster) -> None:
        self._primary = str(primary.directory)
        super().__init__(directory)

    def _make(self) -> None:
        self._run("pg_basebackup", "-h", self._primary, "-U", "postgres", "-D", str(self._data), "-R")

    def promote(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-w", "promote")


class Pair:
    def __init__(self, primary: Cluster, standby: Standby) -> None:
        self.primary = primary
        self.standby = standby

    def url(self, schema: str) -> str:
        """Of whichever of the two can be written."""
        hosts = ",".join(quote(str(each.directory), safe="") for each in (self.primary, self.standby))
        return (
            f"postgresql://postgres@/postgres?host={hosts}&target_session_attrs=read-write"
            f"&connect_timeout=10&schema={schema}"
        )

    def wait_for_each_other(self) -> None:
        """From now on a commit is confirmed when both have it."""
        with psycopg.connect(read_url(self.primary.url("public")).conninfo, autocommit=True) as server:
            server.execute("ALTER SYSTEM SET synchronous_standby_names TO '*'")
            server.execute("SELECT pg_reload_conf()")
            for _ in range(_LOOKS):
                if server.execute(_IS_SYNCHRONOUS).fetchone() == (1,):
                    return
                server.execute("SELECT pg_sleep(0.01)")
        raise AssertionError("the standby never follows")


@contextmanager
def pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        primary = Cluster(_directory(stack))
        _run(stack, primary)
        standby = Standby(_directory(stack), primary)
        _run(stack, standby)
        made = Pair(primary, standby)
        made.wait_for_each_other()
        yield made


def _directory(stack: ExitStack) -> Path:
    directory = Path(tempfile.mkdtemp(prefix="orchestrator-standby-"))
    stack.callback(shutil.rmtree, directory, ignore_errors=True)
    directory.chmod(0o711)
    return directory


def _run(stack: ExitStack, server: Cluster) -> None:
    @stack.callback
    def stop() -> None:
        with suppress(AssertionError):  # it may be stopped
            server.stop()

    server.start()
