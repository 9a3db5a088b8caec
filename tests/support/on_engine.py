"""Rehearsals on the real engine: client, worker with its threads, SQLite, under a clock that is turned.

What happens between two moments happens in whatever order the threads give it, so paths are compared as sets.
"""

from __future__ import annotations

import builtins
import json
import sqlite3
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from orchestrator import errors
from orchestrator.binding.context import Services
from orchestrator.binding.invoke import Returned
from orchestrator.core import changes as c
from orchestrator.core.codec import decode
from orchestrator.core.events import Failure, RpcCalled, TimerDue
from orchestrator.core.snapshot import Snapshot
from orchestrator.core.state import TIMEOUT_STEP, Execution, Phase, Status
from orchestrator.core.tasks import method_options
from orchestrator.definition.model import Flow
from orchestrator.definition.places import beside, find_children
from orchestrator.engine.batch import Batch
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.handlers import Handlers
from orchestrator.engine.submission import Receipt, Request, Start
from orchestrator.engine.worker import Worker
from orchestrator.errors import NonRetryable, OrchestratorError, RetryAfter
from orchestrator.simulate.calls import BoundFlows, Calls
from orchestrator.simulate.compare import compare
from orchestrator.simulate.outcome import differences
from orchestrator.simulate.record import Commit, SimulatedRun
from orchestrator.simulate.script import (
    ON_TIMEOUT,
    CallKey,
    CallKind,
    ClientAct,
    Rehearsal,
    RehearsalFile,
    ScriptedChild,
)
from orchestrator.store.times import from_micros, to_micros
from tests.support.engine_kit import PATIENCE, VirtualClock, flow_of

_RUN_IDS = uuid.uuid5(uuid.NAMESPACE_URL, "orchestrator/simulate")
_THREADS = 12


@dataclass
class Sleeper:
    """A call whose virtual time is not over."""

    wakes_at: datetime
    limit_at: datetime
    services: Services
    wake: threading.Event


class EnginePlay:
    """One rehearsal. `play` gives what differs from what it expects."""

    def __init__(self, file: RehearsalFile, rehearsal: Rehearsal, database: Path, bound: BoundFlows) -> None:
        self._file = file
        self._rehearsal = rehearsal
        self.clock = VirtualClock(rehearsal.starts_at)
        self.engine = Engine(str(database), clock=self.clock)
        self.clock.tell(self.engine)
        stand_ins = {name: stand_in(name, child) for name, child in rehearsal.children.items()}
        self.engine.definitions.look_in(stand_ins.get)
        places = [Path(file.flow_path).parent]
        self.worker = Worker(self.engine, flows=places, concurrency=_THREADS)
        self._stub = ScriptedHandlers(self, Calls(file.flow, rehearsal.replies, bound))
        self.worker.handlers = self.worker._dispatcher._handlers = self._stub
        self.client = Client(self.engine)
        self.sleepers: list[Sleeper] = []
        self.lock = threading.Lock()
        self.problems: list[str] = []
        self.record: SimulatedRun | None = None
        """The run as it was stored, once it was played."""
        self._waiting = list(rehearsal.acts)
        self._planned: list[tuple[datetime, ClientAct]] = []
        self._asked: list[tuple[ClientAct, Receipt]] = []
        self._seen: dict[int, int] = {}
        self._conclude = self.engine.committer._conclude
        self.engine.committer._conclude = self._react  # type: ignore[method-assign]
        self._looker = sqlite3.connect(database, isolation_level=None, check_same_thread=False)

    # --- Playing ---

    def play(self) -> list[str]:
        rehearsal, flow = self._rehearsal, self._file.flow
        for act in rehearsal.acts:
            if act.trigger.after is None:
                self._planned.append((rehearsal.starts_at + act.trigger.span, act))
        start = Start(
            flow,
            rehearsal.flow_id,
            str(uuid.uuid5(_RUN_IDS, f"{rehearsal.flow_id}/0")),
            rehearsal.input,
            has_input=rehearsal.has_input,
            delay=rehearsal.delay,
            timeout=rehearsal.timeout,
            attributes=rehearsal.attributes,
            children=find_children(flow, beside(flow).find),
        )
        with closing(self._looker), closing(self.engine):
            try:
                with self.worker:
                    self.engine.submit(start)
                    start.receipt.result()
                    self._run()
                    self.record = self._record()
                    self._end_sleepers()
            except OrchestratorError as error:
                return [f"the start was refused: {error.message}"]
        self.problems += [f"could not {act.text}" for act in self._waiting]
        return self.problems + self._compare(self.record)

    def _run(self) -> None:
        end = self._rehearsal.starts_at + self._rehearsal.until
        while True:
            self._settle()
            if self._do_acts(self.clock.now()):
                continue
            following = self._next_moment()
            if self._is_over() or following is None or following > end:
                return
            self.clock.turn_to(following)
            self._wake_sleepers()

    def _is_over(self) -> bool:
        run = self.client.describe(self._rehearsal.flow_id)
        is_planned = any(act in self._waiting for _, act in self._planned)
        return (
            run["status"] != Status.RUNNING and not is_planned and not any(a.flow_id for a in self._waiting)
        )

    def _next_moment(self) -> datetime | None:
        moments = [at for at, act in self._planned if act in self._waiting]
        moments += [min(each.wakes_at, each.limit_at) for each in self._active_sleepers()]
        (due_at,) = self._looker.execute("SELECT min(due_at) FROM steps WHERE worker IS NULL").fetchone()
        if due_at is not None:
            moments.append(from_micros(due_at))
        return min(moments, default=None)

    # --- Work ---

    def _settle(self) -> None:
        """Until nothing moves without a client or time."""
        ends_at = time.monotonic() + PATIENCE
        while not self._is_settled():
            assert time.monotonic() < ends_at, "the engine does not come to rest"
            time.sleep(0.001)
        for act, receipt in self._asked:
            self._check_answer(act, receipt.result)
        self._asked = []

    def _is_settled(self) -> bool:
        dispatcher, committer = self.worker._dispatcher, self.engine.committer
        for _ in range(2):
            if not committer.is_settled() or dispatcher.held_count != len(self._active_sleepers()):
                return False
            now = to_micros(self.clock.now())
            due = "SELECT count(*) FROM steps WHERE worker IS NULL AND due_at <= ?"
            if self._looker.execute(due, (now,)).fetchone() != (0,):
                return False
        return True

    def _active_sleepers(self) -> list[Sleeper]:
        with self.lock:
            return [each for each in self.sleepers if not each.services.is_cancelled()]

    def _wake_sleepers(self) -> None:
        with self.lock:
            woken = [each for each in self.sleepers if each.wakes_at <= self.clock.now()]
            self.sleepers = [each for each in self.sleepers if each not in woken]
        for each in woken:
            each.wake.set()

    def _end_sleepers(self) -> None:
        """The play is over: what still runs may end."""
        with self.lock:
            for each in self.sleepers:
                each.wake.set()

    def sleep(self, sleeper: Sleeper) -> None:
        with self.lock:
            self.sleepers.append(sleeper)
        sleeper.wake.wait(PATIENCE)

    # --- Clients ---

    def _do_acts(self, now: datetime) -> bool:
        due = [act for at, act in self._planned if at <= now and act in self._waiting]
        for act in due:
            self._waiting.remove(act)
            self._act(act)
        return bool(due)

    def _act(self, act: ClientAct) -> None:
        flow_id = act.flow_id or self._rehearsal.flow_id
        event = act.event(self.clock.now())
        if isinstance(event, RpcCalled):
            request_id = event.request_id
            self._check_answer(
                act, lambda: self.client.rpc(flow_id, event.name, event.input, request_id=request_id)
            )
            return
        request = Request(flow_id, act.event)
        self.engine.submit(request)
        self._check_answer(act, lambda: (request.receipt.result(), None)[1])

    def _check_answer(self, act: ClientAct, ask: Any) -> None:
        answer = act.answer
        expected = answer.error if answer is not None else None
        try:
            output = ask()
        except OrchestratorError as error:
            if error.type != expected or (answer and answer.message and answer.message not in error.message):
                self.problems.append(f"{act.text}: refused: {error.type}: {error.message}")
            return
        if expected is not None:
            self.problems.append(f"{act.text}: expected {expected}, it was not refused")
        elif answer is not None and answer.has_output:
            found = compare(act.text, answer.output, output, ())
            self.problems += [found.message] if found is not None else []

    def _react(self, batch: Batch) -> None:
        """Clients that act right after a commit, before any handler that it lets begin.

        With the commit lock held, so nothing may wait here.
        """
        for entry in batch.entries.values():
            seen = self._seen.get(entry.number, 0)
            for row in batch.history_of(entry.number):
                if row.version > seen:
                    self._seen[entry.number] = row.version
                    self._trigger(entry.run.flow_id, decode(row.body))
        self._conclude(batch)

    def _trigger(self, flow_id: str, changes: Iterable[c.Change]) -> None:
        for change in changes:
            is_wait = isinstance(change, c.WaitAccepted)
            if not is_wait and not (isinstance(change, c.StepEnded) and change.how == "completed"):
                continue
            assert isinstance(change, c.WaitAccepted | c.StepEnded)
            for act in self._waiting[:]:
                trigger = act.trigger
                if trigger.after != change.execution_id or trigger.is_wait != is_wait:
                    continue
                if (act.flow_id or self._rehearsal.flow_id) == flow_id:
                    self._plan(act)

    def _plan(self, act: ClientAct) -> None:
        now = self.clock.now()
        if act.trigger.span or isinstance(act.event(now), RpcCalled):
            self._planned.append((now + act.trigger.span, act))
            return
        self._waiting.remove(act)
        request = Request(act.flow_id or self._rehearsal.flow_id, act.event)
        self._asked.append((act, request.receipt))
        self.engine.committer.submit(request)

    # --- Comparing ---

    def _compare(self, record: SimulatedRun) -> list[str]:
        found = []
        for expectation in self._rehearsal.expectations:
            if expectation.key == "path" and isinstance(expectation.value, list):
                expected, actual = Counter(expectation.value), Counter(record.completed())
                if expected != actual:
                    found.append(f"path: missing {expected - actual}, extra {actual - expected}")
            elif expectation.key != "path" or "contains" in expectation.value:
                found += [each.message for each in differences(record, (expectation,))]
        return found

    def _record(self) -> SimulatedRun:
        """The stored run, in the form that expectations are checked against."""
        with self.engine.store.reading() as reading:
            head = reading.find_latest(self._rehearsal.flow_id)
            assert head is not None
            run = reading.load(head).run
            rows = reading.history(head.run)
        event = TimerDue(at=self.clock.now(), execution_id="")
        commits = [Commit(from_micros(row.at), event, tuple(decode(row.body))) for row in rows]
        return SimulatedRun(self._file.flow, run, commits)


class ScriptedHandlers(Handlers):
    """Every call goes to the rehearsal's script; what it leaves to the real function goes there."""

    def __init__(self, play: EnginePlay, calls: Calls) -> None:
        super().__init__()
        self._play = play
        self._calls = calls

    def of(self, flow: Flow, execution: Execution) -> Any:
        is_wait_for = execution.phase is Phase.WAIT_FOR
        name = ON_TIMEOUT if execution.step == TIMEOUT_STEP else execution.step
        key = CallKey(CallKind.WAIT_FOR if is_wait_for else CallKind.EXECUTE, name)
        options = method_options(flow, execution)
        return ScriptedHandler(self, flow, key, options, options.timeout)

    def call(
        self, flow: Flow, key: CallKey, snapshot: Snapshot, services: Services, limit: timedelta
    ) -> Returned:
        end = self._calls.call(flow, key, snapshot, services)
        if end.takes:
            now = self._play.clock.now()
            self._play.sleep(Sleeper(now + end.takes, now + limit, services, threading.Event()))
        if isinstance(end.outcome, Returned):
            return end.outcome
        raise raised(end.outcome)


class ScriptedHandler:
    is_async = False
    is_elsewhere = False
    runs_in_process = False
    takes_context = True

    def __init__(
        self, handlers: ScriptedHandlers, flow: Flow, key: CallKey, options: Any, limit: timedelta
    ) -> None:
        self.method = SimpleNamespace(handler=options, flow=flow, name=key.name)
        self._handlers = handlers
        self._called = (flow, key, limit)

    def invoke(self, snapshot: Snapshot, services: Services) -> Returned:
        flow, key, limit = self._called
        return self._handlers.call(flow, key, snapshot, services, limit)


def stand_in(name: str, child: ScriptedChild) -> Flow:
    """A flow that ends as a rehearsal says that children of this type do."""
    after = f"{child.takes.total_seconds():f}s"
    end: dict[str, Any] = {"wait_for": {"until": {"timer": after}}} if child.takes else {}
    document: dict[str, Any] = {"flow": name, "input": "any", "start": "End", "steps": {"End": end}}
    if child.status == Status.COMPLETED and len(child.outputs) < 2:
        end["graceful_complete"] = child.outputs[0] if child.outputs else None
    elif child.status == Status.FAILED:
        end["force_fail"] = str((child.error or {}).get("message", "scripted"))
    else:
        assert child.status == Status.CANCELED, f"no stand-in ends {child.status} with {child.outputs}"
        document["timeout"] = {"after": after, "policy": "cancel"}
        end["wait_for"], end["dead_end"] = {"until": {"timer": "999d"}}, True
    return flow_of(json.dumps(document))


def raised(failure: Failure) -> Exception:
    """An exception that becomes this failure."""
    kind: Any = getattr(errors, failure.type, None) or getattr(builtins, failure.type, Exception)
    parents: list[Any] = [kind]
    if failure.retry_after is not None:
        parents.insert(0, RetryAfter)
    elif not failure.is_retryable:
        parents.insert(0, NonRetryable)
    made: Any = type(failure.type, tuple(dict.fromkeys(parents)), {"__str__": lambda _: failure.message})
    error: Exception = made.__new__(made)
    if failure.retry_after is not None:
        error.delay = failure.retry_after  # type: ignore[attr-defined]
    return error
