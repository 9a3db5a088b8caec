"""An attribute store in any SQL database: a table for each flow type, made and widened as needed.

The table `Order` has `flow_id` (the key), `synced_seq` and a column for each synced attribute. A table that
is there already may have more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    exc,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.schema import CreateColumn
from sqlalchemy.types import TypeEngine

from orchestrator.errors import UsageError
from orchestrator.store.attribute_store import AttributeRow, AttributeStoreDown, ColumnKind

KEY = "flow_id"
SEQ = "synced_seq"
_KEY_LENGTH = 255
_TYPES: Mapping[ColumnKind, TypeEngine[Any]] = {
    ColumnKind.TEXT: Text(),
    ColumnKind.INTEGER: BigInteger(),
    ColumnKind.NUMBER: Float(),
    ColumnKind.BOOLEAN: Boolean(),
    ColumnKind.JSON: JSON(none_as_null=True),
}


class AttributeTables:
    """See attribute_store.AttributeStore."""

    def __init__(self, url: str) -> None:
        """Raises UsageError for what is no database URL, or one without its driver."""
        try:
            self._engine = create_engine(url, pool_pre_ping=True)
        except (exc.ArgumentError, exc.NoSuchModuleError, ImportError) as error:
            raise UsageError(
                f"`{_shown(url)}` is no attribute store: {error}; give a database URL like sqlite:///customers.db"
            ) from None
        self._tables: dict[str, Table] = {}

    def apply(self, rows: Sequence[AttributeRow]) -> None:
        try:
            for row in rows:
                self._prepare(row)
            with self._engine.begin() as connection:
                for row in rows:
                    self._write(connection, row)
        except exc.DBAPIError as error:
            self._tables.clear()
            if error.connection_invalidated or isinstance(error, exc.OperationalError | exc.InterfaceError):
                raise AttributeStoreDown(str(error.orig)) from error
            raise

    def close(self) -> None:
        self._engine.dispose()

    def _write(self, connection: Connection, row: AttributeRow) -> None:
        table = self._tables[row.flow]
        values = {column_of(name): value for name, value in row.values.items()} | {SEQ: row.seq}
        is_row = table.c[KEY] == row.flow_id
        changed = connection.execute(update(table).where(is_row, table.c[SEQ] < row.seq).values(values))
        if changed.rowcount == 0 and connection.execute(select(table.c[KEY]).where(is_row)).first() is None:
            connection.execute(insert(table).values({KEY: row.flow_id, **values}))

    def _prepare(self, row: AttributeRow) -> None:
        """Make the table, or give it the columns that it lacks."""
        table = self._tables.get(row.flow)
        if table is not None and all(column_of(name) in table.c for name in row.kinds):
            return
        table = _table_of(row)
        with self._engine.begin() as connection:
            if not inspect(connection).has_table(row.flow):
                table.create(connection)
            else:
                present = {column["name"] for column in inspect(connection).get_columns(row.flow)}
                for column in table.c:
                    if column.name not in present:
                        _add(connection, table, column)
        self._tables[row.flow] = table


def column_of(attribute: str) -> str:
    return f"{attribute}_" if attribute in (KEY, SEQ) else attribute


def _table_of(row: AttributeRow) -> Table:
    columns = [Column(column_of(name), _TYPES[kind]) for name, kind in row.kinds.items()]
    key = Column(KEY, String(_KEY_LENGTH), primary_key=True)
    seq = Column(SEQ, BigInteger, nullable=False, server_default="0")
    return Table(row.flow, MetaData(), key, seq, *columns)


def _add(connection: Connection, table: Table, column: Column[Any]) -> None:
    quoted = connection.dialect.identifier_preparer.format_table(table)
    definition = CreateColumn(column).compile(dialect=connection.dialect)
    connection.exec_driver_sql(f"ALTER TABLE {quoted} ADD COLUMN {definition}")


def _shown(url: str) -> str:
    """Without a password."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
