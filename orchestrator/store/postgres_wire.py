"""Statements on their way to PostgreSQL: many in one message, all answers in one, in libpq's pipeline mode.

Seven statements cost 450 µs of CPU through psycopg's cursors and 140 µs here; an element of an array a tenth.
Parameters are sent by the kind of their value, as text or, bytes, as they are; the server knows their types
from the statement.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence
from itertools import count
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

import psycopg
from psycopg import Connection
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGresult

Rows: TypeAlias = list[tuple[Any, ...]]
Encoded: TypeAlias = tuple[list[bytes | None], list[int]]
"""Values, and how each is written."""
_TEXT, _BINARY = int(Format.TEXT), int(Format.BINARY)
_BYTEA = 17
_NO_NUL = "PostgreSQL text fields cannot contain NUL (0x00) bytes"
_ARRAY_HEAD = Struct("!iIIii").pack
"""Dimensions, whether there are nulls, type of the elements, their number, number of the first."""
_LENGTH = Struct("!i").pack
_NULL = _LENGTH(-1)


class Statement:
    """`text`: parameters are `$1`, `$2`, …; `is_kept`: prepared on the server when it is first used."""

    __slots__ = ("is_kept", "text")

    def __init__(self, text: str, *, is_kept: bool = True) -> None:
        self.text = text.encode()
        self.is_kept = is_kept


class Call(NamedTuple):
    statement: Statement
    parameters: Sequence[Any] = ()
    on_rows: Callable[[Rows], None] | None = None
    is_many: bool = False
    """`parameters` are those of many executions."""


Expected: TypeAlias = list[Call | Statement | None]
"""Whose results come, in order; None: of a call whose result nobody wants."""


class Answer:
    """Its rows are read when somebody asks for them: of most statements nobody does."""

    __slots__ = ("_result", "_transformer")

    def __init__(self, result: PGresult, transformer: Any) -> None:
        self._result = result
        self._transformer = transformer

    @property
    def rows(self) -> Rows:
        if not (count := self._result.ntuples):
            return []
        self._transformer.set_pgresult(self._result)
        rows: Rows = self._transformer.load_rows(0, count, tuple)
        return rows

    @property
    def row_count(self) -> int:
        """How many rows were found or changed."""
        return self._result.ntuples or self._result.command_tuples or 0


class Wire:
    """Not safe to use from several threads. Between two messages psycopg may use the connection."""

    def __init__(self, connection: Connection[Any], *, prepares: bool) -> None:
        self._connection = connection
        self._pg = connection.pgconn
        self._encoding = connection.info.encoding
        self._prepares = prepares
        self._prepared: dict[Statement, bytes] = {}
        self._numbers = count(1)
        self._last: Expected | None = None
        self._is_pipeline = False
        """One statement that is prepared already is sent as it is."""
        self._transformer = Transformer(connection)
        self._readable = select.poll()
        self._readable.register(self._pg.socket, select.POLLIN)
        self._either = select.poll()
        self._either.register(self._pg.socket, select.POLLIN | select.POLLOUT)

    def send(self, calls: Sequence[Call]) -> list[Answer]:
        """All of them; what comes after one that fails is not executed. An answer for each that is not many.

        Raises psycopg.Error. Where it breaks off in between, the connection is closed.
        """
        encode = self._encode
        encoded = [
            list(map(encode, each.parameters if each.is_many else (each.parameters,))) for each in calls
        ]
        is_over = False
        try:
            self._end_last()
            answers, error = self._receive(self._message(calls, encoded))
            if isinstance(error, psycopg.errors.InvalidSqlStatementName):  # somebody has made it forget them
                raise psycopg.OperationalError(str(error))
            is_over = True
        finally:
            if not is_over:
                self._connection.close()
        if error is not None:
            raise error
        return answers

    def send_last(self, statement: Statement) -> None:
        """Nobody waits for its answer, before the next message. Only for a connection of our own."""
        if self._last is None:
            self._last = self._message([Call(statement)], [[([], [])]])

    def has_news(self) -> bool:
        """Has the server said anything that nobody has asked for?"""
        try:
            self._end_last()
        except psycopg.Error:
            return True
        return bool(self._readable.poll(0))

    def _end_last(self) -> None:
        if self._last is not None:
            last, self._last = self._last, None
            self._receive(last)

    # --- There ---

    def _message(self, calls: Sequence[Call], encoded: list[list[Encoded]]) -> Expected:
        pg = self._pg
        self._is_pipeline = not (
            len(calls) == len(encoded[0]) == 1
            and not calls[0].is_many
            and calls[0].statement in self._prepared
        )
        expected: Expected = []
        if self._is_pipeline:
            pg.enter_pipeline_mode()
        for call, executions in zip(calls, encoded, strict=True):
            self._start(call, executions, expected)
        if self._is_pipeline:
            pg.pipeline_sync()
        self._push()
        return expected

    def _start(self, call: Call, executions: list[Encoded], expected: Expected) -> None:
        statement, pg = call.statement, self._pg
        name = self._prepared.get(statement)
        if name is None and self._prepares and statement.is_kept:
            name = b"o%d" % next(self._numbers)
            pg.send_prepare(name, statement.text)
            self._prepared[statement] = name
            expected.append(statement)
        for values, formats in executions:
            if name is None:
                pg.send_query_params(statement.text, values, None, formats, _BINARY)
            else:
                pg.send_query_prepared(name, values, formats, _BINARY)
            expected.append(None if call.is_many else call)

    def _push(self) -> None:
        pg = self._pg
        while pg.flush():
            if any(events & ~select.POLLOUT for _, events in self._either.poll()):
                pg.consume_input()  # the server does not read on before it is rid of its answers

    def _encode(self, parameters: Sequence[Any]) -> Encoded:
        values: list[bytes | None] = []
        formats: list[int] = []
        for parameter in parameters:
            kind, form = type(parameter), _TEXT
            if parameter is None:
                value = None
            elif kind is int:
                value = b"%d" % parameter
            elif kind is str:
                value = parameter.encode(self._encoding)
                if 0 in value:
                    raise psycopg.DataError(_NO_NUL)
            elif kind is bytes:
                value, form = parameter, _BINARY
            elif kind is list:
                value, form = self._encode_array(parameter)
            else:
                value, form = self._encode_other(parameter)
            values.append(value)
            formats.append(form)
        return values, formats

    def _encode_text(self, text: str) -> bytes:
        if "\0" in text:
            raise psycopg.DataError(_NO_NUL)
        return text.encode(self._encoding)

    def _encode_other(self, value: object) -> tuple[bytes, int]:
        if isinstance(value, bytes):
            return bytes(value), _BINARY
        if isinstance(value, int | float | str):
            return self._encode_text(str(value)), _TEXT
        raise psycopg.ProgrammingError(f"a {type(value).__name__} is no value of a column")

    def _encode_array(self, elements: list[Any]) -> tuple[bytes, int]:
        """Of one kind, or None."""
        first = elements[0] if elements and elements[0] is not None else _first_of(elements)
        if isinstance(first, bytes):
            return _array_of_bytes(elements), _BINARY
        if isinstance(first, str):
            return self._encode_text(_array_of_texts(elements)), _TEXT
        shown = ["NULL" if each is None else str(each) for each in elements]
        return b"{%s}" % ",".join(shown).encode(), _TEXT

    # --- And back ---

    def _receive(self, expected: Expected) -> tuple[list[Answer], psycopg.Error | None]:
        pg, wait = self._pg, self._readable.poll
        answers: list[Answer] = []
        error: psycopg.Error | None = None
        results = iter(expected)
        while True:
            while pg.is_busy():
                wait()
                pg.consume_input()
            result = pg.get_result()
            if result is None:
                if pg.status == ConnStatus.BAD:
                    raise error or psycopg.OperationalError("the connection is lost")
                if self._is_pipeline:
                    continue
                return answers, error
            status = result.status
            if status == ExecStatus.PIPELINE_SYNC:
                pg.exit_pipeline_mode()
                return answers, error
            of = next(results, None)
            if status in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
                if isinstance(of, Call):
                    answers.append(Answer(result, self._transformer))
                continue
            if isinstance(of, Statement):
                self._prepared.pop(of, None)
            if status == ExecStatus.FATAL_ERROR and error is None:
                error = error_from_result(result, self._encoding)


def _first_of(elements: list[Any]) -> Any:
    return next((each for each in elements if each is not None), None)


def _array_of_bytes(elements: list[bytes | None]) -> bytes:
    parts = [_ARRAY_HEAD(1, None in elements, _BYTEA, len(elements), 1)]
    for each in elements:
        if each is None:
            parts.append(_NULL)
        else:
            parts.append(_LENGTH(len(each)))
            parts.append(each)
    return b"".join(parts)


def _array_of_texts(elements: list[str | None]) -> str:
    if None not in elements:
        joined = '","'.join(elements)  # type: ignore[arg-type]
        if "\\" not in joined and joined.count('"') == 2 * (len(elements) - 1):
            return f'{{"{joined}"}}'
    shown = ",".join("NULL" if each is None else _quoted(each) for each in elements)
    return f"{{{shown}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
