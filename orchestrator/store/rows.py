"""From changes to row writes: what one transaction has to write, each row at most once.

Rows born and dead in the same transaction never reach the database. What a row says comes from the run as
it stands at the end; which rows are concerned comes from the changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from orchestrator.core import changes as c
from orchestrator.core.codec import encode, encode_event, encode_execution, short_kind
from orchestrator.core.events import Event
from orchestrator.core.migration.event import RunMigrated
from orchestrator.core.state import Execution, Run, Status
from orchestrator.core.travel import REAPPLIED, TimeTravelled
from orchestrator.definition.model import Flow, Json
from orchestrator.store.bodies import Indexed
from orchestrator.store.run_state import state_of
from orchestrator.store.times import to_micros
from orchestrator.store.writes import Writes

encode_json: Callable[[Any], bytes] = msgspec.json.Encoder().encode
Place = Callable[[int, Execution], tuple[int | None, int, int | None]]
"""(run, execution that is to be written) -> worker, queue, rank.

`worker`: that it is leased to at once, or None. `rank`: of what is ready and left to be claimed, how much
other work of its run waits to be claimed before it; else None.
"""


@dataclass(slots=True)
class _StoredMessage:
    is_stored: bool
    is_unread: bool
    channel: str = ""
    key: str | None = None
    value: Json = None


class RunRows:
    """What the commits of one transaction do to the rows of one run."""

    __slots__ = (
        "_are_holdings_rewritten",
        "_attributes",
        "_cleared",
        "_executions",
        "_is_redefined",
        "_is_restored",
        "_messages",
        "_moved",
        "_new_outputs_count",
        "_new_reports",
        "_rounds",
        "_run",
        "_version",
        "flow",
        "has_closed",
        "is_latest",
        "is_new",
        "number",
    )

    def __init__(self, number: int, run: Run, flow: Flow) -> None:
        self.number = number
        self.flow = flow
        self.is_new = run.version == 0
        self.is_latest = True
        self.has_closed = False
        self._is_restored = False
        self._is_redefined = False
        self._are_holdings_rewritten = False
        self._moved: dict[str, None] = {}
        """Executions whose rows are taken away, to be written anew."""
        self._run = run
        self._version = run.version
        self._executions: dict[str, bool] = {}
        """Touched ones: is there a row?"""
        self._messages: dict[int, _StoredMessage] = {}
        self._attributes: dict[tuple[str, str | None], None] = {}
        self._cleared: dict[str, None] = {}
        self._new_outputs_count = 0
        self._rounds: dict[str, bool] = {}
        """Touched ones: is there a row?"""
        self._new_reports: dict[str, int] = {}

    def note(self, changes: list[c.Change]) -> None:
        """One commit's changes; `evolve` has applied them."""
        for change in changes:
            _NOTE[type(change)](self, change)

    # --- Noting which rows are concerned ---

    def _born(self, change: c.StepQueued) -> None:
        self._executions[change.execution.id] = False

    def _touched(
        self,
        change: c.WaitAccepted
        | c.TimersFired
        | c.WaitSkipped
        | c.AttemptFailed
        | c.StepEnded
        | c.ChildReported
        | c.HeartbeatKept
        | c.LocksTaken
        | c.LocksAwaited
        | c.RetryDue
        | c.TimeoutHandlerBegun,
    ) -> None:
        self._executions.setdefault(change.execution_id, True)

    def _satisfied(self, change: c.WaitSatisfied) -> None:
        self._executions.setdefault(change.execution_id, True)
        for _, seqs in change.taken:
            self._read(seqs)

    def _read(self, seqs: tuple[int, ...]) -> None:
        for seq in seqs:
            message = self._messages.get(seq)
            if message is None:
                self._messages[seq] = _StoredMessage(True, False)
            else:
                message.is_unread = False

    def _queued(self, change: c.MessageQueued) -> None:
        message = change.message
        self._messages[message.seq] = _StoredMessage(False, True, change.channel, change.key, message.value)

    def _returned(self, change: c.MessagesReturned) -> None:
        for message in change.messages:
            stored = self._messages.setdefault(message.seq, _StoredMessage(False, True))
            stored.is_unread = True
            stored.channel, stored.key, stored.value = change.channel, change.key, message.value

    def _dropped(self, change: c.MessagesDropped) -> None:
        self._read(change.seqs)

    def _attribute(self, change: c.AttributeSet | c.AttributeDeleted) -> None:
        if isinstance(change, c.AttributeDeleted) and change.key is None:
            self._cleared[change.name] = None
        else:
            self._attributes.pop((change.name, change.key), None)
            self._attributes[change.name, change.key] = None

    def _output(self, _: c.OutputAdded) -> None:
        self._new_outputs_count += 1

    def _round_opened(self, change: c.RoundOpened) -> None:
        self._rounds[change.round] = False

    def _reported(self, change: c.Reported) -> None:
        self._new_reports[change.round] = self._new_reports.get(change.round, 0) + 1

    def _round_changed(self, change: c.RoundCounted | c.RoundForgotten) -> None:
        self._rounds.setdefault(change.round, True)

    def _closed(self, _: c.RunClosed) -> None:
        self.has_closed = True

    def _restored(self, _: c.RunRestored) -> None:
        self._is_restored = True
        self.has_closed = False

    def _redefined(self, change: c.DefinitionChanged) -> None:
        """Rows of executions that stay what they are keep their leases; `flow` is set by who records it."""
        self._is_redefined = True
        if change.image is None or self._is_restored:
            return
        for old_id in change.moved:
            if self._executions.pop(old_id, True):
                self._moved[old_id] = None
        self._executions |= dict.fromkeys(change.moved.values(), False)
        self._are_holdings_rewritten = True

    def _nothing(self, _: c.Change) -> None:
        """Only the run's own row or history says it."""

    # --- Writing ---

    def write(self, writes: Writes, place: Place) -> None:
        self._write_run(writes)
        if self._is_restored:
            self._rewrite(writes)
        elif self._are_holdings_rewritten and not self.is_new:
            self._rewrite_holdings(writes)
        self._write_steps(writes, place)
        if self._messages:
            self._write_messages(writes)
        if self._attributes or self._cleared:
            self._write_attributes(writes)
        if self._new_outputs_count or self.has_closed:
            self._write_outputs(writes)
        if self._rounds or self._new_reports or self.has_closed:
            self._write_rounds(writes)

    def project(self, writes: Writes, synced: frozenset[str]) -> None:
        """Synced attributes that were written; all of a new run, and after a time travel or a migration."""
        changed = synced
        if not self.is_new and not self._is_restored and not self._is_redefined:
            changed &= {name for name, _ in self._attributes} | self._cleared.keys()
        if changed:
            run = self._run
            body = {n: run.attributes.get(n, run.attribute_maps.get(n)) for n in sorted(changed)}
            writes["insert_projection"].append((self.number, run.flow_id, self.flow.hash, encode_json(body)))

    def _rewrite(self, writes: Writes) -> None:
        """After a time travel every row is written anew."""
        writes["delete_steps"].append((self.number,))
        writes["delete_outputs"].append((self.number,))
        self._executions = dict.fromkeys(self._run.executions, False)
        self._new_outputs_count = len(self._run.outputs)
        self._rewrite_holdings(writes)

    def _rewrite_holdings(self, writes: Writes) -> None:
        """Messages, attributes and rounds: their names may have changed."""
        run, number = self._run, (self.number,)
        for cleared in (
            writes["clear_messages"],
            writes["clear_attributes"],
            writes["delete_rounds"],
            writes["delete_all_reports"],
        ):
            cleared.append(number)
        self._messages = {
            message.seq: _StoredMessage(False, True, channel, key, message.value)
            for (channel, key), queue in run.queues.items()
            for message in queue
        }
        maps = run.attribute_maps.items()
        entries = [(name, key) for name, entries in maps for key in entries]
        self._attributes = dict.fromkeys([*((name, None) for name in run.attributes), *entries])
        self._rounds = dict.fromkeys(run.rounds, False)
        self._new_reports = {name: len(round.reports) for name, round in run.rounds.items()}

    def _write_run(self, writes: Writes) -> None:
        run = self._run
        state = encode_json(state_of(run))
        closed_at = to_micros(run.closed_at) if run.closed_at else None
        error = encode_json(run.error) if run.error else None
        if self.is_new:
            assert run.started_at is not None
            identity = (self.number, run.flow_id, int(self.is_latest), run.run_id)
            row = (*identity, self.flow.name, self.flow.hash, run.request_id, run.status._value_)
            times = (to_micros(run.started_at), closed_at)
            payload = (encode_json(run.input), state, error)
            writes["insert_run"].append((*row, run.version, run.attempt, *times, *payload))
        elif self.has_closed or self._is_restored:
            closing = (run.status._value_, run.version, run.attempt, closed_at, state, error)
            writes["close_run"].append((*closing, self.number, self._version))
        else:
            writes["update_run"].append((run.version, state, self.number, self._version))
        if self._is_redefined and not self.is_new:
            writes["set_definition"].append((self.flow.hash, self.number))

    def _write_steps(self, writes: Writes, place: Place) -> None:
        number, executions = self.number, self._run.executions
        if self._moved and not self._is_restored and not self.has_closed:
            writes["delete_step"].extend((number, old_id) for old_id in self._moved)
        if self.has_closed:
            if not self.is_new:
                writes["delete_steps"].append((number,))
            return
        in_turn = False  # from the first that is queued on, so that the rows of a run stay in their order
        for execution_id, is_stored in self._executions.items():
            execution = executions.get(execution_id)
            if execution is None:
                if is_stored:
                    writes["delete_step"].append((number, execution_id))
                continue
            due_at = to_micros(execution.due_at) if execution.due_at else None
            worker, queue, rank = place(number, execution)
            lease = (execution.attempt, due_at, worker)
            body = encode_execution(execution)
            is_queued = rank is not None or queue != 0
            if is_stored:
                head: tuple[Any, ...] = (execution.phase._value_, *lease, body)
                if is_queued:
                    writes["update_queued_step"].append((*head, queue, rank, number, execution_id))
                else:
                    writes["update_step"].append((*head, number, execution_id))
            else:
                head = (number, execution_id, execution.step, execution.phase._value_, *lease, body)
                in_turn = in_turn or is_queued
                if in_turn:
                    writes["insert_queued_step"].append((*head, queue, rank))
                else:
                    writes["insert_step"].append(head)

    def _write_messages(self, writes: Writes) -> None:
        for seq, message in self._messages.items():
            if message.is_stored and not message.is_unread:
                writes["delete_message"].append((self.number, seq))
            elif message.is_unread and not message.is_stored:
                row = (self.number, seq, message.channel, message.key, encode_json(message.value))
                writes["insert_message"].append(row)

    def _write_attributes(self, writes: Writes) -> None:
        run = self._run
        writes["clear_attribute"].extend((self.number, name) for name in self._cleared)
        for name, key in self._attributes:
            entries = run.attributes if key is None else run.attribute_maps.get(name, {})
            entry = name if key is None else key
            stored_key = "" if key is None else key
            if entry in entries:
                if key is not None and self._is_indexed(name):
                    writes["delete_attribute"].append((self.number, name, stored_key))  # it stands last again
                value = encode_json(entries[entry])
                kept = Indexed(value) if self._is_indexed(name) else value
                writes["set_attribute"].append((self.number, name, int(key is not None), stored_key, kept))
            elif name not in self._cleared:
                writes["delete_attribute"].append((self.number, name, stored_key))

    def _is_indexed(self, name: str) -> bool:
        attribute = self.flow.attributes.get(name)
        return attribute is not None and attribute.index is not None

    def _write_outputs(self, writes: Writes) -> None:
        outputs = self._run.outputs
        if self.has_closed and self._run.status is not Status.COMPLETED:
            if not self.is_new:
                writes["delete_outputs"].append((self.number,))
            return
        first = len(outputs) - self._new_outputs_count
        writes["insert_output"].extend(
            (self.number, position, encode_json(outputs[position])) for position in range(first, len(outputs))
        )

    def _write_rounds(self, writes: Writes) -> None:
        number = self.number
        if self.has_closed:
            if (self.flow.joins or self._is_redefined) and not self.is_new:
                writes["delete_rounds"].append((number,))
                writes["delete_all_reports"].append((number,))
            return
        for name, is_stored in self._rounds.items():
            round = self._run.rounds.get(name)
            if round is not None:
                counters = (round.counting, round.missed, round.members, int(round.is_cancelled))
                if is_stored:
                    writes["update_round"].append((*counters, number, name))
                else:
                    writes["insert_round"].append((number, name, round.join, round.branch_count, *counters))
            elif is_stored:
                writes["delete_round"].append((number, name))
                writes["delete_reports"].append((number, name))
        for name, count in self._new_reports.items():
            if name in self._run.rounds:
                reports = self._run.rounds[name].reports
                writes["insert_report"].extend(
                    (number, name, position, reports[position].branch, encode_json(reports[position].value))
                    for position in range(len(reports) - count, len(reports))
                )


_NOTE: dict[type, Callable[[RunRows, Any], None]] = {
    c.RunOpened: RunRows._nothing,
    c.StepQueued: RunRows._born,
    c.WaitAccepted: RunRows._touched,
    c.TimersFired: RunRows._touched,
    c.WaitSatisfied: RunRows._satisfied,
    c.WaitSkipped: RunRows._touched,
    c.AttemptFailed: RunRows._touched,
    c.ChildRequested: RunRows._nothing,
    c.ChildReported: RunRows._touched,
    c.ChildAbandoned: RunRows._nothing,
    c.WatcherAdded: RunRows._nothing,
    c.HeartbeatKept: RunRows._touched,
    c.LocksTaken: RunRows._touched,
    c.LocksAwaited: RunRows._touched,
    c.SkipRemembered: RunRows._nothing,
    c.RetryDue: RunRows._touched,
    c.TimeoutHandlerBegun: RunRows._touched,
    c.RpcAnswered: RunRows._nothing,
    c.RunRestored: RunRows._restored,
    c.DefinitionChanged: RunRows._redefined,
    c.StepEnded: RunRows._touched,
    c.MessageQueued: RunRows._queued,
    c.MessagesReturned: RunRows._returned,
    c.MessagesDropped: RunRows._dropped,
    c.AttributeSet: RunRows._attribute,
    c.AttributeDeleted: RunRows._attribute,
    c.ConfigSet: RunRows._nothing,
    c.RoundOpened: RunRows._round_opened,
    c.Reported: RunRows._reported,
    c.RoundCounted: RunRows._round_changed,
    c.RoundForgotten: RunRows._round_changed,
    c.CompletionRequested: RunRows._nothing,
    c.OutputAdded: RunRows._output,
    c.EventRecorded: RunRows._nothing,
    c.RunClosed: RunRows._closed,
}


def history_row(
    number: int,
    version: int,
    at: datetime,
    event: Event | TimeTravelled | RunMigrated,
    changes: list[c.Change],
) -> tuple[Any, ...]:
    kind, execution_id = short_kind(type(event).__name__), getattr(event, "execution_id", None)
    kept = encode_event(event) if type(event) in REAPPLIED else None
    return (number, version, to_micros(at), kind, execution_id, encode(changes), kept)
