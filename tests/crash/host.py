"""Kills processes at every commit: `python -m tests.crash.host` reads one request a line, answers one a line.

Processes are forked from this one, which has imported everything: a trial takes as long as its flow does.
A trial has two workers on one file. The first one, which is also the client, is killed at one commit; another
one takes its place, and repeats what the client does. The second worker lives all the time (`beside`), or
comes with the replacement (`later`): then the first one makes every commit, and is killed at every one.
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
from typing import Any

from orchestrator.definition.catalogue import Catalogue
from orchestrator.engine import leases
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.faults import Faults, read_fault
from orchestrator.engine.worker import Worker
from orchestrator.store import attribute_tables, sqlite
from tests.crash.cases import CASES, ROOT, Case

__all__ = ["attribute_tables", "sqlite"]
"""Imported here, so that the forked ones need not."""

_AT_ONCE = 4
_MOST_COMMITS = 200
_SECONDS = 100
_SURVIVED = 3
"""So many trials in a row whose process was not killed: it makes no more commits."""


def main() -> None:
    leases.RENEW_EVERY = timedelta(milliseconds=50)
    cases = {case.name: case for case in CASES}
    for line in sys.stdin:
        asked = json.loads(line)
        case, directory = cases[asked["case"]], Path(asked["directory"])
        trials = kill_everywhere(case, directory, asked["fault"], is_beside=asked["company"] == "beside")
        print(json.dumps(trials), flush=True)


def kill_everywhere(case: Case, directory: Path, fault: str, *, is_beside: bool) -> list[dict[str, Any]]:
    """One trial for each commit that the first process makes. `fault`: as in `commit:%d:before`."""
    trials: list[dict[str, Any]] = []
    while len(trials) < _MOST_COMMITS:
        running = {}
        for number in range(len(trials) + 1, len(trials) + 1 + _AT_ONCE):
            database = directory / f"{number}.db"
            trial_of = partial(_trial, case, database, fault % number, is_beside=is_beside)
            running[number] = (_fork(trial_of), database)
        for number, (pid, database) in running.items():
            status = _status_of(pid)
            told = database.with_suffix(".trial")
            trial = json.loads(told.read_text()) if told.exists() else {"trouble": f"ended with {status}"}
            trials.append({"number": number, **trial})
        if not any(trial.get("is_killed") for trial in trials[-_SURVIVED:]):
            return trials
    return trials


def _trial(case: Case, database: Path, fault: str, *, is_beside: bool) -> None:
    stand_by = partial(_stand_by, case, database)
    second = _fork(stand_by) if is_beside else None
    status = _status_of(_fork(partial(_work, case, database, fault)))
    is_killed = status == -signal.SIGKILL
    if is_killed:
        second = second or _fork(stand_by)
        status = _status_of(_fork(partial(_work, case, database, "")))
    second_status = 0
    if second is not None:
        os.kill(second, signal.SIGTERM)
        second_status = _status_of(second)
    is_well = status == second_status == 0
    trouble = "" if is_well else f"the first worker ended with {status}, the second one with {second_status}"
    told = {"is_killed": is_killed, "trouble": trouble}
    database.with_suffix(".trial").write_text(json.dumps(told))


def _work(case: Case, database: Path, fault: str) -> None:
    engine = _engine(case, database, fault)
    client = Client(engine, flows=Catalogue(case.flows), search_path=[ROOT])
    client.start(case.flows[0], "run", case.input, request_id="start", return_existing=True)
    with Worker(engine, search_path=[ROOT], concurrency=2):
        case.drive(client)
        run = client.wait("run", _SECONDS)
    database.with_suffix(".run").write_text(json.dumps(run))
    engine.close()


def _engine(case: Case, database: Path, fault: str = "") -> Engine:
    is_synced = any(attribute.sync for attribute in case.flows[0].attributes.values())
    target = f"sqlite:///{database.with_suffix('.attributes')}" if is_synced else None
    return Engine(str(database), faults=Faults(read_fault(fault)), attribute_store=target)


def _stand_by(case: Case, database: Path) -> None:
    worker = Worker(_engine(case, database), search_path=[ROOT], concurrency=1)
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
