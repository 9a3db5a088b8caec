"""The one module that knows alembic: it finds the revisions and runs their operations.

Loaded only when a store is of an earlier release: alembic and SQLAlchemy take longer to import than most
commands take in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from orchestrator.errors import StoreError
from orchestrator.store.times import to_micros

_LIVING = text("SELECT host, pid FROM workers WHERE alive_until > :now ORDER BY worker")
"""Of every version."""
PLACE = Path(__file__).parent
"""Revisions are in its `versions/`."""


class Revisions:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def demand_rest(self, place: str) -> None:
        """Raises StoreError while workers, which are of an earlier release, are alive."""
        living = self._connection.execute(_LIVING, {"now": to_micros(datetime.now(UTC))}).all()
        if living:
            shown = ", ".join(f"{host.partition('/')[0]} process {pid}" for host, pid in living)
            raise StoreError(
                f"{place}: workers are still at it ({shown}); stop them first. One that was killed counts "
                "for up to 10 seconds; if it cannot be one: orchestrator db upgrade --force"
            )

    def run(self, before: int, after: int) -> Iterator[int]:
        """In the driver's transaction, from one schema version to a later one; each version when reached."""
        script = ScriptDirectory(str(PLACE))
        steps = reversed(list(script.iterate_revisions(str(after), str(before))))
        with Operations.context(MigrationContext.configure(self._connection)):
            for step in steps:
                step.module.upgrade()
                yield int(step.revision)


@contextmanager
def revisions_on(driver: Any, dialect: str) -> Iterator[Revisions]:
    """`driver`: a connection of the database's driver, in no transaction yet. It is not closed.

    Transactions are begun and ended by whoever has the driver's connection. Raises what the driver raises.
    """
    options = {} if dialect.startswith("sqlite") else {"use_native_hstore": False}
    engine = create_engine(dialect, creator=lambda: driver, poolclass=StaticPool, **options)
    try:
        with engine.connect() as connection:
            yield Revisions(connection)
    except DBAPIError as error:
        raise error.orig or error from error
