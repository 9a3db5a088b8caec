"""Moving one run to another definition, inside of a commit."""

from __future__ import annotations

from orchestrator.core.migration.moving import is_live, migrate
from orchestrator.engine.batch import Batch
from orchestrator.engine.opening import store_definition
from orchestrator.engine.runs import Runs
from orchestrator.engine.submission import Migrate
from orchestrator.errors import NotActive, NotFound, Refused
from orchestrator.store.contract import Transaction


def move(transaction: Transaction, batch: Batch, runs: Runs, asked: Migrate) -> None:
    """Raises NotFound, NotActive, Unfit, or Refused when it has another definition by now.

    Handlers that are at work keep their leases: what they return is decided by the new definition, which
    `migrate` allows only where it declares the same of them.
    """
    entry = runs.by_number(transaction, asked.run)
    if entry is None:
        raise NotFound(f"there is no run {asked.flow_id}", flow_id=asked.flow_id)
    if not is_live(entry.run):
        raise NotActive(f"run {asked.flow_id} is closed: {entry.run.status}", flow_id=asked.flow_id)
    if entry.flow.hash != asked.case.old.hash:
        raise Refused(f"{asked.flow_id} has another definition by now: {entry.flow.hash}")
    leases = transaction.leases(entry.number, entry.run.executions)
    leased = {execution_id for execution_id, worker in leases.items() if worker is not None}
    changes = migrate(asked.case, entry.run, leased | set(entry.held))
    store_definition(transaction, batch, runs, asked.case.new)
    batch.redefine(entry, asked.case.new, changes)
    batch.receipts.append((asked.receipt, None))
