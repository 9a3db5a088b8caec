"""Clients that were answered together commit together again (gathering.py)."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.engine import gathering, wishes
from orchestrator.engine.batch import Batch
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.submission import Start
from orchestrator.errors import BodyUnreadable, NotFound
from tests.benchmarks import flows
from tests.support import engine_handlers
from tests.support.engine_kit import Gate, Kit, flow_of

WIDE = flow_of(
    """
flow: Wide
handlers: tests.support.engine_handlers
input: integer
start: Split
steps:
  Split: {input: integer, go_to_many: [{step: Branch, for_each: "${range(input)}"}]}
  Branch: {execute: {handler: gated, timeout: 1h}, graceful_complete: null}
"""
)
FOR_EVER, SOON = 3600.0, 20.0
"""Seconds."""


class Office:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.engine = Engine(str(path))
        self.flow = flows.message()
        self.batches: list[int] = []
        """How many wishes each commit has answered."""
        self.engine.on_batch = self._note
        Client(self.engine).start(self.flow, "warm")
        self.batches.clear()

    def _note(self, batch: Batch) -> None:
        self.batches.append(len(batch.receipts))

    def put_in(self, flow_id: str) -> Start:
        """A wish whose client waits for the answer."""
        wish = Start(self.flow, flow_id, flow_id)
        wish.receipt.is_awaited = True
        self.engine.committer.submit(wish)
        return wish

    def lead(self, own: Start | None) -> threading.Thread:
        """`own` None: nobody's client leads."""
        receipt = None if own is None else own.receipt
        leader = threading.Thread(target=self.engine.lead, args=(receipt,), daemon=True)
        leader.start()
        return leader

    def answer_together(self, *flow_ids: str) -> list[Start]:
        wishes = [self.put_in(flow_id) for flow_id in flow_ids]
        self.engine.lead()
        assert self.batches.pop() == len(wishes)
        return wishes


def ends(leader: threading.Thread) -> bool:
    leader.join(SOON)
    return not leader.is_alive()


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    office = Office(tmp_path / "runs.db")
    yield office
    office.engine.close()


@pytest.mark.parametrize("is_client", [True, False])
def test_who_leads_waits_for_those_who_were_answered(
    office: Office, monkeypatch: pytest.MonkeyPatch, is_client: bool
) -> None:
    monkeypatch.setattr(gathering, "LONGEST", FOR_EVER)
    first, second, third = office.answer_together("a-1", "b-1", "c-1")
    first.receipt.result()
    own = office.put_in("a-2")
    leader = office.lead(own if is_client else None)
    second.receipt.result()
    other = office.put_in("b-2")
    third.receipt.result()  # goes away
    assert ends(leader)
    assert office.batches == [2]
    assert own.receipt.result().is_new
    assert other.receipt.result().is_new


def test_nobody_is_waited_for_who_does_not_wake(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    office.answer_together("a-1", "b-1")
    own = office.put_in("a-2")
    office.engine.lead(own.receipt)
    assert own.receipt.result().is_new
    monkeypatch.setattr(gathering, "LONGEST", FOR_EVER)
    assert ends(office.lead(office.put_in("a-3")))
    assert office.batches == [1, 1]


def test_who_leads_on_after_an_answer_does_not_wait_for_itself(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "LONGEST", FOR_EVER)
    late: list[Start] = []

    def come_late(batch: Batch) -> None:
        if not late:
            late.append(office.put_in("b-1"))

    office.engine.on_batch = come_late
    own = office.put_in("a-1")
    assert ends(office.lead(own))
    assert own.receipt.result().is_new
    assert late[0].receipt.result().is_new


def test_those_who_do_not_wait_for_their_answer_are_not_waited_for(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "LONGEST", FOR_EVER)
    client = Client(office.engine)
    receipts = [client.start_soon(office.flow, f"soon-{number}") for number in range(3)]
    own = office.put_in("now")
    assert ends(office.lead(own))
    assert all(receipt.result().is_new for receipt in receipts)


def test_a_refused_client_is_waited_for_too(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "LONGEST", FOR_EVER)
    (first,) = office.answer_together("warm")
    own = office.put_in("a-1")
    leader = office.lead(own)
    with pytest.raises(Exception, match="warm"):
        first.receipt.result()
    assert ends(leader)
    assert own.receipt.result().is_new


def test_a_client_that_has_its_answer_leaves_the_lead_to_the_worker(kit: Kit) -> None:
    """Else what it asks for next would miss the commit that it makes for others."""
    committer, rested = kit.engine.committer, threading.Semaphore(0)
    leaders: list[str] = []
    late = Start(flows.message(), "late", "late")
    with kit.working(concurrency=1) as worker:
        worker._dispatcher.watch._look = lambda is_due: None
        worker._dispatcher.on_rest = rested.release
        worker._dispatcher.look_for_work()
        assert rested.acquire(timeout=SOON)
        told = committer.on_commit

        def note(batch: Batch) -> None:
            leaders.append(threading.current_thread().name)
            if len(leaders) == 1:
                committer.submit(late)
            told(batch)

        committer.on_commit = note
        own = Start(flows.message(), "own", "own")
        committer.submit(own)
        committer.lead(own.receipt)
        assert own.receipt.result().is_new
        assert late.receipt.result().is_new
    first = "handler-1" if kit.engine.store.has_server else threading.current_thread().name
    assert leaders[:2] == [first, "handler-1"]


@pytest.mark.parametrize(("seconds", "leads_itself"), [(0.0, False), (0.01, True)])
def test_a_client_leaves_the_lead_to_a_handler_thread_that_is_through_in_an_instant(
    kit: Kit, seconds: float, leads_itself: bool
) -> None:
    """What the client wants and what the handlers give are one commit then."""
    gate = engine_handlers.gates["Branch"] = Gate()
    committer = kit.engine.committer
    with kit.working(concurrency=1) as worker:
        kit.client.start(WIDE, "run-1", 3)
        gate.await_arrival()
        worker._dispatcher._pace.note("gated", seconds)
        own = Start(flows.message(), "own", "own")
        committer.submit(own)
        committer.lead(own.receipt)
        assert own.receipt.is_answered is leads_itself
        gate.open(3)
        assert own.receipt.result().is_new
        assert kit.client.wait("run-1", SOON)["status"] == "COMPLETED"


def test_work_that_somebody_else_commits_meanwhile_is_begun_at_once(kit: Kit) -> None:
    """Nothing but that commit makes the worker look: its watch is blind."""
    rested = threading.Semaphore(0)
    with kit.working(concurrency=1) as worker:
        worker._dispatcher.watch._look = lambda is_due: None
        worker._dispatcher.on_rest = rested.release
        worker._dispatcher.look_for_work()
        for number in range(3):
            assert rested.acquire(timeout=SOON)
            while rested.acquire(blocking=False):
                pass
            start = Start(flows.sequence(2), f"run-{number}", f"run-{number}")
            kit.engine.committer.submit(start)
            kit.engine.committer.exclusively(lambda transaction, now: None, "prune")
            assert start.receipt.result().is_new
            assert kit.client.wait(f"run-{number}", SOON)["status"] == "COMPLETED"


def test_of_runs_that_are_loaded_together_one_that_cannot_be_read_refuses_its_own_client_only(
    office: Office,
) -> None:
    office.answer_together("sound", "broken")
    with closing(sqlite3.connect(office.path)) as other:
        other.execute("UPDATE runs SET state = X'C101016B00' WHERE flow_id = 'broken'")
        other.commit()
    for entry in list(office.engine.committer.runs.cache):
        office.engine.committer.runs.cache.drop(entry)
    stops = {name: wishes.stop(name) for name in ("sound", "broken", "absent")}
    for wish in stops.values():
        office.engine.committer.submit(wish)
    office.engine.lead()
    assert office.batches == [1]
    stops["sound"].receipt.result()
    with pytest.raises(BodyUnreadable, match="configured here has none"):
        stops["broken"].receipt.result()
    with pytest.raises(NotFound, match="absent"):
        stops["absent"].receipt.result()
