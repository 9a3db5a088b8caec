"""Runs are found among many: page by page, by what indexes find and by what is looked at run by run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.definition.expressions import Environment, parse_guard
from orchestrator.definition.types import ANY
from orchestrator.engine.client import Client
from orchestrator.engine.search import sought_by
from orchestrator.errors import UsageError
from orchestrator.store.sought import ANY_RUN, Sought
from tests.benchmarks.filling import fill

MINUTE = 60 * 1_000_000
YEAR_2026 = 1_767_225_600 * 1_000_000
CLOSED, PARKED = 1300, 40
"""More than a page of each kind of page."""


@pytest.fixture
def client(place: Path | str) -> Iterator[Client]:
    url = place if isinstance(place, str) else f"sqlite:///{place / 'runs.db'}"
    fill(url, CLOSED, PARKED)
    with Client(url) as client:
        yield client


def test_every_run_is_listed_once_and_newest_first(client: Client) -> None:
    found = client.search()
    assert len({run["flow_id"] for run in found}) == len(found) == CLOSED + PARKED + 2
    times = [run["started_at"] for run in found]
    assert times == sorted(times, reverse=True)
    assert client.search(limit=250) == found[:250]


def test_runs_are_found_by_what_an_index_knows_and_by_the_rest(client: Client) -> None:
    def ids(where: str, **options: Any) -> list[str]:
        return [run["flow_id"] for run in client.search(where, **options)]

    failed = [f"ticket-{number}" for number in range(CLOSED, 0, -100)]
    assert ids("status == 'FAILED'") == failed
    assert ids("status == 'FAILED'", limit=3) == failed[:3]
    assert ids("'FAILED' == status && flow == 'BenchTicket'") == failed
    assert ids("status == 'FAILED' && flow == 'BenchParked'") == []
    assert len(ids("flow == 'BenchParked'")) == PARKED + 1
    assert len(ids("status == 'RUNNING' && flow == 'BenchParked'")) == PARKED + 1
    assert ids("flow_id == 'ticket-7'") == ["ticket-7"]
    assert ids("flow_id == 'ticket-7' && status == 'RUNNING'") == []
    assert ids("flow_id == 'nothing'") == []
    assert len(ids("'Wait' in steps")) == PARKED + 1
    assert ids("'Wait' in steps && flow == 'BenchTicket'") == []
    assert len(ids("!('Wait' in steps)")) == CLOSED + 1
    assert len(ids("status == 'FAILED' || 'Wait' in steps")) == len(failed) + PARKED + 1
    assert ids("attributes.customer == 'c77'") == ["ticket-1077", "ticket-77"]
    assert ids("attributes.customer == 'c77' && flow_id == 'ticket-77'") == ["ticket-77"]
    assert ids("attributes.customer.endsWith('c77')") == ["ticket-1077", "ticket-77"]
    assert len(ids("attributes.customer != 'c77'")) == CLOSED + 1 - 2


def test_runs_are_found_by_the_time_of_their_start(client: Client) -> None:
    found = client.search("flow == 'BenchTicket'")
    middle = found[600]["started_at"]
    assert [run for run in found if run["started_at"] == middle] == [found[600]]
    for comparison, expected in (
        ("<", found[601:]),
        ("<=", found[600:]),
        (">", found[:600]),
        (">=", found[:601]),
        ("==", found[600:601]),
    ):
        for where in (
            f"started_at {comparison} '{middle}'",
            f"timestamp(started_at) {comparison} timestamp('{middle}')",
            f"started_at {comparison} timestamp('{middle}')",
        ):
            where += " && flow == 'BenchTicket'"
            assert client.search(where) == expected, where


def test_times_are_times_and_a_run_that_goes_on_has_not_been_closed(client: Client) -> None:
    def statuses(where: str) -> set[str]:
        return {run["status"] for run in client.search(where)}

    everything = statuses("true")
    assert statuses("closed_at == null") == {"RUNNING"}
    assert statuses("closed_at != null") == everything - {"RUNNING"}
    assert statuses("closed_at > '1970-01-01'") == everything - {"RUNNING"}
    assert statuses("timestamp(closed_at) > timestamp('1970-01-01T00:00:00Z')") == everything - {"RUNNING"}
    assert statuses("closed_at == null && started_at > '1970-01-01'") == {"RUNNING"}
    assert statuses("closed_at - started_at >= duration('0s')") == everything - {"RUNNING"}
    assert statuses("started_at.getFullYear() > 1969") == everything
    with pytest.raises(UsageError, match="`<` does not take string and time"):
        client.search("started_at > '1970' && started_at < timestamp('2030-01-01T00:00:00Z')")


def test_a_limit_is_a_number_of_runs(client: Client) -> None:
    with pytest.raises(UsageError, match="at least 1 run is asked for, not 0"):
        client.search(limit=0)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("true", ANY_RUN),
        ("status == 'A' && ('B' == flow && flow_id == 'c')", Sought("c", "A", "B")),
        ("status == 'A' || flow == 'B'", ANY_RUN),
        ("!(status == 'A')", ANY_RUN),
        ("status != 'A'", ANY_RUN),
        ("'Step' in steps", Sought(status="RUNNING")),
        ("attributes.customer == 'c5'", Sought(value=b'"c5"')),
        ("attributes.size == 5", ANY_RUN),
        ("started_at >= '2026-01-01'", Sought(started_from=YEAR_2026 - MINUTE)),
        ("'2026-01-01T00:00Z' > started_at", Sought(started_until=YEAR_2026 + MINUTE)),
        ("started_at < '2026-01-01 00:00'", ANY_RUN),
        ("started_at < 'no time'", ANY_RUN),
        (
            "timestamp(started_at) == timestamp('2026-01-01T01:00:00+01:00')",
            Sought(started_from=YEAR_2026 - MINUTE, started_until=YEAR_2026 + MINUTE),
        ),
        (
            "timestamp('2026-01-01T00:00:00Z') <= started_at",
            Sought(started_from=YEAR_2026 - MINUTE),
        ),
        ("closed_at < '2026-01-01'", ANY_RUN),
    ],
)
def test_what_every_match_has_is_left_to_the_database(where: str, expected: Sought) -> None:
    names = ("flow", "flow_id", "status", "started_at", "closed_at", "attributes", "steps")
    root, _ = parse_guard(where, Environment(dict.fromkeys(names, ANY))).tree
    assert sought_by(root) == expected
