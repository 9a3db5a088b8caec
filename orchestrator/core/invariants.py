"""What holds for every run between two commits; tests and the verifier check it after each."""

from __future__ import annotations

from orchestrator.core.evolve import rebuild_indexes
from orchestrator.core.groups import groups_of
from orchestrator.core.state import TIMEOUT_ID, Phase, Run, Status


def check(run: Run) -> None:
    """Raises AssertionError naming what does not hold."""
    _check_executions(run)
    _check_queues(run)
    _check_closing(run)
    _check_indexes(run)


def _check_executions(run: Run) -> None:
    for key, execution in run.executions.items():
        assert key == execution.id, f"{execution.id} is stored as {key}"
        assert 1 <= execution.number <= run.counters[execution.step], f"{key} was never counted"
        if execution.phase is Phase.WAITING:
            if key == TIMEOUT_ID:
                continue
            assert execution.wait is not None, f"{key} waits for nothing"
            assert execution.wait.results is None, f"{key} waits, but its wait is over"
        elif not execution.wanted_locks:
            assert execution.due_at is not None, f"{key} is never due"
        for lock in execution.locks:
            assert run.locks.get(lock) == key, f"{key} holds {lock}, but the run says {run.locks.get(lock)}"


def _check_queues(run: Run) -> None:
    seen: set[int] = set()
    for (channel, _), queue in run.queues.items():
        assert queue, f"an empty queue of {channel} is kept"
        seqs = [message.seq for message in queue]
        assert seqs == sorted(seqs), f"messages of {channel} are out of order"
        assert not seen & set(seqs), f"a message of {channel} is queued twice"
        seen.update(seqs)
    assert all(seq < run.next_seq for seq in seen), "a message has a number not yet given"


def _check_closing(run: Run) -> None:
    if run.status is Status.RUNNING:
        assert run.closed_at is None, "a running run is closed"
        assert not (run.is_completing and not set(run.executions) - {TIMEOUT_ID}), (
            "nothing is active, yet the run is open"
        )
        return
    assert run.closed_at is not None, "a closed run has no time of closing"
    assert not run.executions, "a closed run has active executions"
    if run.status is not Status.COMPLETED:
        assert not run.outputs, "only a completed run keeps outputs"


def _check_indexes(run: Run) -> None:
    kept, groups = run.waiters, run.groups
    rebuild_indexes(run)
    made = groups_of(run)
    run.groups = groups
    if groups is not None:
        assert groups.by_step == made.by_step, "by_step is wrong"
        assert groups.by_origin == made.by_origin, "by_origin is wrong"
        assert groups.by_round == made.by_round, "by_round is wrong"
    assert {key: list(ids) for key, ids in kept.items()} == {
        key: list(ids) for key, ids in run.waiters.items()
    }, "waiters are wrong"
    run.waiters = kept
