"""Who waits for the lead has it before all who come later."""

from __future__ import annotations

import threading

import pytest

from orchestrator.engine.lead import Lead

SOON = 20.0
"""Seconds."""


class Waiter:
    """Waits for the lead in a thread of its own, and keeps it until it is told to leave."""

    def __init__(self, lead: Lead) -> None:
        self.has_it = threading.Event()
        self._may_leave = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(lead,), daemon=True)
        waiting_count = len(lead._line)
        self._thread.start()
        while len(lead._line) == waiting_count:
            assert self._thread.is_alive()

    def _run(self, lead: Lead) -> None:
        with lead:
            self.has_it.set()
            assert self._may_leave.wait(SOON)

    def leave(self) -> None:
        self._may_leave.set()
        self._thread.join(SOON)
        assert not self._thread.is_alive()


def test_one_has_the_lead_at_a_time() -> None:
    lead = Lead()
    assert [lead.take(), lead.take()] == [True, False]
    lead.leave()
    with lead:
        assert lead.is_taken
        assert not lead.take()
    assert lead.take()


def test_who_leaves_cannot_take_it_again_before_those_who_wait() -> None:
    lead = Lead()
    assert lead.take()
    first, second = Waiter(lead), Waiter(lead)
    lead.leave()
    assert not lead.take()
    assert first.has_it.wait(SOON)
    assert not second.has_it.is_set()
    first.leave()
    assert not lead.take()
    assert second.has_it.wait(SOON)
    second.leave()
    assert lead.take()


@pytest.mark.parametrize("is_handed_over", [False, True])
def test_an_interrupted_waiter_is_in_nobodys_way(
    is_handed_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead = Lead()
    assert lead.take()

    def interrupt(*_: object) -> None:
        if is_handed_over:
            lead.leave()
        raise KeyboardInterrupt

    class Turn:
        """Its owner is interrupted in its sleep."""

        calls = 0

        def acquire(self) -> None:
            self.calls += 1
            if self.calls == 2:
                interrupt()

        def release(self) -> None:
            pass

    with monkeypatch.context() as patched:
        patched.setattr("orchestrator.engine.lead.threading.Lock", Turn)
        with pytest.raises(KeyboardInterrupt), lead:
            pass
    if not is_handed_over:
        assert lead.is_taken
        lead.leave()
    assert lead.take()
    lead.leave()


def test_many_who_take_and_wait_are_all_served() -> None:
    lead, inside, most = Lead(), 0, 0

    def work(waits: bool) -> None:
        nonlocal inside, most
        for _ in range(300):
            if waits:
                lead.__enter__()
            else:
                while not lead.take():
                    pass
            inside += 1
            most = max(most, inside)
            inside -= 1
            lead.leave()

    threads = [threading.Thread(target=work, args=(n % 2 == 0,), daemon=True) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
        assert not thread.is_alive()
    assert most == 1
    assert not lead.is_taken
