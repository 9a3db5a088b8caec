import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.engine.leases import host_name, is_dead, process_started
from orchestrator.store.contract import WorkerRow
from orchestrator.store.times import to_micros

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = to_micros(NOW + timedelta(seconds=5))


def test_a_worker_whose_time_is_over_is_dead() -> None:
    row = WorkerRow(1, to_micros(NOW) - 1, "elsewhere", 1, "")
    assert is_dead(row, NOW)


def test_a_worker_elsewhere_lives_until_its_time_is_over() -> None:
    assert not is_dead(WorkerRow(1, LATER, "elsewhere", 2**22 + 1, ""), NOW)


def test_this_process_is_alive() -> None:
    row = WorkerRow(1, LATER, host_name(), os.getpid(), process_started(os.getpid()))
    assert not is_dead(row, NOW)


def test_a_process_of_this_machine_that_is_gone_is_dead_at_once() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert is_dead(WorkerRow(1, LATER, host_name(), process.pid, ""), NOW)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process began")
def test_another_process_under_the_same_number_does_not_count() -> None:
    assert is_dead(WorkerRow(1, LATER, host_name(), os.getpid(), "1"), NOW)
