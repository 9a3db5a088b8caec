"""What a run becomes when it is moved."""

from __future__ import annotations

import pytest

from orchestrator.core import codec
from orchestrator.core.events import TimerSkipped
from orchestrator.core.invariants import check
from orchestrator.core.migration.comparison import Comparison
from orchestrator.core.migration.moving import Unfit, migrate
from orchestrator.core.migration.renaming import parse_renaming
from orchestrator.core.transition import evolve
from tests.support.play import Play, flow_of


def move(play: Play, text: str, *mapping: str, leased: tuple[str, ...] = ()) -> None:
    """As the engine does it; the history must replay."""
    new = flow_of(text)
    case = Comparison(play.flow, new, parse_renaming(mapping, play.flow, new))
    changes = migrate(case, play.run, leased)
    play.history.append(codec.encode(changes))
    evolve(play.run, changes)
    check(play.run)
    play.flow = new
    assert play.replayed() == play.run


LOCKING = """
flow: Locking
attributes: {total: {type: integer, initial: 0}}
start: Split
steps:
  Split: {go_to_many: [One, Two]}
  One: {execute: {handler: work, locks: [total]}, dead_end: true}
  Two: {execute: {handler: work, locks: [total]}, dead_end: true}
"""


def locked() -> Play:
    play = Play(LOCKING)
    play.settle()
    assert (play.run.locks, list(play.run.lock_waiters["total"])) == ({"total": "One-1"}, ["Two-1"])
    return play


def test_locks_and_those_who_want_them_stay() -> None:
    play = locked()
    move(play, LOCKING.replace("Two: {execute: {handler: work", "Two: {execute: {timeout: 5m, handler: work"))
    play.succeed("One-1")
    assert play.run.locks == {"total": "Two-1"}


def test_a_holder_of_locks_minds_a_change_of_its_locks() -> None:
    with pytest.raises(Unfit, match="it holds locks"):
        move(locked(), LOCKING.replace("locks: [total]", "locks: []", 1))


WAITING = """
flow: Waiting
input: integer
channels: {go: {type: integer, external: true}, notes: {type: integer, external: true}}
start: Wait
steps:
  Wait:
    input: integer
    wait_for: {any_of: [{channel: go}, {timer: 3d, id: late}]}
    execute: work
    graceful_complete: "${input}"
"""


def test_the_same_names_leave_everything_as_it_is() -> None:
    play = Play(WAITING, 1)
    play.settle()
    before = play.run.executions["Wait-1"]
    move(play, WAITING.replace("timer: 3d", "timer: 9d"))
    assert play.run.executions == {"Wait-1": before}
    play.publish("go", 5)
    play.succeed("Wait-1")
    assert play.outputs == [1]


def test_timers_skipped_beforehand_are_kept_under_the_new_names() -> None:
    play = Play(WAITING, 1)
    play.send(TimerSkipped(at=play.now, execution_id="Wait-1", condition="late"))
    text = (
        WAITING.replace("Wait:", "Hold:").replace("start: Wait", "start: Hold").replace("id: late", "id: end")
    )
    move(play, text, "step:Wait=Hold", "condition:Wait/late=end")
    play.settle()
    assert play.phase("Hold-1") == "execute"


def test_dropped_messages_are_gone() -> None:
    play = Play(WAITING, 1)
    play.publish("notes", 1, 2)
    move(play, WAITING.replace(", notes: {type: integer, external: true}", ""), "channel:notes=")
    assert play.run.queues == {}


def test_values_get_the_defaults_of_their_new_types() -> None:
    item = "{type: object, properties: {a: {type: integer}}}"
    wider = "{type: object, properties: {a: {type: integer}, b: {type: integer, default: 7}}}"
    text = f"""
flow: Defaults
types: {{Item: {item}}}
input: Item
channels: {{go: {{type: Item, external: true}}, later: {{type: Item, external: true}}}}
attributes: {{kept: Item}}
start: Wait
steps:
  Wait: {{input: Item, wait_for: {{until: {{channel: go}}}}, execute: work, go_to: Next}}
  Next: {{input: Item, graceful_complete: "${{input}}"}}
"""
    play = Play(text, {"a": 1}, attributes={"kept": {"a": 2}})
    play.settle()
    play.publish("later", {"a": 3})
    play.publish("go", {"a": 4})
    move(play, text.replace(item, wider))
    execution = play.run.executions["Wait-1"]
    assert execution.input == {"a": 1, "b": 7}
    assert execution.wait is not None and execution.wait.results is not None
    assert execution.wait.results[0].messages[0].value == {"a": 4, "b": 7}
    assert play.attributes == {"kept": {"a": 2, "b": 7}}
    assert play.unread("later") == [{"a": 3, "b": 7}]
    play.succeed("Wait-1")
    assert play.outputs == [{"a": 1, "b": 7}]


def test_a_map_with_initial_entries_gets_them() -> None:
    play = Play(WAITING, 1)
    entries = "attributes: {seats: {type: integer, map: true, initial: {a: 1, b: 2}}}\nstart:"
    move(play, WAITING.replace("start:", entries))
    assert play.run.attribute_maps == {"seats": {"a": 1, "b": 2}}


def test_a_handler_at_work_is_not_given_another_name() -> None:
    play = Play(WAITING, 1)
    play.publish("go", 1)
    text = WAITING.replace("Wait:", "Hold:").replace("start: Wait", "start: Hold")
    with pytest.raises(Unfit, match="under its handler: wait until it has ended"):
        move(play, text, "step:Wait=Hold", leased=("Wait-1",))
    move(play, text, "step:Wait=Hold")
    play.succeed("Hold-1")
    assert play.outputs == [1]


PARENT = """
flow: Parent
start: Ask
steps:
  Ask: {wait_for: {until: {subflow: Child}}, graceful_complete: null}
"""


def test_a_wait_for_a_child_keeps_its_name() -> None:
    play = Play(PARENT)
    play.settle()
    with pytest.raises(Unfit, match="reports to Ask-1, not to Beg-1"):
        move(play, PARENT.replace("Ask", "Beg"), "step:Ask=Beg")
    move(play, PARENT.replace("graceful_complete: null", "go_to: End}\n  End: {graceful_complete: null"))
    assert play.phase("Ask-1") == "waiting"


def test_numbers_and_origins_stay_unique_where_two_steps_become_one() -> None:
    text = """
flow: Two
channels: {go: {type: integer, external: true}}
start: Split
steps:
  Split: {go_to_many: [A, A, B, B]}
  A: {wait_for: {until: {channel: go}}, go_to: B}
  B: {wait_for: {until: {channel: go}}, go_to: A}
"""
    play = Play(text)
    play.settle()
    play.publish("go", 1)
    assert play.active == ["A-2", "B-1", "B-2", "B-3"]
    new = text.replace("  B: {wait_for: {until: {channel: go}}, go_to: A}\n", "").replace("B, B]", "A, A]")
    move(play, new.replace("go_to: B", "go_to: A"), "step:B=A")
    assert play.active == ["A-2", "A-3", "A-4", "A-5"]
    assert play.run.counters["A"] == 5
    play.publish("go", 1)
    assert "A-6" in play.active


def test_a_holder_that_would_keep_its_token_keeps_its_run() -> None:
    text = """
flow: Section
channels: {token: integer}
start: Begin
steps:
  Begin: {publish: {token: 1}, go_to_many: [Enter, Enter]}
  Enter: {wait_for: {until: {channel: token}}, execute: work, publish: {token: 1}, dead_end: true}
"""
    play = Play(text)
    play.settle()
    assert (play.phase("Enter-1"), play.phase("Enter-2")) == ("execute", "waiting")
    with pytest.raises(Unfit, match="Enter/waiting: a wait needs channel token"):
        move(play, text.replace("execute: work, publish: {token: 1}", "execute: work"))
    move(play, text.replace("dead_end: true", "go_to: Leave}\n  Leave: {dead_end: true"))
    play.succeed("Enter-1")
    assert play.phase("Enter-2") == "execute"
