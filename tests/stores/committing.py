"""Runs, as the engine would store them."""

from datetime import UTC, datetime
from itertools import count

from orchestrator.core import changes as c
from orchestrator.core.changes import Change
from orchestrator.core.events import RunStarted
from orchestrator.core.evolve import evolve
from orchestrator.core.state import Execution, Phase, Run
from orchestrator.definition.model import Flow
from orchestrator.store.contract import Store, Transaction
from orchestrator.store.rows import RunRows, history_row
from orchestrator.store.writes import Writes

NOW = datetime(2030, 1, 1, tzinfo=UTC)
FLOW = Flow(name="F", hash="sha256:1")


def execution(step: str, due_at: datetime = NOW) -> Execution:
    return Execution(step=step, number=1, origin="__start__", phase=Phase.EXECUTE, due_at=due_at)


def commit(
    transaction: Transaction,
    number: int,
    run: Run,
    *changes: Change,
    queue: int = 0,
    worker: int | None = None,
) -> None:
    """`worker`: leases what is due."""
    ranks = count()

    def place(_: int, execution: Execution) -> tuple[int | None, int, int | None]:
        is_ready = execution.due_at is not None and execution.due_at <= NOW
        return worker, queue, next(ranks) if is_ready and worker is None else None

    rows = RunRows(number, run, FLOW)
    evolve(run, list(changes))
    rows.note(list(changes))
    event = RunStarted(at=NOW, flow_id=run.flow_id, run_id=run.run_id)
    writes = Writes()
    writes["insert_history"].append(history_row(number, run.version, NOW, event, list(changes)))
    rows.write(writes, place)
    transaction.write(writes)


def begin(store: Store, flow_id: str, *executions: Execution, queue: int = 0) -> tuple[int, Run]:
    run = Run()
    with store.writing() as transaction:
        transaction.save_definition(FLOW.hash, FLOW.name, "f.flow.yaml", "flow: F", NOW)
        number = transaction.next_run_number()
        opened = c.RunOpened(flow_id, f"id of {flow_id}", NOW)
        commit(transaction, number, run, opened, *(c.StepQueued(each) for each in executions), queue=queue)
    return number, run
