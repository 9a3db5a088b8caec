import fcntl
import os
import threading
from pathlib import Path

from orchestrator.store.doorbell import Doorbell
from orchestrator.store.turnstile import Turnstile


def test_ringing_wakes_listeners_that_use_the_same_file(tmp_path: Path) -> None:
    rung = threading.Event()
    listener, ringer = Doorbell(str(tmp_path / "a.db")), Doorbell(str(tmp_path / "a.db"))
    end = listener.listen(rung.set)
    ringer.ring()
    assert rung.wait(5)
    end()
    listener.close()
    ringer.close()


def test_a_process_does_not_ring_itself(tmp_path: Path) -> None:
    first, second = threading.Event(), threading.Event()
    mine, other = Doorbell(str(tmp_path / "a.db")), Doorbell(str(tmp_path / "a.db"))
    ends = [mine.listen(first.set), other.listen(second.set)]
    mine.ring()
    assert second.wait(5)
    assert not first.is_set()
    for end in ends:
        end()
    mine.close()
    other.close()


def test_paths_longer_than_a_socket_address_work(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 90) / ("e" * 90)
    deep.mkdir(parents=True)
    rung = threading.Event()
    listener, ringer = Doorbell(str(deep / "a.db")), Doorbell(str(deep / "a.db"))
    end = listener.listen(rung.set)
    ringer.ring()
    assert rung.wait(5)
    end()
    listener.close()
    ringer.close()


def test_the_bell_of_a_dead_process_is_removed(tmp_path: Path) -> None:
    bell = Doorbell(str(tmp_path / "a.db"))
    os.makedirs(tmp_path / "a.db.bells")
    (tmp_path / "a.db.bells" / "4711-1").touch()
    bell.ring()
    assert os.listdir(tmp_path / "a.db.bells") == []
    bell.close()


def test_who_leaves_and_comes_back_queues_behind_who_was_waiting(tmp_path: Path) -> None:
    """Without the turnstile the first one, being awake, would be in again before the second wakes up."""
    path = str(tmp_path / "a.db")
    first, second = Turnstile(path), Turnstile(path)
    entered: list[str] = []

    def enter_second() -> None:
        with second:
            entered.append("second")

    with first:
        thread = threading.Thread(target=enter_second)
        thread.start()
        await_taken(f"{path}.gate")
    with first:
        entered.append("first again")
    thread.join()
    assert entered == ["second", "first again"]
    first.close()
    second.close()


def await_taken(path: str) -> None:
    """Until somebody holds the file's lock."""
    with open(path) as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(file, fcntl.LOCK_UN)
