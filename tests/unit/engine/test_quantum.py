import sys
from collections.abc import Iterator

import pytest

from orchestrator.engine.quantum import LONGEST, SHORTEST, Quantum

MANY = 300


@pytest.fixture(autouse=True)
def interval() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    yield
    sys.setswitchinterval(before)


def chosen() -> float:
    """The system keeps microseconds."""
    return round(sys.getswitchinterval(), 6)


def note(quantum: Quantum, seconds: float, count: int = MANY) -> None:
    for _ in range(count):
        quantum.note(seconds)


def test_whoever_computes_is_soon_interrupted_as_long_as_nothing_is_known() -> None:
    Quantum().begin()
    assert chosen() == SHORTEST


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        pytest.param(0.00006, SHORTEST, id="hardly-computes"),
        pytest.param(0.0003, 0.0012, id="a-few-of-them"),
        pytest.param(0.0005, LONGEST, id="as-long-as-an-interval"),
        pytest.param(0.0009, LONGEST, id="never-longer-than-that"),
        pytest.param(0.005, SHORTEST, id="computes-long"),
    ],
)
def test_handlers_that_are_done_soon_are_let_finish(seconds: float, expected: float) -> None:
    quantum = Quantum()
    quantum.begin()
    note(quantum, seconds)
    assert chosen() == pytest.approx(expected, rel=0.26)


def test_handlers_that_begin_to_compute_long_are_interrupted_again() -> None:
    quantum = Quantum()
    quantum.begin()
    note(quantum, 0.0005)
    note(quantum, 0.5, 1)
    assert chosen() == SHORTEST


def test_the_next_worker_of_a_process_lets_handlers_finish_as_the_first_one_did() -> None:
    Quantum().begin()
    quantum = Quantum()
    quantum.begin()
    note(quantum, 0.0005)
    assert chosen() == LONGEST


def test_a_shorter_interval_that_the_program_has_chosen_is_kept() -> None:
    sys.setswitchinterval(0.0001)
    quantum = Quantum()
    quantum.begin()
    note(quantum, 0.0005)
    assert chosen() == 0.0001
