"""A plain start, step or end of a run that nobody else touches is one statement, with all its demands."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from orchestrator.core import changes as c
from orchestrator.core.state import Run
from orchestrator.errors import StoreConflict
from orchestrator.store.contract import Store
from orchestrator.store.opening import open_store
from orchestrator.store.postgres import PostgresStore
from orchestrator.store.postgres_url import read_url
from orchestrator.store.postgres_wire import Answer, Call, Wire
from tests.stores.committing import FLOW, NOW, commit, execution
from tests.support import postgres

SOON = 20.0
"""Seconds."""
OPENED, ENDED = c.RunOpened("a", "id of a", NOW), c.StepEnded("A-1", c.COMPLETED)
PLAIN: dict[str, tuple[c.Change, ...]] = {
    "start": (OPENED, c.StepQueued(execution("A"))),
    "step": (ENDED, c.StepQueued(execution("B"))),
    "end": (ENDED, c.RunClosed("COMPLETED", NOW)),
}


class Place:
    """A store with a run `a`, unless that is to be started, and a worker that has leased its step."""

    def __init__(self, url: str, kind: str) -> None:
        self.store, self.other = open_store(url), open_store(url)
        assert isinstance(self.store, PostgresStore)
        self.dsn, self.schema = read_url(url).conninfo, read_url(url).schema
        with self.store.writing() as transaction:
            self.worker = transaction.register_worker(NOW, "host", 1, "")
            transaction.save_definition(FLOW.hash, FLOW.name, "f.flow.yaml", "flow: F", NOW)
        for number in range(8):
            self._start(f"warm {number}")
        self.kind, self.number, self.run = kind, 0, Run()
        if kind != "start":
            self.number, self.run = self._start("a")

    def _start(self, flow_id: str) -> tuple[int, Run]:
        run, opened = Run(), c.RunOpened(flow_id, f"id of {flow_id}", NOW)
        with self.store.writing() as transaction:
            transaction.prepare([], [], [], [flow_id])
            assert transaction.find_latest(flow_id) is None
            number = transaction.next_run_number()
            commit(transaction, number, run, opened, c.StepQueued(execution("A")), worker=self.worker)
        return number, run

    def commit(self, *, rings: bool = False) -> None:
        with self.store.writing() as transaction:
            if rings:
                transaction.ring()
            if self.kind == "start":
                transaction.prepare([], [], [], ["a"])
                number = transaction.next_run_number()
            else:
                transaction.prepare([], [], [self.number])
                number = self.number
            assert not transaction.pauses
            assert not transaction.queues
            commit(transaction, number, self.run, *PLAIN[self.kind], worker=self.worker)

    def stored(self) -> list[tuple[object, ...]]:
        with self.store.reading() as reading:
            head = reading.find_latest("a")
            if head is None:
                return []
            return [(head.status, row.version) for row in reading.history(head.run)]

    def execute(self, text: str) -> None:
        with psycopg.connect(self.dsn) as connection:
            connection.execute(text.format(schema=self.schema))


@pytest.fixture(params=list(PLAIN))
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with postgres.database() as url:
        place = Place(url, request.param)
        with closing(place.store), closing(place.other):
            yield place


def pause(other: Store, place: Place) -> None:
    with other.writing() as transaction:
        transaction.pause("G", None, NOW)


def set_queue(other: Store, place: Place) -> None:
    with other.writing() as transaction:
        transaction.set_queue("q", "{}")


def bury(other: Store, place: Place) -> None:
    with other.writing() as transaction:
        transaction.bury_worker(place.worker)


def go_first(other: Store, place: Place) -> None:
    """Somebody else has started the flow id, or has changed the run."""
    run = Run() if place.kind == "start" else Run(flow_id="a", run_id="id of a", version=1)
    with other.writing() as transaction:
        if place.kind == "start":
            transaction.prepare([], [], [], ["a"])
            commit(transaction, transaction.next_run_number(), run, *PLAIN["start"])
        else:
            transaction.prepare([], [], [place.number])
            commit(transaction, place.number, run, c.AttributeSet("n", None, 1))


@pytest.mark.parametrize("rings", [False, True])
def test_it_is_one_message_of_one_statement_and_an_end_rings_with_it(
    place: Place, monkeypatch: pytest.MonkeyPatch, rings: bool
) -> None:
    sent: list[int] = []
    send = Wire.send

    def count(wire: Wire, calls: list[Call]) -> list[Answer]:
        sent.append(len(calls))
        return send(wire, calls)

    monkeypatch.setattr(Wire, "send", count)
    place.commit(rings=rings)
    monkeypatch.undo()
    assert sent == ([2] if rings and place.kind != "end" else [1])
    assert (
        place.stored()
        == {
            "start": [("RUNNING", 1)],
            "step": [("RUNNING", 1), ("RUNNING", 2)],
            "end": [("COMPLETED", 1), ("COMPLETED", 2)],
        }[place.kind]
    )


def test_others_hear_of_an_end_that_rings_and_not_of_one_that_fails() -> None:
    with postgres.database() as url:
        place = Place(url, "end")
        heard = threading.Semaphore(0)
        with closing(place.store), closing(place.other), psycopg.connect(place.dsn, autocommit=True) as ear:
            assert isinstance(place.store, PostgresStore)
            ear.execute(f'LISTEN "{place.store.bell.channel}"')
            end = place.other.listen(heard.release)
            go_first(place.other, place)
            before = copy.deepcopy(place.run)
            with pytest.raises(StoreConflict):
                place.commit(rings=True)
            place.run = before
            place.run.version += 1  # caught up
            place.commit(rings=True)
            assert heard.acquire(timeout=SOON)
            end()
            assert [each.payload for each in ear.notifies(timeout=SOON, stop_after=1)] == [
                place.store.bell.token
            ]
            assert list(ear.notifies(timeout=0)) == []
            assert place.stored()[-1] == ("COMPLETED", 3)


@pytest.mark.parametrize("meddle", [pause, set_queue, bury, go_first])
def test_where_others_have_meddled_nothing_of_it_is_stored(
    place: Place, meddle: Callable[[Store, Place], None]
) -> None:
    meddle(place.other, place)
    before = place.stored()
    with pytest.raises(StoreConflict):
        place.commit()
    assert place.stored() == before


def test_a_start_does_not_rely_on_a_definition_that_others_have_pruned() -> None:
    with postgres.database() as url:
        place = Place(url, "start")
        with closing(place.store), closing(place.other):
            place.execute('DELETE FROM "{schema}".definitions')
            with pytest.raises(StoreConflict):
                place.commit()
            assert place.stored() == []
