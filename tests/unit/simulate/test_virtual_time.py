"""Runs under virtual time: what happens when, and in which order."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from orchestrator.core.state import Status
from orchestrator.simulate import environment
from tests.support.rehearsing import differences_of, perform

ORDER = """
flow: Order
handlers: handlers.nowhere
input: integer
output: integer
attributes: {seen: {type: integer, initial: 0}}
channels: {go: {type: integer, external: true}, token: string}
start: A
steps:
  A:
    wait_for: {any_of: [{channel: go}, {timer: 30d, id: month}]}
    decide:
      - {when: wait.month.satisfied, go_to: B}
      - {go_to: C}
  B:
    execute: {handler: b, timeout: 1h, retry: {maximum_attempts: 3, initial_interval: 1m}}
    result: {name: value, type: integer}
    on_failure: C
    graceful_complete: ${value}
  C: {graceful_complete: "${run.input}"}
timeout: 300d
"""


def test_a_month_of_timers_is_over_at_once(tmp_path: Path) -> None:
    (played,) = perform(
        tmp_path,
        ORDER,
        """
        rehearsals:
          - name: a month
            input: 1
            handlers: {B: {returns: 7, takes: 10m}}
            expect: {output: 7, took: 30d10m, path: [A-1, B-1]}
        """,
    )
    assert played.differences == []
    assert played.simulated is not None
    run = played.simulated.run
    assert run.closed_at is not None and run.started_at is not None
    assert run.closed_at - run.started_at == timedelta(days=30, minutes=10)


@pytest.mark.rule(146)
def test_attempts_take_their_time_and_back_off(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: third time lucky
            input: 1
            handlers: {B: [{raises: OSError, takes: 10s}, {raises: OSError, takes: 20s}, {returns: 3}]}
            events: [{at: 1d, skip_timer: month, execution: A-1}]
            expect: {output: 3, took: 1d3m10s}
          - name: the last reply repeats
            input: 1
            handlers: {B: {raises: OSError}}
            events: [{at: 1d, skip_timer: month, execution: A-1}]
            expect: {output: 1, took: 1d2m40s, path: [A-1, C-1]}
        """
    assert differences_of(tmp_path, ORDER, rehearsals) == []


@pytest.mark.rule(157)
def test_a_call_beyond_its_timeout_fails(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: three timeouts of an hour, pauses of 60 and 100 seconds
            input: 5
            handlers: {B: {returns: 3, takes: 2h}}
            expect: {output: 5, took: 30d3h2m40s}
        """
    assert differences_of(tmp_path, ORDER, rehearsals) == []


def test_the_run_does_its_work_of_a_moment_before_a_client_acts(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: the timer comes first
            input: 5
            handlers: {B: {returns: 3, takes: 1s}}
            events: [{at: 30d, publish: {go: 1}}]
            expect: {output: 3, messages: {go: [1]}}
          - name: a message at the start is taken
            input: 5
            events: [{at: 0s, publish: {go: 1}}]
            expect: {output: 5, took: 0s}
        """
    assert differences_of(tmp_path, ORDER, rehearsals) == []


def test_clients_follow_commits(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: some time after the wait was accepted
            input: 5
            delay: 1h
            events: [{after_wait: A-1, at: 5m, publish: {go: 1}}]
            expect: {output: 5, took: 1h5m}
          - name: right after an Execute
            input: 5
            events:
              - {after: A-1, stop: fail, reason: enough}
              - {after_wait: A-1, publish: {channel: go, value: 1}}
            expect: {error: {type: stopped, message: enough}, path: [A-1]}
        """
    assert differences_of(tmp_path, ORDER, rehearsals) == []


def test_an_event_that_never_comes_fails_the_rehearsal(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: C is never reached
            input: 5
            handlers: {B: {returns: 3}}
            events:
              - {after: C-1, stop: cancel}
              - {at: 400d, stop: cancel}
            until: 350d
            expect: {output: 3}
        """
    assert differences_of(tmp_path, ORDER, rehearsals) == [
        "7:9 could not stop the run (cancel): it never came to that C-1 was executed",
        "8:9 could not stop the run (cancel): 400d after the start is beyond `until`",
    ]


def test_a_refused_act_is_a_difference_unless_it_is_expected(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: too late
            input: 5
            handlers: {B: {returns: 3}}
            events:
              - {at: 40d, publish: {go: 1}, expect: {error: not_active, message: COMPLETED}}
              - {at: 40d, publish: {go: 1}, expect: {error: rejected}}
              - {at: 40d, publish: {go: 1}}
              - {at: 1d, publish: {go: none}, expect: {error: invalid_value}}
            expect: {output: 3}
        """
    closed = "it was refused: not_active: run too-late is closed: COMPLETED"
    assert differences_of(tmp_path, ORDER, rehearsals) == [
        f"8:53 publish to go: expected rejected, {closed}",
        f"9:9 publish to go: {closed}",
    ]


def test_a_start_that_is_refused_is_a_difference(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - {name: bad, flow_id: a/b, input: 1}
        """
    assert differences_of(tmp_path, ORDER, rehearsals) == [
        "3:5 the start was refused: invalid_value: flow id 'a/b' contains '/', which is reserved"
    ]


@pytest.mark.rule(183)
def test_the_deadline_comes_in_virtual_time(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - {name: a year, input: 1, timeout: 10d, expect: {error: {type: timeout}, took: 10d}}
          - name: skipped
            input: 1
            events: [{at: 3d, skip_deadline: true}]
            expect: {error: {type: timeout}, took: 3d}
        """
    assert differences_of(tmp_path, ORDER, rehearsals) == []


def test_an_open_run_is_compared_as_it_is(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - {name: waiting, input: 1, until: 29d, expect: {active: [A-1], attributes: {seen: 0}, path: []}}
        """
    (played,) = perform(tmp_path, ORDER, rehearsals)
    assert played.differences == []
    assert played.simulated is not None
    assert played.simulated.run.status is Status.RUNNING


def test_a_loop_that_lets_no_time_pass_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "MOMENT_LIMIT", 50)
    flow = "flow: F\nstart: A\nsteps: {A: {go_to: A}}\n"
    (difference,) = differences_of(
        tmp_path, flow, "rehearsals: [{name: round and round, expect: {status: RUNNING}}]"
    )
    assert difference.startswith("1:21 50 commits and no time passes: a loop without a wait? active: A-")


def test_the_same_rehearsal_gives_the_same_history(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - {name: one, flow_id: f, input: 1, handlers: {B: {returns: 3}}, expect: {output: 3}}
          - {name: two, flow_id: f, input: 1, handlers: {B: {returns: 3}}, expect: {output: 3}}
        """
    one, two = perform(tmp_path, ORDER, rehearsals)
    assert one.simulated is not None and two.simulated is not None
    assert one.simulated.commits == two.simulated.commits
