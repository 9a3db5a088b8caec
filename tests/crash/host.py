"""Kills processes at every commit: `python -m tests.crash.host` reads one request a line, answers one a line.

Processes are forked from this one, which has imported everything: a trial takes as long as its flow does.
A trial has two workers on one store. The first one, which is also the client, is killed at one commit; then
another one takes its place and repeats what the client does. The second worker lives all the time (`beside`),
or comes with the replacement (`later`): then the first one makes every commit, and is killed at every one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.definition.catalogue import Catalogue
from orchestrator.engine import leases
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.faults import Faults, read_fault
from orchestrator.engine.worker import Worker
from orchestrator.store import attribute_tables, postgres, sqlite
from tests.crash.cases import CASES, ROOT, Case

__all__ = ["attribute_tables", "postgres", "sqlite"]
"""Imported here, so that the forked ones need not."""

_AT_ONCE = 4
_MOST_COMMITS = 200
_SECONDS = 100
_SURVIVED = 3
"""So many trials in a row whose process was not killed: it makes no more commits."""


class Place(NamedTuple):
    """Of one trial."""

    store: str
    base: Path

    def file(self, kind: str) -> Path:
        return self.base.with_suffix(f".{kind}")


def main() -> None:
    leases.RENEW_EVERY = timedelta(milliseconds=50)
    cases = {case.name: case for case in CASES}
    for line in sys.stdin:
        asked = json.loads(line)
        case, is_beside = cases[asked["case"]], asked["company"] == "beside"
        trials = kill_everywhere(case, Path(asked["directory"]), asked["fault"], asked["store"], is_beside)
        print(json.dumps(trials), flush=True)


def kill_everywhere(
    case: Case, directory: Path, fault: str, store: str, is_beside: bool
) -> list[dict[str, Any]]:
    """One trial for each commit that the first process makes. `fault`: as in `commit:%d:before`.

    `store`: where the database of a trial is, `{number}` in it.
    """
    trials: list[dict[str, Any]] = []
    while len(trials) < _MOST_COMMITS:
        running = {}
        for number in range(len(trials) + 1, len(trials) + 1 + _AT_ONCE):
            place = Place(store.format(number=number), directory / str(number))
            trial_of = partial(_trial, case, place, fault % number, is_beside=is_beside)
            running[number] = (_fork(trial_of), place)
        for number, (pid, place) in running.items():
            status = _status_of(pid)
            told = place.file("trial")
            trial = json.loads(told.read_text()) if told.exists() else {"trouble": f"ended with {status}"}
            trials.append({"number": number, **trial})
        if not any(trial.get("is_killed") for trial in trials[-_SURVIVED:]):
            return trials
    return trials


def _trial(case: Case, place: Place, fault: str, *, is_beside: bool) -> None:
    stand_by = partial(_stand_by, case, place)
    second = _fork(stand_by) if is_beside else None
    status = _status_of(_fork(partial(_work, case, place, fault)))
    is_killed = status == -signal.SIGKILL
    if is_killed:
        second = second or _fork(stand_by)
        status = _status_of(_fork(partial(_work, case, place, "")))
    second_status = 0
    if second is not None:
        os.kill(second, signal.SIGTERM)
        second_status = _status_of(second)
    is_well = status == second_status == 0
    trouble = "" if is_well else f"the first worker ended with {status}, the second one with {second_status}"
    told = {"is_killed": is_killed, "trouble": trouble}
    place.file("trial").write_text(json.dumps(told))


def _work(case: Case, place: Place, fault: str) -> None:
    engine = _engine(case, place, fault)
    client = Client(engine, flows=Catalogue(case.flows), search_path=[ROOT])
    client.start(case.flows[0], "run", case.input, request_id="start", return_existing=True)
    with Worker(engine, search_path=[ROOT], concurrency=2):
        case.drive(client)
        run = client.wait("run", _SECONDS)
    place.file("run").write_text(json.dumps(run))
    engine.close()


def _engine(case: Case, place: Place, fault: str = "") -> Engine:
    is_synced = any(attribute.sync for attribute in case.flows[0].attributes.values())
    target = f"sqlite:///{place.file('attributes')}" if is_synced else None
    return Engine(place.store, faults=Faults(read_fault(fault)), attribute_store=target)


def _stand_by(case: Case, place: Place) -> None:
    worker = Worker(_engine(case, place), search_path=[ROOT], concurrency=1)
    signal.signal(signal.SIGTERM, lambda *_: worker.ask_to_stop())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    worker.run()
    worker.engine.close()


def _fork(action: Callable[[], None]) -> int:
    """A child that does it and ends; SIGALRM ends one that hangs. SIGTERM waits until it listens."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        return pid
    try:
        signal.alarm(_SECONDS)
        action()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _status_of(pid: int) -> int:
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main()
