"""A short trial of every fault: bounded by the work that is done between two faults, not by time.

Longer ones: `python -m tests.benchmarks soak`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.crew import Host
from tests.faults.injecting import FAULTS
from tests.faults.server import Cluster, cluster
from tests.faults.trial import Plan, perform

COUNTS = {"kill": 5, "restart": 4, "clock": 4, "terminate": 4, "cut": 3}
"""How often; the others, which last longer, only a few times."""
FEW = 2
SEED = 7


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with closing(Host(tmp_path_factory.mktemp("host") / "stderr")) as host:
        yield host


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with cluster() as server:
        yield server


@pytest.mark.timeout(900)
@pytest.mark.parametrize("fault", FAULTS["sqlite"])
def test_on_sqlite_nothing_is_lost_and_nothing_done_twice(host: Host, tmp_path: Path, fault: str) -> None:
    report = perform(_plan("sqlite", fault), host, tmp_path)
    assert report["wrong"] == []
    assert report["injected"][fault] == _count(fault)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("fault", FAULTS["postgres"])
def test_on_postgres_nothing_is_lost_and_nothing_done_twice(
    host: Host, server: Cluster, tmp_path: Path, fault: str
) -> None:
    report = perform(_plan("postgres", fault), host, tmp_path, server)
    assert report["wrong"] == []
    assert report["injected"][fault] == _count(fault)


def _plan(db: str, fault: str) -> Plan:
    return Plan(db, SEED, (fault,), fault_count=_count(fault))


def _count(fault: str) -> int:
    return COUNTS.get(fault, FEW)
