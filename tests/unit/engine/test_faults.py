import signal

import pytest

from orchestrator.engine.faults import Fault, Faults, read_fault
from orchestrator.errors import UsageError


def test_a_fault_is_read_from_its_text() -> None:
    assert read_fault("commit:3:before") == Fault("commit", 3, "before")
    assert read_fault("") is None
    assert read_fault(None) is None


@pytest.mark.parametrize("text", ["commit", "commit:x:before", "commit:3", "commit:3:during", ":3:after"])
def test_a_mistyped_fault_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="POINT:NUMBER:before"):
        read_fault(text)


def test_the_process_dies_at_its_point_only(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr("os.kill", lambda pid, number: killed.append(number))
    points = Faults(Fault("commit", 2, "after"))
    for point in ("commit", "lease", "commit"):
        points.before(point)
        assert killed == []
        points.after(point)
    assert killed == [signal.SIGKILL]
