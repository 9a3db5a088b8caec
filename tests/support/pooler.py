"""A real pooler between tests and their PostgreSQL server: pgbouncer, in transaction mode."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

from orchestrator.store.postgres_url import read_url
from tests.support import postgres

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
_PATIENCE = 60.0
_SETTINGS = """
[databases]
* = {server}
[pgbouncer]
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 200
auth_type = any
listen_addr =
unix_socket_dir = {directory}
logfile = {directory}/log
pidfile = {directory}/pid
ignore_startup_parameters = extra_float_digits,options
"""


@contextmanager
def database() -> Iterator[str]:
    """As postgres.database, through a pooler of its own. The test is skipped where there is no pgbouncer."""
    if PGBOUNCER is None:
        pytest.skip("pgbouncer is not installed")
    with postgres.database() as url, pooler() as host:
        yield pooled_url(host, read_url(url).schema)


@contextmanager
def pooler(size: int = 3) -> Iterator[str]:
    """The host to connect to; `size`: connections to the server, which all of its clients share."""
    assert PGBOUNCER is not None
    directory = Path(tempfile.mkdtemp(prefix="orchestrator-pooler-"))
    settings = directory / "pgbouncer.ini"
    settings.write_text(_SETTINGS.format(server=_server(), size=size, directory=directory))
    command = [PGBOUNCER, str(settings)]
    if os.geteuid() == 0:  # it refuses to be root; sockets of the server are for its own user
        account = pwd.getpwnam("embedded_postgres" if not os.environ.get(postgres.SERVER) else "nobody")
        os.chown(directory, account.pw_uid, account.pw_gid)
        command[1:1] = ["-u", account.pw_name]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_socket(directory / ".s.PGSQL.6432", process)
        yield str(directory)
    finally:
        process.terminate()
        process.wait(_PATIENCE)
        shutil.rmtree(directory, ignore_errors=True)


def pooled_url(host: str, schema: str) -> str:
    wanted = conninfo_to_dict(postgres.server_url())
    database = f"{wanted.get('user', '')}@/{wanted.get('dbname', '')}"
    return f"postgresql://{database}?host={quote(host, safe='')}&port=6432&schema={schema}&pooler=transaction"


def _server() -> str:
    wanted = conninfo_to_dict(postgres.server_url())
    return " ".join(
        f"{name}={wanted[name]}" for name in ("host", "port", "user", "password") if name in wanted
    )


def _await_socket(path: Path, process: subprocess.Popen[bytes]) -> None:
    ends_at = time.monotonic() + _PATIENCE
    while True:
        with closing(socket.socket(socket.AF_UNIX)) as attempt:
            if attempt.connect_ex(str(path)) == 0:
                return
        assert process.poll() is None, "pgbouncer has ended"
        assert time.monotonic() < ends_at, "pgbouncer does not listen"
        time.sleep(0.02)
