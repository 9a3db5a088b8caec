"""A run out of the rows that all tables have of it (`rows_of_run`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from operator import itemgetter
from typing import Any, TypeAlias

import msgspec

from orchestrator.core.codec import decode_execution
from orchestrator.core.state import Output, QueuedMessage, Run, RunError, Status
from orchestrator.store.contract import Head
from orchestrator.store.run_state import RunState
from orchestrator.store.times import from_micros

Row: TypeAlias = tuple[Any, ...]
TABLE_COUNT = 6
_RUN, _STEP, _MESSAGE, _ATTRIBUTE, ROUND, _OUTPUT = range(TABLE_COUNT)
"""Tables, in the order that statements.py reads them in."""
IN_TABLE, IN_ORDER = itemgetter(0), itemgetter(0, 1)
"""The table, and the place among its rows."""

_STATUSES = {str(status): status for status in Status}
_decode_json = msgspec.json.Decoder().decode
_decode_state = msgspec.json.Decoder(RunState).decode
_decode_error = msgspec.json.Decoder(RunError).decode
_decode_output = msgspec.json.Decoder(Output).decode


def build_run(head: Head, rows: Iterable[Row]) -> tuple[Run, dict[str, int]]:
    """The run without its rounds and indexes, and the worker of each leased execution. `rows`: in order."""
    remaining = iter(rows)
    *_, payload, state, error = next(remaining)
    run = _run_of(head, _decode_state(state))
    run.input = _decode_json(payload)
    run.error = _decode_error(error) if error is not None else None
    leases: dict[str, int] = {}
    for kind, place, name, key, number, body, _, _ in remaining:
        if kind == _STEP:
            run.executions[name] = decode_execution(body)
            if number is not None:
                leases[name] = number
        elif kind == _MESSAGE:
            message = QueuedMessage(place, _decode_json(body))
            run.queues.setdefault((name, key), deque()).append(message)
        elif kind == _ATTRIBUTE:
            entries = run.attribute_maps.setdefault(name, {}) if number else run.attributes
            entries[key if number else name] = _decode_json(body)
        elif kind == _OUTPUT:
            run.outputs.append(_decode_output(body))
    return run, leases


def _run_of(head: Head, state: RunState) -> Run:
    """As far as its own row tells."""
    return Run(
        flow_id=head.flow_id,
        run_id=head.run_id,
        status=_STATUSES[head.status],
        version=head.version,
        attempt=head.attempt,
        request_id=head.request_id,
        started_at=from_micros(head.started_at),
        closed_at=from_micros(head.closed_at) if head.closed_at is not None else None,
        is_completing=state.is_completing,
        next_seq=state.next_seq,
        next_order=state.next_order,
        counters=state.counters,
        dropped_count=state.dropped_count,
        answers=state.answers,
        watchers=state.watchers,
        config=state.config,
        skips=state.skips,
    )
