"""Which rows a transaction writes."""

from datetime import UTC, datetime

from msgspec.structs import fields

from orchestrator.core import changes as c
from orchestrator.core.changes import Change
from orchestrator.core.events import RunStarted
from orchestrator.core.evolve import evolve
from orchestrator.core.state import Execution, Phase, QueuedMessage, Run
from orchestrator.definition.model import Flow
from orchestrator.store.rows import _NOTE, RunRows, history_row
from orchestrator.store.run_state import RunState
from orchestrator.store.writes import Writes

NOW = datetime(2030, 1, 1, tzinfo=UTC)
FLOW = Flow(name="F")
OPENED = c.RunOpened("id", "run", NOW)


def execution(step: str) -> Execution:
    return Execution(step=step, number=1, origin="__start__", phase=Phase.EXECUTE, due_at=NOW)


def writes_of(run: Run, *commits: list[Change]) -> Writes:
    rows = RunRows(1, run, FLOW)
    for changes in commits:
        evolve(run, changes)
        rows.note(changes)
    writes = Writes()
    rows.write(writes, lambda number, execution: (7, 0, None))
    return writes


def written(writes: Writes) -> dict[str, int]:
    return {name: len(rows) for name, rows in writes.in_order()}


def test_every_kind_of_change_is_known() -> None:
    assert set(_NOTE) == set(Change.__args__)


def test_every_field_of_a_run_has_its_place() -> None:
    columns = {"flow_id", "run_id", "status", "version", "attempt", "input", "request_id", "error"}
    times = {"started_at", "closed_at"}
    tables = {"executions", "attributes", "attribute_maps", "queues", "outputs", "rounds"}
    indexes = {"groups", "waiters", "locks", "lock_waiters"}
    state = {field.name for field in fields(RunState)}
    assert {field.name for field in fields(Run)} == columns | times | tables | indexes | state


def test_a_start_inserts_the_run_and_its_first_step() -> None:
    writes = writes_of(Run(), [OPENED, c.StepQueued(execution("A"))])
    assert written(writes) == {"insert_run": 1, "insert_step": 1}


def test_a_step_done_is_four_rows_with_its_history() -> None:
    run = Run()
    writes_of(run, [OPENED, c.StepQueued(execution("A"))])
    changes: list[Change] = [c.StepEnded("A-1", c.COMPLETED), c.StepQueued(execution("B"))]
    writes = writes_of(run, changes)
    writes["insert_history"].append(
        history_row(1, 2, NOW, RunStarted(at=NOW, flow_id="", run_id=""), changes)
    )
    assert written(writes) == {"update_run": 1, "delete_step": 1, "insert_step": 1, "insert_history": 1}


def test_what_is_born_and_dead_in_one_transaction_is_never_written() -> None:
    run = Run()
    writes_of(run, [OPENED, c.StepQueued(execution("A"))])
    writes = writes_of(
        run,
        [c.StepQueued(execution("B")), c.MessageQueued("q", None, QueuedMessage(1, "x"))],
        [c.StepEnded("B-1", c.COMPLETED), c.MessagesDropped("q", None, (1,))],
    )
    assert written(writes) == {"update_run": 1}


def test_a_message_that_comes_back_within_the_transaction_stays_as_it_is() -> None:
    run = Run()
    message = QueuedMessage(1, "x")
    writes_of(run, [OPENED, c.MessageQueued("q", None, message)])
    writes = writes_of(run, [c.MessagesDropped("q", None, (1,))], [c.MessagesReturned("q", None, (message,))])
    assert written(writes) == {"update_run": 1}


def test_of_several_writes_to_an_attribute_the_last_is_written() -> None:
    run = Run()
    writes_of(run, [OPENED])
    writes = writes_of(
        run,
        [c.AttributeSet("a", None, 1), c.AttributeSet("m", "k", 1)],
        [c.AttributeSet("a", None, 2), c.AttributeDeleted("m", "k")],
    )
    assert writes["set_attribute"] == [(1, "a", 0, "", b"2")]
    assert writes["delete_attribute"] == [(1, "m", "k")]


def test_clearing_a_map_is_one_statement_however_many_entries() -> None:
    run = Run()
    writes_of(run, [OPENED, *(c.AttributeSet("m", str(number), number) for number in range(50))])
    writes = writes_of(run, [c.AttributeDeleted("m", None), c.AttributeSet("m", "new", 1)])
    assert written(writes) == {"update_run": 1, "clear_attribute": 1, "set_attribute": 1}


def test_closing_removes_all_steps_at_once() -> None:
    run = Run()
    writes_of(run, [OPENED, c.StepQueued(execution("A")), c.StepQueued(execution("B"))])
    writes = writes_of(run, [c.RunClosed("CANCELED", NOW)])
    assert written(writes) == {"close_run": 1, "delete_steps": 1, "delete_outputs": 1}
