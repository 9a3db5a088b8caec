"""A counterexample in words."""

from __future__ import annotations

import pytest

from orchestrator.definition.model import Json
from orchestrator.verify.report import Counterexample, Event, EventKind, Guess, Stuck
from orchestrator.verify.wording import describe, senders_of, span_of, tell, tell_stuck
from tests.support.play import flow_of

FLOW = flow_of(
    """\
    flow: Told
    channels:
      token: string
      go: {type: string, external: true}
      lone: string
    start: Begin
    steps:
      Begin: {publish: {token: t}, go_to_many: [Work, Work, End]}
      Work:
        wait_for: {until: {channel: token}}
        execute: work
        result: {name: done, type: boolean}
        on_failure: End
        decide:
          - when: done
            publish: {token: t}
            dead_end: true
          - go_to_many: []
            otherwise: {graceful_complete: }
      End:
        wait_for: {any_of: [{channel: go}, {channel: lone}, {channel: token}]}
        graceful_complete:
    rpcs:
      push: {publish: {token: t}}
    """.replace("go_to_many: []", "go_to_many: [{for_each: '${[1]}', step: End}]")
)


def event(kind: EventKind, step: str | None = "Work", **more: object) -> Event:
    given = {"step_execution_id": f"{step}-1" if step else None, "path": ("steps", step or ""), **more}
    return Event(kind, step, **given)  # type: ignore[arg-type]


def words(each: Event) -> str:
    return " ".join(describe(FLOW, each).split())


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        (
            event(EventKind.SATISFIED, channels={"token": (1, 0)}, conditions=("token",)),
            "wait satisfied token 1 -> 0",
        ),
        (event(EventKind.SATISFIED, conditions=("late",)), "wait satisfied late"),
        (event(EventKind.DECIDED, decision=1, channels={"token": (0, 1)}), "commit token 0 -> 1, dead_end"),
        (event(EventKind.DECIDED, decision=2, otherwise_count=1), "commit graceful_complete"),
        (event(EventKind.DECIDED, decision=2, starts=("End-1",)), "commit -> End"),
        (
            event(EventKind.DECIDED, "Begin", decision=1, starts=("Work-1", "Work-2", "End-1")),
            "commit starts Work x2, End",
        ),
        (event(EventKind.DECIDED, decision=1, cancels=("End-1", "End-2")), "commit cancels End x2, dead_end"),
        (event(EventKind.FAILED, starts=("End-1",)), "execute fails -> End"),
        (event(EventKind.FAILED, closes="FAILED"), "execute fails the run is FAILED"),
        (event(EventKind.PUBLISHED, None, channel="go", channels={"go": (0, 1)}), "publishes go 0 -> 1"),
        (event(EventKind.RPC, "push", channels={"token": (0, 1)}), "calls push, token 0 -> 1"),
        (event(EventKind.COMPLETED, None, closes="COMPLETED"), "completes the run is COMPLETED"),
    ],
)
def test_an_event_says_what_happens(each: Event, expected: str) -> None:
    assert words(each) == expected


@pytest.mark.parametrize(
    ("what", "value", "expected"),
    [
        ("done", True, "commit [done] dead_end"),
        ("done.ok", False, "commit [not done.ok] dead_end"),
        ("a == b", False, "commit [not (a == b)] dead_end"),
        ("size(input)", 3, "commit [size(input) = 3] dead_end"),
        ("choice", "spam", "commit [choice: spam] dead_end"),
        ("choice", None, "commit dead_end"),
        ("publishes token", 2, "commit [publishes token x2] dead_end"),
        ("publishes token", 0, "commit dead_end"),
        ("sets mark", 1, "commit [sets mark] dead_end"),
    ],
)
def test_a_guess_is_told_where_it_says_something(what: str, value: Json, expected: str) -> None:
    guess = Guess((), what, value)
    assert words(event(EventKind.DECIDED, decision=1, guesses=(guess,))) == expected


def test_the_last_event_says_what_is_wrong() -> None:
    events = (event(EventKind.SATISFIED), event(EventKind.DECIDED, decision=1))
    first, last = tell(FLOW, Counterexample(events), "deadlock")
    assert "<--" not in first.text
    assert last.text.endswith("<-- from here on nothing can move")
    assert (last.thread, last.span.line) == ("Work-1", 9)
    assert "<--" not in tell(FLOW, Counterexample(events), "some property of the author's")[-1].text


def test_a_cycle_is_marked_where_it_begins() -> None:
    told = tell(FLOW, Counterexample((event(EventKind.SATISFIED),), (event(EventKind.DECIDED),)), "livelock")
    assert [("for ever" in step.text) for step in told] == [False, True]


def test_threads_are_executions_clients_and_the_run() -> None:
    events = (
        event(EventKind.PUBLISHED, None, channel="go"),
        event(EventKind.RPC, "push", step_execution_id=None),
        event(EventKind.TIMED_OUT, "sys:timeout_handler"),
        event(EventKind.COMPLETED, None),
    )
    told = tell(FLOW, Counterexample(events), "")
    assert [step.thread for step in told] == ["client", "client", "on_timeout", "run"]


def test_who_is_stuck_and_who_could_send() -> None:
    wait = ("steps", "Work", "wait_for", "until")
    stuck = (
        Stuck("Work", "Work-2", "has 0 of 1 token", wait),
        Stuck("Work", "Work-3", "has 0 of 1 token", wait),
        Stuck("End", "End-1", "waits", ("steps", "End", "wait_for")),
    )
    lines = tell_stuck(FLOW, Counterexample((), stuck=stuck, channels={"go": 2}, active=("Work-2", "End-1")))
    assert lines == [
        "Work-2, -3 have 0 of 1 token",
        "End-1 waits",
        "token is empty; published by Begin, Work, RPC push; active of these: Work (stuck too)",
        "go has 2 unread; clients may publish it",
        "lone is empty; nobody publishes it",
    ]


def test_senders_stand_in_the_order_of_the_definition() -> None:
    assert senders_of(FLOW, "token") == ["Begin", "Work", "RPC push"]


def test_a_place_is_one_line() -> None:
    block = span_of(FLOW, ("steps", "Work", "decide", 0))
    assert block.line == block.end_line
    assert FLOW.source is not None
    assert FLOW.source.text_at(block) == "when: done"
    assert FLOW.source.text_at(span_of(FLOW, ("steps", "Work"))) == "Work"
