import os
import threading
from pathlib import Path

from orchestrator.store.doorbell import Doorbell
from orchestrator.store.sqlite import SqliteStore
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


def test_two_stores_on_one_file_take_turns(tmp_path: Path) -> None:
    """Each of two writers gets about its share although both try without pause."""
    path = str(tmp_path / "a.db")
    SqliteStore(path).close()
    turns: list[int] = []
    start = threading.Barrier(2)

    def write(number: int) -> None:
        turnstile = Turnstile(path)
        start.wait()
        for _ in range(200):
            with turnstile:
                turns.append(number)
        turnstile.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert turns.count(1) == turns.count(2) == 200
