"""Probes: /healthz and /readyz of a worker."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.engine import leases
from orchestrator.engine.health import Health
from orchestrator.engine.metrics_server import MetricsServer
from orchestrator.engine.worker import Worker
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, flow_of

GATED = flow_of(
    """
flow: Gated
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: gated, graceful_complete: null}
"""
)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    engine_handlers.reset()
    made = Kit(tmp_path)
    yield made
    made.close()
    engine_handlers.reset()


def checks(finding: Any) -> dict[str, Any]:
    found: dict[str, Any] = finding.said["checks"]
    assert finding.is_good is all(said == "ok" for said in found.values())
    return found


def test_a_working_worker_is_alive_and_ready(kit: Kit) -> None:
    with kit.working() as worker:
        assert Health(worker).alive().is_good
        assert checks(Health(worker).ready()) == {"lease": "ok", "claiming": "ok", "store": "ok"}


def test_a_worker_that_has_not_begun_is_alive_but_not_ready(kit: Kit) -> None:
    health = Health(Worker(kit.engine))
    assert health.alive().is_good
    assert checks(health.ready())["claiming"] == "not started"


def test_a_worker_that_drains_is_alive_but_not_ready(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    worker = Worker(kit.engine)
    worker.start()
    gate.await_arrival()
    stopping = threading.Thread(target=worker.stop, kwargs={"grace": PATIENCE})
    draining = threading.Event()
    kit.engine.on_batch = lambda _: draining.set()
    stopping.start()
    while not worker.is_draining:
        draining.wait(0.001)
    assert Health(worker).alive().is_good
    assert checks(Health(worker).ready())["claiming"] == "draining"
    gate.open()
    stopping.join(PATIENCE)
    assert not stopping.is_alive()


def test_a_worker_whose_lease_has_run_out_is_not_alive(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    with kit.working() as worker:
        monkeypatch.setattr(worker._membership, "_renew", lambda transaction, now: None)
        kit.clock.advance(seconds=leases.ALIVE_FOR.total_seconds())
        assert checks(Health(worker).alive()) == {"lease": "not renewed for 10 s"}
        assert not Health(worker).ready().is_good


def test_a_worker_without_its_store_is_not_ready(kit: Kit) -> None:
    worker = Worker(kit.engine)
    kit.engine.close()
    assert "was closed" in checks(Health(worker).ready())["store"]


def get(url: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_probes_are_answered_beside_the_metrics(kit: Kit) -> None:
    worker = Worker(kit.engine)
    with MetricsServer(0, worker.metrics_text, Health(worker)) as server:
        base = server.url.removesuffix("/metrics")
        assert get(f"{base}/healthz") == (200, {"status": "ok", "checks": {"lease": "ok"}})
        assert get(f"{base}/readyz")[0] == 503
        worker.start()
        assert get(f"{base}/readyz")[0] == 200
        worker.stop()
        assert get(f"{base}/readyz")[0] == 503
