"""Storing a new run: for a client, or as the child of another run."""

from __future__ import annotations

from orchestrator.core.changes import Change
from orchestrator.core.events import RunStarted, StopRequested
from orchestrator.core.reuse import refusal
from orchestrator.core.state import Run, Status
from orchestrator.core.transition import decide
from orchestrator.definition.model import Flow
from orchestrator.engine.batch import Batch, log
from orchestrator.engine.cache import Entry
from orchestrator.engine.runs import Runs
from orchestrator.engine.submission import Start, Started
from orchestrator.errors import AlreadyStarted, OrchestratorError
from orchestrator.store.contract import Transaction


def open_run(
    transaction: Transaction, batch: Batch, runs: Runs, flow: Flow, event: RunStarted, latest: Entry | None
) -> Entry:
    """`latest`: the one that it follows under its flow id; terminated if it still runs.

    Raises what the core refuses the start with; then nothing has happened.
    """
    entry = Entry(transaction.next_run_number(), Run(), flow, transaction.epoch)
    batch.record(entry, event, _decide(entry, event))
    if latest is not None:
        if latest.run.status is Status.RUNNING:
            batch.apply(latest, StopRequested(at=event.at, stop="terminate"))
        batch.supersede(transaction, latest)
    runs.cache.add(entry)
    store_definition(transaction, batch, runs, flow)
    return entry


def _decide(entry: Entry, event: RunStarted) -> list[Change]:
    try:
        return decide(entry.flow, entry.run, event)
    except OrchestratorError:
        raise
    except Exception as error:
        log.exception("%s: the start cannot be decided", event.flow_id)
        raise OrchestratorError(f"{event.flow_id} cannot be started: {error}") from error


def store_definition(transaction: Transaction, batch: Batch, runs: Runs, flow: Flow) -> None:
    definitions = runs.definitions
    definitions.add(flow)
    if definitions.is_stored(flow, transaction.definitions_epoch):
        return
    assert flow.source is not None
    # Told to people; a name on a disk may be of any bytes.
    path = flow.source.path.encode(errors="backslashreplace").decode()
    transaction.save_definition(flow.hash, flow.name, path, flow.source.text, batch.now)
    batch.stored_definitions.append((flow.hash, transaction.definitions_epoch))


def existing(start: Start, latest: Entry) -> Started | AlreadyStarted:
    """What a start is answered with that makes no run (rules 29-33)."""
    run = latest.run
    is_repeated = start.request_id is not None and start.request_id == run.request_id
    if start.return_existing and is_repeated:
        return Started(start.flow_id, run.run_id, latest.number, is_new=False)
    return AlreadyStarted(
        refusal(start.flow_id, run.status, start.reuse_policy, is_repeated=is_repeated),
        flow_id=start.flow_id,
        run_id=run.run_id,
        status=str(run.status),
    )
