"""TOK: what the linter says of sections, where, and what its fixes make of it."""

from __future__ import annotations

import pytest

from tests.support.contract_edit_variants import VARIANTS, text_of
from tests.support.linted import fixed, found

LINTED = {
    "correct": [],
    "no token publish on EditContract withdraw": ["TOK002"],
    "no token publish in SaveContractEdit": ["TOK002"],
    "no token publish in ReleaseContractEditToken": ["TOK002"],
    "no seed in StartContractEdits": ["TOK001"],
    "Enter's failure routed to a step that swallows the token": ["TOK002"],
    "no report in Release": ["JON004"],
    "Save publishes token twice": ["TOK003"],
    "withdraw publishes twice": ["TOK003"],
    "Release publishes twice": ["TOK003"],
    "Start seeds two": ["TOK010"],
    "token released in Edit and Save": ["TOK003"],
    "no failure route on Save": ["FAI002"],
    "a timer step cancels EditContract": ["TOK007"],
    "a timer step cancels EnterContractEdit": ["TOK008"],
    "join waits N+1": ["JON003"],
    "join waits N-1": ["JON003"],
}
FAMILIES = ("TOK", "CHN", "JON", "FAI", "DAT")


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_of_the_reference_table_is_noticed(variant: str) -> None:
    problems = [problem for family in FAMILIES for problem in found(text_of(variant), family)]
    assert [problem.code for problem in problems] == LINTED[variant]


def test_a_leak_shows_the_exit_and_where_the_token_was_taken() -> None:
    text = text_of("no token publish in SaveContractEdit")
    (problem,) = found(text, "TOK002")
    lines = text.splitlines()
    assert problem.message == "`SaveContractEdit` ends its branch while holding `contractEditToken`"
    assert lines[problem.span.line - 1].strip() == "dead_end: true"
    (taken,) = problem.spans
    assert taken.label == "token taken here"
    assert "until: {channel: contractEditToken" in lines[taken.span.line - 1]


@pytest.mark.parametrize(
    "variant", [name for name, codes in LINTED.items() if codes in (["TOK002"], ["TOK003"], ["TOK010"])]
)
def test_the_fix_mends_what_it_was_offered_for(variant: str) -> None:
    code = LINTED[variant][0]
    assert found(fixed(text_of(variant), code), "TOK") == []


def test_the_fix_of_a_leak_is_safe_and_publishes_what_others_publish() -> None:
    text = text_of("no token publish on EditContract withdraw")
    (problem,) = found(text, "TOK002")
    assert problem.fix is not None and problem.fix.is_safe
    assert fixed(text, "TOK002").count("contractEditToken: contract\n") == 1


def test_a_publish_that_came_too_early_is_taken_out_rather_than_the_last_one() -> None:
    text = text_of("token released in Edit and Save")
    mended = fixed(text, "TOK003")
    assert "      - publish: {contractEditToken: contract}\n" not in mended
    (problem,) = found(text, "TOK003")
    assert problem.fix is not None and not problem.fix.is_safe


WORKERS = """
flow: Workers
handlers: workers
channels: {slot: none, other: none}
start: Begin
steps:
  Begin:
    publish: {slot: null, other: null}
    go_to_many: [Enter, Enter, Cross, Cross]
  Enter:
    wait_for: {until: {channel: slot}}
    go_to: Both
  Both:
    wait_for: {until: {channel: other}}
    publish: {slot: null, other: null}
    dead_end: true
"""


def test_a_leak_in_a_decision_of_one_line_is_mended_in_it() -> None:
    text = """
    flow: Workers
    channels: {slot: none}
    start: Begin
    steps:
      Begin: {publish: {slot: null}, go_to_many: [Enter, Enter]}
      Enter:
        wait_for: {until: {channel: slot}}
        decide:
          - {when: now > run.started_at, dead_end: true}
          - {publish: {slot: null}, dead_end: true}
    """
    assert "- {when: now > run.started_at, publish: {slot: null}, dead_end: true}" in fixed(text, "TOK002")


def crossing(first: str, last: str) -> str:
    return (
        WORKERS
        + f"""\
  Cross:
    wait_for: {{until: {{channel: {first}}}}}
    go_to: Crossed
  Crossed:
    wait_for: {{until: {{channel: {last}}}}}
    publish: {{slot: null, other: null}}
    dead_end: true
"""
    )


def test_tokens_taken_in_opposite_orders() -> None:
    (problem,) = found(crossing("other", "slot"), "TOK")
    assert problem.code == "TOK011"
    assert problem.message == (
        "`Both` holds `slot` and waits for `other`; others hold `other` and wait for `slot`"
    )


def test_tokens_taken_in_the_same_order() -> None:
    assert found(crossing("slot", "other"), "TOK") == []


def test_both_tokens_taken_at_once() -> None:
    text = (
        WORKERS
        + """\
  Cross:
    wait_for: {all_of: [{channel: other}, {channel: slot}]}
    publish: {slot: null, other: null}
    dead_end: true
"""
    )
    assert found(text, "TOK") == []


WAIT = """
flow: Workers
handlers: workers
channels: {slot: none}
start: Begin
steps:
  Begin: {publish: {slot: null}, go_to_many: [Enter, Enter]}
  Enter: {wait_for: {until: {channel: slot}}, go_to: Rest}
  Rest:
    wait_for: {handler: choose, conditions: {pause: {timer: 1m}}}
    publish: {slot: null}
    dead_end: true
"""


def test_a_wait_in_a_section_whose_handler_may_fail() -> None:
    (problem,) = found(WAIT, "TOK")
    assert (problem.code, problem.severity) == ("TOK009", "warning")
    assert "wait_for: {on_failure: proceed, handler: choose" in fixed(WAIT, "TOK009")


@pytest.mark.parametrize(
    "wait", ["{until: {timer: 1m}}", "{handler: choose, conditions: {p: {timer: 1m}}, on_failure: proceed}"]
)
def test_a_wait_in_a_section_that_cannot_fail_the_run(wait: str) -> None:
    old = "{handler: choose, conditions: {pause: {timer: 1m}}}"
    assert found(WAIT.replace(old, wait), "TOK009") == []


def test_a_wait_outside_of_the_section_may_fail() -> None:
    text = WAIT.replace(
        "wait_for: {until: {channel: slot}}, go_to: Rest", "publish: {slot: null}, go_to: Rest"
    )
    assert found(text, "TOK009") == []


FLAG = """
flow: Edits
handlers: edits
attributes: {is_busy: {type: boolean, initial: false}}
start: Begin
steps:
  Begin: {go_to_many: [Try, Try]}
  Try:
    wait_for: {until: {timer: 1s}}
    decide:
      - {when: "!attributes.is_busy", set: {is_busy: true}, go_to: Write}
      - go_to: Try
  Write:
    execute: write
    set: {is_busy: false}
    dead_end: true
"""


def test_a_flag_that_branches_test_and_set() -> None:
    (problem,) = found(FLAG, "TOK013")
    assert problem.severity == "warning"
    assert [span.label for span in problem.spans] == ["tested here", "given back here"]


def test_a_flag_tested_before_the_step_that_sets_it() -> None:
    text = FLAG.replace("set: {is_busy: true}, go_to", "go_to").replace(
        "    execute: write\n", "    execute: write\n    on_failure: Write\n"
    )
    text = text.replace("  Write:", "  Mark: {set: {is_busy: true}, go_to: Write}\n  Write:").replace(
        "go_to: Write}\n      - go_to: Try", "go_to: Mark}\n      - go_to: Try"
    )
    assert len(found(text, "TOK013")) == 1


def test_a_flag_that_two_steps_test_and_set() -> None:
    try_one = FLAG[FLAG.index("  Try:") : FLAG.index("  Write:")]
    text = FLAG.replace("[Try, Try]", "[Try, Retry]").replace(
        "  Write:", f"{try_one.replace('Try', 'Retry')}  Write:"
    )
    assert len(found(text, "TOK013")) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("go_to_many: [Try, Try]", "go_to: Try"),
        ("    set: {is_busy: false}\n", ""),
        ('when: "!attributes.is_busy"', "when: now > run.started_at"),
    ],
    ids=["one branch", "never cleared", "not tested"],
)
def test_a_flag_that_is_no_lock(old: str, new: str) -> None:
    assert old in FLAG
    assert found(FLAG.replace(old, new), "TOK013") == []
