"""Who holds a token in a state: what its wait took, and what it came with."""

from __future__ import annotations

from orchestrator.verify.report import Verdict
from orchestrator.verify.verifying import verify_flow
from tests.support.play import flow_of

HEAD = """
flow: Workers
channels: {slot: none}
timeout: 1d
start: Begin
steps:
  Begin: {publish: {slot: null}, go_to_many: [Enter, Enter]}
"""


def verdicts(steps: str) -> dict[str, Verdict]:
    return {each.name: each.verdict for each in verify_flow(flow_of(HEAD + steps)).properties}


def test_who_was_let_on_by_a_timer_holds_no_token() -> None:
    found = verdicts("""\
  Enter:
    wait_for: {any_of: [{channel: slot}, {timer: 5s}]}
    decide:
      - {when: wait.slot.satisfied, go_to: Work}
      - graceful_complete:
  Work: {publish: {slot: null}, graceful_complete: }
""")
    assert found["token_conservation"] is Verdict.PROVED
    assert found["mutual_exclusion"] is Verdict.PROVED


WAYS = """\
  Enter:
    wait_for: {any_of: [{channel: slot}, {timer: 5s}]}
    decide:
      - {when: wait.slot.satisfied && now > run.started_at, publish: {slot: null}, dead_end: true}
      - go_to: End
  End: {force_complete: }
"""


def test_a_step_that_some_enter_with_a_token_and_some_without_proves_nothing_wrong() -> None:
    found = verdicts(WAYS)
    assert found["token_conservation"] is not Verdict.VIOLATED
    assert found["mutual_exclusion"] is not Verdict.VIOLATED


def test_who_may_have_come_without_a_token_excludes_nobody() -> None:
    text = HEAD + WAYS + "verify: {properties: [{mutual_exclusion: [Enter]}, {mutual_exclusion: [End]}]}\n"
    found = verify_flow(flow_of(text))
    asked = [each.verdict for each in found.properties if each.rule == "VER007"]
    assert Verdict.PROVED not in asked
    assert asked != []


def test_a_run_whose_tokens_were_never_seeded_has_lost_none() -> None:
    text = HEAD.replace("Begin: {", "Begin: {execute: begin, on_failure: Sorry, ")
    found = verify_flow(
        flow_of(
            "handlers: h\n"
            + text
            + """\
  Enter: {wait_for: {until: {channel: slot}}, publish: {slot: null}, graceful_complete: }
  Sorry: {wait_for: {until: {timer: 1h}}, graceful_complete: }
"""
        )
    )
    assert {each.name: each.verdict for each in found.properties}["token_conservation"] is Verdict.PROVED
