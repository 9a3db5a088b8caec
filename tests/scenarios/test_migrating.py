"""Live runs that move to another definition on the real engine: rows, leases, history, other processes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.events import Message, MessagesPublished, StopRequested
from orchestrator.core.migration.comparison import Comparison
from orchestrator.core.migration.renaming import parse_renaming
from orchestrator.core.travel import Target
from orchestrator.definition.model import Flow
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.migrating import Migration, migrate_runs, survey
from orchestrator.engine.submission import Migrate, Request, Start, Wish
from orchestrator.engine.worker import Worker
from orchestrator.errors import InvalidValue, NotActive, NotFound, Refused, UsageError
from orchestrator.store.opening import open_attribute_store
from tests.support import engine_handlers
from tests.support.engine_kit import Gate, Kit, another_store, flow_of

APPROVAL = """
flow: Purchase
handlers: tests.support.engine_handlers
input: integer
output: string
channels: {approval: {type: string, external: true}}
attributes: {asked: {type: integer, initial: 1}}
start: Ask
steps:
  Ask: {input: integer, execute: note, go_to: Approve}
  Approve:
    input: integer
    wait_for: {any_of: [{channel: approval}, {timer: 60d, id: late}]}
    decide:
      - {when: wait.late.fired, graceful_complete: too late}
      - {go_to: Pay}
  Pay: {input: integer, execute: note, graceful_complete: paid}
"""
AUDITED = (
    APPROVAL.replace("- {go_to: Pay}", "- {go_to: Audit}").replace(
        "asked: {type: integer, initial: 1}",
        "asked: {type: integer, initial: 1}, audits: {type: integer, initial: 0}",
    )
    + """\
  Audit: {input: integer, execute: note, set: {audits: "${attributes.audits + 1}"}, go_to: Pay}
"""
)


def migrate(kit: Kit, old: Flow, new: Flow, *mapping: str, engine: Engine | None = None) -> list[Migration]:
    case = Comparison(old, new, parse_renaming(mapping, old, new))
    engine = engine or kit.engine
    return list(migrate_runs(engine, case, survey(engine, case)))


def waiting(kit: Kit, text: str = APPROVAL, input: Any = 7) -> Flow:
    flow = flow_of(text)
    kit.client.start(flow, "run-1", input)
    kit.settle()
    return flow


def test_an_approval_that_waits_for_a_month_goes_through_a_step_added_meanwhile(kit: Kit) -> None:
    old, new = waiting(kit), flow_of(AUDITED)
    kit.clock.advance(days=30)
    (outcome,) = migrate(kit, old, new)
    assert (outcome.is_moved, outcome.run.places) == (
        True,
        ("step:Approve/waiting", "attribute:asked", "run"),
    )
    run = kit.client.describe("run-1")
    assert (run["definition"], run["attributes"]) == (new.hash, {"asked": 1, "audits": 0})
    assert kit.events()[-1] == "RunMigrated"
    with kit.working() as worker:
        kit.client.publish("run-1", "approval", "yes")
        run = worker.run_until_closed("run-1")
    assert (run["status"], run["outputs"][0]["output"]) == ("COMPLETED", "paid")
    assert engine_handlers.calls == {"Ask-1": 1, "Audit-1": 1, "Pay-1": 1}
    assert run["attributes"]["audits"] == 1


def test_the_client_moves_runs_and_may_only_look(kit: Kit) -> None:
    old, new = waiting(kit), flow_of(AUDITED)
    (looked,) = kit.client.migrate(old, new, dry_run=True)
    assert (looked.is_moved, looked.reason, looked.run.obstacles) == (False, "", ())
    assert kit.events()[-1] == "WaitForSucceeded"
    assert kit.client.migrate(old, new, where="flow_id == 'other'") == []
    assert [each.is_moved for each in kit.client.migrate(old, new, flow_ids=["run-1"])] == [True]
    with pytest.raises(UsageError, match="not two versions of one flow"):
        kit.client.migrate(old, flow_of(GATED))


def test_a_timer_keeps_the_time_that_was_set_when_its_wait_began(kit: Kit) -> None:
    old, new = waiting(kit), flow_of(AUDITED.replace("timer: 60d", "timer: 2d"))
    kit.clock.advance(days=30)
    assert [outcome.is_moved for outcome in migrate(kit, old, new)] == [True]
    kit.pass_time(days=29)
    assert kit.phases() == {"Approve-1": "waiting"}
    kit.pass_time(days=1)
    assert kit.client.describe("run-1")["outputs"][0]["output"] == "too late"


RENAMED = (
    APPROVAL.replace("Approve", "Confirm").replace("approval", "confirmation").replace("asked:", "questions:")
)


def test_renamed_steps_channels_and_attributes_need_a_mapping_and_then_move(kit: Kit) -> None:
    old, new = (
        waiting(kit),
        flow_of(RENAMED.replace("channel: confirmation", "channel: confirmation, id: approval")),
    )
    (left,) = migrate(kit, old, new)
    assert not left.is_moved
    assert "--map step:Approve=Confirm" in left.reason
    assert kit.client.describe("run-1")["definition"] == old.hash
    mapping = ("step:Approve=Confirm", "channel:approval=confirmation", "attribute:asked=questions")
    assert [outcome.is_moved for outcome in migrate(kit, old, new, *mapping)] == [True]
    assert kit.client.describe("run-1")["attributes"] == {"questions": 1}
    with kit.working() as worker:
        kit.client.publish("run-1", "confirmation", "yes")
        run = worker.run_until_closed("run-1")
    assert (run["status"], run["outputs"][0]["output"]) == ("COMPLETED", "paid")


def test_unread_messages_move_with_their_channel(kit: Kit) -> None:
    text = APPROVAL.replace("channels: {", "channels: {notes: {type: string, external: true}, ")
    old = waiting(kit, text)
    new = flow_of(text.replace("notes:", "remarks:"))
    kit.client.publish("run-1", "notes", "first")
    kit.client.publish("run-1", "notes", "second")
    (left,) = migrate(kit, old, new)
    assert "--map channel:notes=remarks" in left.reason
    assert [outcome.is_moved for outcome in migrate(kit, old, new, "channel:notes=remarks")] == [True]
    channels = kit.client.describe("run-1", messages=True)["channels"]
    assert channels["remarks"]["messages"] == ["first", "second"]


GATED = """
flow: Gated
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: gated, result: {type: integer, name: count}, go_to: Next}
  Next: {graceful_complete: done}
"""
LONGER = GATED.replace("Next: {graceful_complete: done}", "Next: {execute: note, graceful_complete: longer}")


def test_a_handler_at_work_finishes_for_the_new_definition_when_it_says_the_same_of_it(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    old, new = flow_of(GATED), flow_of(LONGER)
    kit.client.start(old, "run-1")
    with kit.working() as worker:
        gate.await_arrival()
        assert [outcome.is_moved for outcome in migrate(kit, old, new)] == [True]
        gate.open()
        run = worker.run_until_closed("run-1")
    assert (run["definition"], run["outputs"][0]["output"]) == (new.hash, "longer")
    assert engine_handlers.calls == {"Work-1": 1, "Next-1": 1}


def test_another_process_may_move_a_run_under_a_handler_at_work_here(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    old, new = flow_of(GATED), flow_of(LONGER)
    kit.client.start(old, "run-1")
    other = Engine(another_store(kit), clock=kit.clock)
    with kit.working() as worker:
        gate.await_arrival()
        assert [outcome.is_moved for outcome in migrate(kit, old, new, engine=other)] == [True]
        gate.open()
        run = worker.run_until_closed("run-1")
    other.close()
    assert (run["definition"], run["outputs"][0]["output"]) == (new.hash, "longer")
    assert engine_handlers.calls == {"Work-1": 1, "Next-1": 1}
    assert kit.events() == ["RunStarted", "RunMigrated", "ExecuteSucceeded", "ExecuteSucceeded"]


def test_a_run_is_left_while_a_handler_is_at_work_that_the_new_definition_calls_otherwise(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    old, new = flow_of(GATED), flow_of(LONGER.replace("type: integer", "type: string"))
    kit.client.start(old, "run-1")
    other = Engine(another_store(kit), clock=kit.clock)
    with kit.working() as worker:
        gate.await_arrival()
        (left,) = migrate(kit, old, new, engine=other)
        assert (left.is_moved, left.run.places) == (False, ("step:Work/running", "run"))
        assert "a handler is at work here" in left.reason
        gate.open()
        run = worker.run_until_closed("run-1")
    other.close()
    assert (run["definition"], run["outputs"][0]["output"]) == (old.hash, "done")


def test_a_handler_queued_or_backing_off_is_called_as_the_new_definition_says(kit: Kit) -> None:
    text = GATED.replace("execute: gated", "execute: {handler: fail_twice, retry: {initial_interval: 1h}}")
    old = flow_of(text.replace("type: integer", "type: string"))
    new = flow_of(GATED.replace("execute: gated", "execute: note"))
    kit.client.start(old, "run-1")
    kit.settle()
    assert kit.phases() == {"Work-1": "backing_off"}
    assert [outcome.is_moved for outcome in migrate(kit, old, new)] == [True]
    kit.pass_time(hours=2)
    assert kit.client.describe("run-1")["outputs"][0]["output"] == "done"
    assert engine_handlers.calls == {"Work-1": 2}


def test_the_other_process_catches_up_with_a_migration(kit: Kit) -> None:
    old, new = waiting(kit), flow_of(AUDITED)
    other = Client(Engine(another_store(kit), clock=kit.clock))
    other.set_attributes("run-1", {"asked": 2})
    assert [outcome.is_moved for outcome in migrate(kit, old, new)] == [True]
    other.set_attributes("run-1", {"audits": 5})
    assert kit.client.describe("run-1")["attributes"] == {"asked": 2, "audits": 5}
    with Worker(other.engine) as worker:
        other.publish("run-1", "approval", "yes")
        worker.run_until_closed("run-1")
    assert kit.client.describe("run-1") == other.describe("run-1")
    assert kit.client.describe("run-1")["attributes"] == {"asked": 2, "audits": 6}
    other.engine.close()


def test_a_definition_between_may_be_gone_when_another_process_catches_up(kit: Kit) -> None:
    old, between, last = waiting(kit), flow_of(AUDITED), flow_of(AUDITED.replace("too late", "much too late"))
    other = Client(Engine(another_store(kit), clock=kit.clock))
    other.set_attributes("run-1", {"asked": 2})
    for before, after in ((old, between), (between, last)):
        kit.clock.advance(seconds=1)
        migrate(kit, before, after)
    with kit.engine.store.writing() as transaction:
        assert set(transaction.prune_definitions()) == {old.hash, between.hash}
    other.set_attributes("run-1", {"audits": 5})
    assert other.describe("run-1")["definition"] == last.hash
    other.engine.close()


def test_time_travel_goes_back_to_the_migration_and_no_further(kit: Kit) -> None:
    old, new = waiting(kit), flow_of(AUDITED)
    before = kit.clock.now()
    kit.clock.advance(days=1)
    migrate(kit, old, new)
    migrated_at = len(kit.events())
    kit.clock.advance(days=1)
    kit.client.publish("run-1", "approval", "yes")
    kit.settle()
    for target in (Target(), Target(time=before), Target(step="Approve")):
        with pytest.raises(InvalidValue, match=f"moved to another definition by commit {migrated_at}"):
            kit.client.time_travel("run-1", target)
    travelled = kit.client.time_travel("run-1", Target(time=before + timedelta(days=1)), reapply=False)
    assert travelled.forked_at == migrated_at
    assert kit.phases() == {"Approve-1": "waiting"}
    kit.client.publish("run-1", "approval", "yes")
    kit.settle()
    run = kit.client.describe("run-1")
    assert (run["status"], run["definition"]) == ("COMPLETED", new.hash)


SPLIT = """
flow: Split
handlers: tests.support.engine_handlers
channels: {go: {type: integer, external: true}}
joins: {parts: integer}
start: Begin
steps:
  Begin:
    join: parts
    go_to_many:
      - {for_each: [1, 2], step: Part, input: "${item}"}
      - Collect
  Part:
    input: integer
    wait_for: {until: {channel: go}}
    report: {parts: "${input}"}
    dead_end: true
  Collect:
    wait_for: {until: {join: parts}}
    graceful_complete: "${sum(wait.parts.messages)}"
"""


def test_an_open_round_goes_on_counting(kit: Kit) -> None:
    old = waiting(kit, SPLIT, None)
    new = flow_of(
        SPLIT.replace('    report: {parts: "${input}"}\n    dead_end: true\n', "    go_to: Twice\n")
        + '  Twice: {input: integer, execute: double, report: {parts: "${result}"}, dead_end: true}\n'
    )
    kit.client.publish("run-1", "go", 1)
    kit.settle()
    assert [outcome.is_moved for outcome in migrate(kit, old, new)] == [True]
    kit.client.publish("run-1", "go", 1)
    kit.settle()
    assert kit.client.describe("run-1")["outputs"][0]["output"] == 1 + 2 * 2


def test_a_round_whose_branches_could_no_longer_report_keeps_its_run_where_it_is(kit: Kit) -> None:
    old = waiting(kit, SPLIT, None)
    new = flow_of(
        SPLIT.replace('    report: {parts: "${input}"}\n', "")
        .replace("until: {join: parts}", "until: {channel: go}")
        .replace("wait.parts.messages", "wait.go.messages")
    )
    (left,) = migrate(kit, old, new)
    assert "join parts counts on a report from here" in left.reason


def test_renamed_joins_move_with_their_rounds(kit: Kit) -> None:
    old = waiting(kit, SPLIT, None)
    new = flow_of(
        SPLIT.replace("join: parts}", "join: pieces, id: parts}")
        .replace("{parts:", "{pieces:")
        .replace("join: parts", "join: pieces")
    )
    kit.client.publish("run-1", "go", 1)
    kit.settle()
    assert [outcome.is_moved for outcome in migrate(kit, old, new, "join:parts=pieces")] == [True]
    kit.client.publish("run-1", "go", 1)
    kit.settle()
    assert kit.client.describe("run-1")["outputs"][0]["output"] == 3


def test_a_removed_step_may_be_taken_over_by_one_that_has_been_used_before(kit: Kit) -> None:
    text = """
flow: Loop
channels: {go: {type: integer, external: true}}
start: First
steps:
  First: {wait_for: {until: {channel: go}}, go_to: Second}
  Second: {wait_for: {until: {channel: go}}, go_to: First}
"""
    old = waiting(kit, text, None)
    kit.client.publish("run-1", "go", 1)
    kit.settle()
    assert kit.phases() == {"Second-1": "waiting"}
    new = flow_of(
        text.replace("go_to: Second", "go_to: First").replace(
            "  Second: {wait_for: {until: {channel: go}}, go_to: First}\n", ""
        )
    )
    (left,) = migrate(kit, old, new)
    assert "--map step:Second=First" in left.reason
    assert [outcome.is_moved for outcome in migrate(kit, old, new, "step:Second=First")] == [True]
    assert kit.phases() == {"First-2": "waiting"}
    kit.client.publish("run-1", "go", 1)
    kit.settle()
    assert kit.phases() == {"First-3": "waiting"}


def test_many_runs_are_moved_in_batches_and_each_says_why_it_was_left(kit: Kit, monkeypatch: Any) -> None:
    monkeypatch.setattr("orchestrator.engine.migrating.AT_A_TIME", 3)
    old = flow_of(APPROVAL)
    new = flow_of(AUDITED.replace("asked: {type: integer,", "asked: {type: {type: integer, maximum: 4},"))
    for number in range(8):
        kit.client.start(old, f"run-{number}", 7, attributes={"asked": number})
    kit.settle()
    outcomes = migrate(kit, old, new)
    assert [outcome.run.flow_id for outcome in outcomes if not outcome.is_moved] == [
        "run-5",
        "run-6",
        "run-7",
    ]
    assert "the value of attribute asked does not fit" in outcomes[-1].reason
    assert migrate(kit, old, new)[0].run.flow_id == "run-5"


NOTED = APPROVAL.replace("channels: {", "channels: {notes: {type: string, external: true}, ")
REMARKED = NOTED.replace("notes:", "remarks:").replace("Approve", "Confirm")


def publish(channel: str, value: str) -> Request:
    messages = (Message(channel, value, None),)
    return Request("run-1", lambda at: MessagesPublished(at=at, messages=messages))


def remarked() -> tuple[Flow, Comparison]:
    old, new = flow_of(NOTED), flow_of(REMARKED)
    return old, Comparison(
        old, new, parse_renaming(["step:Approve=Confirm", "channel:notes=remarks"], old, new)
    )


def together(kit: Kit, *wishes: Wish) -> None:
    """In one transaction."""
    kit.engine.committer.is_paused = True
    for wish in wishes:
        kit.engine.submit(wish)
    kit.engine.committer.is_paused = False
    kit.engine.lead()


def test_a_move_shares_a_transaction_with_what_comes_before_and_after(kit: Kit) -> None:
    old, case = remarked()
    kit.client.start(old, "run-1", 7)
    kit.settle()
    refused = publish("notes", "too late")
    move = Migrate(1, "run-1", case)
    together(kit, publish("notes", "before"), move, publish("remarks", "after"), refused)
    assert move.receipt.result() is None
    with pytest.raises(NotFound, match="no channel notes"):
        refused.receipt.result()
    run = kit.client.describe("run-1", messages=True)
    assert run["channels"]["remarks"]["messages"] == ["before", "after"]
    assert kit.events()[-3:] == ["MessagesPublished", "RunMigrated", "MessagesPublished"]


def test_a_run_is_moved_in_the_transaction_that_starts_it(kit: Kit) -> None:
    old, case = remarked()
    start = Start(old, "run-1", "id-1", 7, has_input=True)
    move = Migrate(1, "run-1", case)
    together(kit, start, move)
    assert move.receipt.result() is None
    assert kit.client.describe("run-1")["definition"] == case.new.hash
    kit.settle()
    assert kit.phases() == {"Confirm-1": "waiting"}


def test_a_run_is_stopped_in_the_transaction_that_moves_it(kit: Kit) -> None:
    old, case = remarked()
    kit.client.start(old, "run-1", 7)
    kit.settle()
    stop = Request("run-1", lambda at: StopRequested(at=at, stop="cancel"))
    together(kit, publish("notes", "x"), Migrate(1, "run-1", case), stop)
    run = kit.client.describe("run-1")
    assert (run["status"], run["definition"], run["active"]) == ("CANCELED", case.new.hash, [])


def test_a_run_that_has_ended_or_moved_meanwhile_is_not_moved(kit: Kit) -> None:
    old, case = remarked()
    kit.client.start(old, "run-1", 7)
    kit.settle()
    first, second = Migrate(1, "run-1", case), Migrate(1, "run-1", case)
    together(kit, first, second)
    assert first.receipt.result() is None
    with pytest.raises(Refused, match="another definition by now"):
        second.receipt.result()
    kit.client.stop("run-1")
    third = Migrate(1, "run-1", case)
    kit.engine.submit(third)
    with pytest.raises(NotActive, match="is closed: CANCELED"):
        third.receipt.result()


def test_synced_attributes_of_the_new_definition_are_carried_over(tmp_path: Path) -> None:
    target = f"sqlite:///{tmp_path / 'attributes.db'}"
    kit = Kit(tmp_path, open_attribute_store(target))
    old, new = flow_of(APPROVAL), flow_of(AUDITED.replace("audits: {", "audits: {sync: true, "))
    kit.client.start(old, "run-1", 7)
    kit.settle()
    migrate(kit, old, new)
    with kit.working() as worker:
        worker.run_until_idle()
    kit.close()
    with closing(sqlite3.connect(tmp_path / "attributes.db")) as connection:
        assert connection.execute("SELECT audits FROM Purchase").fetchall() == [(0,)]
