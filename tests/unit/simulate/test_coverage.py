"""What rehearsals took of a flow."""

from __future__ import annotations

from pathlib import Path

from orchestrator.cli.rehearsals import paint_coverage
from orchestrator.simulate.coverage import PlaceKind, measure
from tests.support.rehearsing import perform

FLOW = """
flow: F
handlers: handlers.nowhere
input: integer
channels: {answer: {type: string, external: true}, token: string}
timeout: {after: 9d, policy: cancel}
start: A
steps:
  A:
    input: integer
    wait_for: {any_of: [{channel: answer}, {timer: 1d, id: day}]}
    execute: a
    on_failure: R
    decide:
      - {when: wait.day.satisfied, go_to: B}
      - force_complete_if_channels_empty: {channels: [token], otherwise: {go_to: B}}
  B:
    wait_for:
      any_combination_of: [[token, day], [answer]]
      conditions: {token: {channel: token}, answer: {channel: answer}, day: {timer: 1d}}
    go_to_many: [{step: C, for_each: "${[]}", as: x}]
    otherwise: {graceful_complete: null}
  C: {dead_end: true}
  R: {graceful_complete: null}
rpcs:
  put: {input: string, decide: [{when: size(input) > 3, reject: long}, {publish: {token: "${input}"}}]}
"""


def taken(tmp_path: Path, *rehearsals: str) -> tuple[set[str], set[str]]:
    """Names of the places taken, and of those that were not."""
    entries = "".join(
        f"\n  - {{name: r{number}, input: 1, {each}}}" for number, each in enumerate(rehearsals)
    )
    played = perform(tmp_path, FLOW, f"rehearsals:{entries}\n")
    assert [difference.message for each in played for difference in each.differences] == []
    assert played[0].simulated is not None
    coverage = measure(played[0].simulated.flow, [run for each in played for run in each.runs])
    counts = coverage.counts
    assert paint_coverage(coverage, played).marks.keys() == {
        place.name for place, count in counts.items() if count and place.kind is PlaceKind.STEP
    }
    return (
        {f"{place.kind} {place.name}" for place, count in counts.items() if count},
        {f"{place.kind} {place.name}" for place, count in counts.items() if not count},
    )


def test_the_timer_and_the_first_decision(tmp_path: Path) -> None:
    found, missed = taken(
        tmp_path,
        "handlers: {A: {}}, events: [{after_wait: B-1, publish: {answer: x}}], expect: {status: COMPLETED}",
    )
    assert found == {
        "step A",
        "step B",
        "wait A: day",
        "wait B: answer",
        "decision A/1",
        "decision B/1",
        "decision B/1/otherwise",
    }
    assert missed == {
        "step C",
        "step R",
        "wait A: answer",
        "wait B: token + day",
        "decision A/2",
        "decision A/2/otherwise",
        "decision C/1",
        "decision R/1",
        "failure A: on failure → R",
        "rpc put",
        "decision rpc:put/1",
        "decision rpc:put/2",
        "deadline timeout",
    }


def test_the_other_ways(tmp_path: Path) -> None:
    found, missed = taken(
        tmp_path,
        "handlers: {A: {}}, events: [{at: 1h, rpc: put, input: abc}, {at: 2h, publish: {answer: x}}]",
        "handlers: {A: {raises: NonRetryable}}, events: [{at: 1h, publish: {answer: x}}]",
        "handlers: {A: {}}, until: 10d, expect: {status: CANCELED}",
    )
    assert {
        "decision A/2/otherwise",
        "decision rpc:put/2",
        "rpc put",
        "wait A: answer",
        "wait B: token + day",
        "failure A: on failure → R",
        "step R",
        "deadline timeout",
    } <= found
    assert missed == {"step C", "decision C/1", "decision rpc:put/1", "wait B: answer"}
