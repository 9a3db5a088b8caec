"""One trial: workers and clients at work, faults, then rest, and a look at what is left."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from tests.faults.checking import CHECKED, Findings, check
from tests.faults.crew import PATIENCE, Crew, Host
from tests.faults.database import Database
from tests.faults.flows import CATALOGUE, EFFECTS
from tests.faults.injecting import Injector
from tests.faults.proxy import Proxy
from tests.faults.server import Cluster, proxied_url

_LOOK_EVERY = 0.1
_DISK = "64m"
_LATE_AFTER = 3.0
"""Seconds without progress."""
_HOURS = 3
"""Later than any clock has been."""


@dataclass(frozen=True)
class Plan:
    db: str
    """sqlite or postgres"""
    seed: int
    faults: tuple[str, ...]
    fault_count: int = 0
    """So many faults, or, if 0, as many as there is time for."""
    minutes: float = 0.0
    workers: int = 3
    clients: int = 2
    pause: float = 0.0
    """Seconds between two faults, at most."""
    mounts: bool = False
    """Fill a file system of its own instead of limiting the processes."""


def perform(
    plan: Plan,
    host: Host,
    directory: Path,
    cluster: Cluster | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """The report. `cluster`: the server, for PostgreSQL."""
    began_at = time.monotonic()
    with ExitStack() as stack:
        chance = random.Random(plan.seed)
        proxy: Proxy | None = None
        disk: Path | None = None
        if cluster is not None:
            proxy = stack.enter_context(closing(Proxy(cluster.socket)))
            schema = f"faults_{plan.seed}_{time.time_ns()}"
            store, direct = proxied_url(proxy.port, schema), cluster.url(schema)
        else:
            place = directory
            if plan.mounts:
                place = stack.enter_context(_file_system(directory / "disk"))
                disk = place / "filler"
            store = direct = f"sqlite:///{place / 'runs.db'}"
        engine = Engine(direct)
        stack.callback(engine.close)
        database = Database(direct)
        database.ask(EFFECTS)
        crew = Crew(host, directory, store, plan.seed)
        stack.callback(crew.abandon)
        injector = Injector(crew, database, plan.faults, chance, cluster, proxy, disk)
        _work(plan, crew, injector, tell)
        client = Client(engine, flows=CATALOGUE)
        wrong = _settle(crew, injector, client)
        findings = check(client, database, directory)
    findings.wrong[:0] = [*injector.stalls, *crew.unexpected, *wrong]
    return _report(plan, crew, injector, findings, time.monotonic() - began_at)


def _work(plan: Plan, crew: Crew, injector: Injector, tell: Callable[[str], None]) -> None:
    for _ in range(plan.workers):
        crew.add_worker()
    for _ in range(plan.clients):
        crew.add_client()
    ends_at = time.monotonic() + plan.minutes * 60
    injector.await_progress()
    while not injector.stalls and (
        sum(injector.counts.values()) < plan.fault_count if plan.fault_count else time.monotonic() < ends_at
    ):
        kind = injector.inject()
        injector.await_progress()
        tell(f"{kind}: {injector.database.commit_count()} commits, {injector.database.open_count()} open")
        time.sleep(injector.random.uniform(0.0, plan.pause))


def _settle(crew: Crew, injector: Injector, client: Client) -> list[str]:
    """Everything is put right and everybody finishes; what is wrong with that."""
    injector.heal()
    crew.dismiss_clients()
    wrong, database, late_count = [], injector.database, 0
    seen, seen_at = -1, time.monotonic()
    while database.open_count():
        count = database.commit_count()
        if count != seen:
            seen, seen_at = count, time.monotonic()
        elif time.monotonic() - seen_at > PATIENCE:
            wrong.append(f"{database.open_count()} runs stand still")
            break
        elif injector.counts["clock"] and not late_count and time.monotonic() - seen_at > _LATE_AFTER:
            late_count = injector.late_count = _let_time_pass(crew, client)
        time.sleep(_LOOK_EVERY)
        crew.note_ended()
    crew.dismiss_workers()
    return wrong


def _let_time_pass(crew: Crew, client: Client) -> int:
    """Go on with clocks that are ahead of all that was wrong, if `explain` says that it is time alone that is
    waited for; how many runs do.
    """
    flow_ids = [str(run["flow_id"]) for run in client.search("status == 'RUNNING'")]
    waiting_count: int = sum(client.explain(each)["verdict"] == "waiting_for_timer" for each in flow_ids)
    if waiting_count:
        count = len(crew.workers)
        crew.dismiss_workers()
        for _ in range(count):
            crew.add_worker(hours_ahead=_HOURS)
    return waiting_count


def _report(plan: Plan, crew: Crew, injector: Injector, findings: Findings, seconds: float) -> dict[str, Any]:
    return {
        **asdict(plan),
        "seconds": round(seconds, 1),
        "injected": dict(sorted(injector.counts.items())),
        "processes killed": len(crew.killed),
        "runs late by a wrong clock": injector.late_count,
        "work": dict(findings.counts),
        "checked": list(CHECKED),
        "wrong": findings.told(),
        "verdict": "lost or wrong" if findings.wrong else "nothing lost, nothing twice",
    }


@contextmanager
def _file_system(place: Path) -> Iterator[Path]:
    """A small one in memory; needs root."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
