"""Statements in one message: what they carry arrives as it was, and a failure leaves all in order."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from orchestrator.store.postgres_url import read_url
from orchestrator.store.postgres_wire import Call, Statement, Wire
from tests.support import postgres

TEXTS = ["", "plain", 'a "quoted" one', "back\\slash", "{a,b}", "NULL", "null", "two\nlines, ü €", "'"]
SAME = Statement("SELECT $1::BIGINT, $2::TEXT, $3::BYTEA, $4::BIGINT[], $5::TEXT[], $6::BYTEA[]")
DIVIDED = Statement("SELECT 1 / $1::INTEGER")


@pytest.fixture
def connection() -> Iterator["psycopg.Connection[Any]"]:
    with psycopg.connect(read_url(postgres.server_url()).conninfo, autocommit=True) as connection:
        connection.prepare_threshold = None
        yield connection


@pytest.fixture(params=[True, False], ids=["prepared", "pooled"])
def wire(connection: "psycopg.Connection[Any]", request: pytest.FixtureRequest) -> Wire:
    return Wire(connection, prepares=request.param)


@pytest.mark.parametrize(
    "row",
    [
        (1, "a", b"\0\xff", [1, -(2**63), 2**63 - 1], TEXTS, [b"", b"\0", b"\xff" * 300]),
        (None, None, None, [1, None], ["a", None], [None, b"a"]),
        (0, "", b"", [], [], []),
        (0, "", b"", [None], [None], [None]),
    ],
    ids=["values", "nulls", "empty", "nothing-but-nulls"],
)
def test_values_come_back_as_they_were(wire: Wire, row: tuple[Any, ...]) -> None:
    for _ in range(3):
        (answer,) = wire.send([Call(SAME, row)])
        assert answer.rows == [row]


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_may_stand_in_an_array(wire: Wire, text: str) -> None:
    (answer,) = wire.send([Call(SAME, (1, "", b"", [1], [text], [b""]))])
    assert answer.rows[0][4] == [text]


def test_a_text_that_cannot_be_stored_is_refused_before_anything_is_sent(wire: Wire) -> None:
    rows: list[tuple[Any, ...]] = [(1, "a\0b", b"", [], [], []), (1, "", b"", [], ["a", "b\0"], [])]
    for row in rows:
        with pytest.raises(psycopg.DataError):
            wire.send([Call(DIVIDED, (1,)), Call(SAME, row)])
    with pytest.raises(psycopg.ProgrammingError):
        wire.send([Call(DIVIDED, ({},))])
    assert wire.send([Call(DIVIDED, (1,))])[0].rows == [(1,)]


def test_nothing_behind_a_failure_is_done_and_the_next_message_finds_all_in_order(wire: Wire) -> None:
    """Statements that were to be prepared behind it, too."""
    wire.send([Call(Statement("CREATE TEMPORARY TABLE seen (n INTEGER)"))])
    note = Statement("INSERT INTO seen VALUES ($1)")
    with pytest.raises(psycopg.errors.DivisionByZero):
        wire.send(
            [Call(note, (1,)), Call(DIVIDED, (0,)), Call(note, (2,)), Call(SAME, (1, "", b"", [], [], []))]
        )
    wire.send([Call(note, [(3,), (4,)], is_many=True)])
    (answer, same) = wire.send(
        [Call(Statement("SELECT n FROM seen ORDER BY n")), Call(SAME, (1, "", b"", [], [], []))]
    )
    assert answer.rows == [(3,), (4,)], "all of one message is one transaction"
    assert same.row_count == 1


def test_a_message_may_be_larger_than_what_fits_on_the_way(wire: Wire) -> None:
    large = b"x" * 1_000_000
    answers = wire.send([Call(SAME, (n, "", large, [], [], [])) for n in range(20)])
    assert [answer.rows[0][0] for answer in answers] == list(range(20))


def test_statements_that_others_have_made_the_connection_forget_cost_it(
    connection: "psycopg.Connection[Any]",
) -> None:
    wire = Wire(connection, prepares=True)
    wire.send([Call(DIVIDED, (1,))])
    connection.execute("DEALLOCATE ALL")
    with pytest.raises(psycopg.OperationalError):
        wire.send([Call(DIVIDED, (1,))])
    assert connection.closed, "whoever needs it makes another"
