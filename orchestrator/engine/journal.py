"""What happens to runs and workers, as records of the standard library's logging, `orchestrator.events`.

One record an event, written by the process that commits it. Its fields are attributes of the record (see
log_lines.py): `event` and what identifies run, step execution and attempt. No values of users are among them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from orchestrator.core import changes as c
from orchestrator.core.events import Failure
from orchestrator.core.state import TIMEOUT_ID
from orchestrator.engine.batch import Applied, Batch
from orchestrator.engine.cache import Entry
from orchestrator.engine.task import Task

log = logging.getLogger("orchestrator.events")
Fields = dict[str, Any]


class Journal:
    """Of one engine. Where nobody wants records of this level it costs one comparison a batch."""

    def __init__(self) -> None:
        self.shows_messages = True
        """Of failures, which may quote values."""

    def note_batch(self, batch: Batch) -> None:
        """After it is durable."""
        shows_runs = log.isEnabledFor(logging.INFO)
        if not shows_runs and not (batch.has_failures and log.isEnabledFor(logging.WARNING)):
            return
        table = _DESCRIBE if shows_runs else _DESCRIBE_FAILURES
        shows_steps = log.isEnabledFor(logging.DEBUG)
        tasks: _Tasks | None = None
        for applied in batch.applied:
            for change in applied.changes:
                describe = table.get(type(change))
                if describe is None:
                    continue
                if type(change) is c.StepEnded and change.end != c.FAILED and not shows_steps:
                    continue  # most of all changes
                if tasks is None:
                    tasks = {(task.run, task.execution_id): task for task in batch.ended}
                describe(self, applied, change, tasks)

    # --- What changes say ---

    def _opened(self, applied: Applied, change: c.RunOpened, _: object) -> None:
        _say(logging.INFO, "run_started", "run %(flow_id)s of %(flow)s started", _run_fields(applied.entry))

    def _closed(self, applied: Applied, change: c.RunClosed, _: object) -> None:
        run = applied.entry.run
        fields = _run_fields(applied.entry) | {"status": change.status, "run_attempt": run.attempt}
        if run.started_at is not None:
            fields["duration"] = (change.at - run.started_at).total_seconds()
        if change.error is not None:
            fields["error"] = change.error.type
        level = logging.WARNING if change.status == "FAILED" else logging.INFO
        _say(level, "run_closed", "run %(flow_id)s of %(flow)s is %(status)s", fields)

    def _failed_attempt(self, applied: Applied, change: c.AttemptFailed, tasks: _Tasks) -> None:
        fields = self._attempt_fields(applied, change.execution_id, change.failure, tasks)
        fields["retry_at"] = change.due_at.isoformat()
        text = "attempt %(attempt)s of %(step_execution_id)s of %(flow_id)s failed with %(error)s"
        _say(logging.WARNING, "attempt_failed", f"{text}; the next is due %(retry_at)s", fields)

    def _skipped_wait(self, applied: Applied, change: c.WaitSkipped, tasks: _Tasks) -> None:
        fields = self._attempt_fields(applied, change.execution_id, change.failure, tasks)
        text = "the wait of %(step_execution_id)s of %(flow_id)s failed with %(error)s; the step proceeds"
        _say(logging.WARNING, "wait_failed", text, fields)

    def _ended(self, applied: Applied, change: c.StepEnded, tasks: _Tasks) -> None:
        if change.execution_id == TIMEOUT_ID and change.how == "cancelled":
            return
        is_failed = change.how == "failed"
        level = logging.WARNING if is_failed else logging.DEBUG
        if log.isEnabledFor(level):
            fields = self._attempt_fields(applied, change.execution_id, change.failure, tasks)
            text = f"%(step_execution_id)s of %(flow_id)s {change.how}" + (" with %(error)s" * is_failed)
            _say(level, f"step_{change.how}", text, {"error": None, **fields} if is_failed else fields)

    def _restored(self, applied: Applied, change: c.RunRestored, _: object) -> None:
        fields = _run_fields(applied.entry) | {
            "run_attempt": applied.entry.run.attempt,
            "version": change.forked_at,
        }
        _say(logging.INFO, "run_travelled", "run %(flow_id)s goes on from commit %(version)s", fields)

    def _redefined(self, applied: Applied, change: c.DefinitionChanged, _: object) -> None:
        fields = _run_fields(applied.entry) | {"definition": change.new}
        _say(logging.INFO, "run_migrated", "run %(flow_id)s goes on under another definition", fields)

    def _attempt_fields(
        self, applied: Applied, execution_id: str, failure: Failure | None, tasks: _Tasks
    ) -> Fields:
        fields = _run_fields(applied.entry) | _execution_fields(execution_id)
        event: Any = applied.event
        if getattr(event, "execution_id", None) == execution_id:
            began_at = getattr(event, "started_at", None)
            if (task := tasks.get((applied.entry.number, execution_id))) is not None:
                began_at = began_at or task.handed_out_at
            if (attempt := getattr(event, "attempt", None)) is not None:
                fields["attempt"] = attempt
            if began_at is not None:
                fields["duration"] = max(0.0, (event.at - began_at).total_seconds())
        if failure is not None:
            fields["error"] = failure.type
            if self.shows_messages:
                fields["error_message"] = failure.message
        return fields


_Tasks = Mapping[tuple[int, str], Task]
_Describe = dict[type, Callable[[Journal, Applied, Any, _Tasks], None]]
_DESCRIBE_FAILURES: _Describe = {
    c.RunClosed: Journal._closed,
    c.AttemptFailed: Journal._failed_attempt,
    c.WaitSkipped: Journal._skipped_wait,
    c.StepEnded: Journal._ended,
}
_DESCRIBE: _Describe = _DESCRIBE_FAILURES | {
    c.RunOpened: Journal._opened,
    c.RunRestored: Journal._restored,
    c.DefinitionChanged: Journal._redefined,
}


# --- What workers say ---


def note_worker_started(worker: int, concurrency: int) -> None:
    fields = {"worker": worker, "concurrency": concurrency}
    _say(logging.INFO, "worker_started", "worker %(worker)s started", fields)


def note_worker_draining(worker: int, held_count: int) -> None:
    fields = {"worker": worker, "held": held_count}
    _say(logging.INFO, "worker_draining", "worker %(worker)s drains, %(held)s in hand", fields)


def note_worker_drained(worker: int, left_count: int, seconds: float) -> None:
    fields = {"worker": worker, "left": left_count, "duration": seconds}
    level = logging.WARNING if left_count else logging.INFO
    _say(level, "worker_drained", "worker %(worker)s stopped, %(left)s handlers left behind", fields)


def note_worker_lost(worker: int, successor: int) -> None:
    """Others have taken it for dead: it did not renew its lease in time."""
    fields = {"worker": worker, "successor": successor}
    text = "worker %(worker)s was given up by others and goes on as %(successor)s"
    _say(logging.WARNING, "worker_lost", text, fields)


def note_taken_over(worker: int, count: int) -> None:
    fields = {"worker": worker, "count": count}
    _say(logging.WARNING, "work_taken_over", "worker %(worker)s freed %(count)s of dead workers", fields)


def note_leases_lost(entry: Entry, execution_ids: Iterable[str]) -> None:
    """What runs here of them will change nothing."""
    for execution_id in execution_ids:
        task = entry.held[execution_id]
        fields = {**_run_fields(entry), **_execution_fields(execution_id)}
        fields |= {"attempt": task.attempt, "worker": task.worker}
        text = "attempt %(attempt)s of %(step_execution_id)s of %(flow_id)s is no longer leased here"
        _say(logging.WARNING, "lease_lost", text, fields)


def _say(level: int, event: str, text: str, fields: Fields) -> None:
    log.log(level, text, fields, extra={"event": event, **fields})


def _run_fields(entry: Entry) -> Fields:
    run = entry.run
    return {"flow": entry.flow.name, "flow_id": run.flow_id, "run_id": run.run_id}


def _execution_fields(execution_id: str) -> Fields:
    return {"step": execution_id.rpartition("-")[0], "step_execution_id": execution_id}
