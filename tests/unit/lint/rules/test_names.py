"""NAM002 to NAM004."""

from __future__ import annotations

import pytest

from orchestrator.lint.rules.names import in_style, is_alike
from tests.support.linted import fixed, found, places


def test_names_of_one_kind_that_differ_in_case_only_collide() -> None:
    text = "flow: F\nstart: Pick\nsteps:\n  Pick: {go_to: PICK}\n  PICK: {graceful_complete: }\n"
    assert places(text, "NAM002") == ["5:3"]
    (problem,) = found(text, "NAM002")
    assert problem.message == "steps `Pick` and `PICK` differ only in case"


def test_names_of_two_kinds_may_differ_in_case_only() -> None:
    text = "flow: F\nchannels: {cancel: none}\nstart: Cancel\nsteps: {Cancel: {graceful_complete: }}\n"
    assert found(text, "NAM002") == []


@pytest.mark.parametrize(
    ("name", "step", "channel"),
    [
        ("save_edit", "SaveEdit", "saveEdit"),
        ("SaveEdit", "SaveEdit", "saveEdit"),
        ("saveEdit", "SaveEdit", "saveEdit"),
        ("save", "Save", "save"),
        ("HTTPCall", "HTTPCall", "hTTPCall"),
        ("A", "A", "a"),
        ("__", "__", "__"),
        ("step_2", "Step2", "step2"),
        ("URL", "URL", "url"),
    ],
)
def test_styles(name: str, step: str, channel: str) -> None:
    assert (in_style(name, is_upper=True), in_style(name, is_upper=False)) == (step, channel)
    assert in_style(step, is_upper=True) == step and in_style(channel, is_upper=False) == channel


UNSTYLED = """\
flow: F
channels: {new_order: {type: string, external: true}}
start: take_order
verify: {external: {new_order: [1]}, properties: [{never: {step: take_order, with: Ship}}]}
steps:
  take_order:   # take_order waits
    wait_for: {until: {channel: new_order}}
    execute: take_order
    on_failure: {step: Ship, options: {on_failure: take_order}}
    decide:
      - {when: channels.new_order.size > 0, cancel: [take_order], go_to: take_order}
      - go_to: {step: Ship}
  Ship: {execute: ship, graceful_complete: done}
"""


def test_a_step_is_renamed_wherever_the_file_names_it() -> None:
    text = fixed(UNSTYLED, "NAM003")
    assert text.count("TakeOrder") == 6
    assert "execute: take_order" in text and "# take_order waits" in text
    assert [problem.message for problem in found(text, "NAM003")] == [
        "channel `new_order` is not camelCase, as names of channels are"
    ]


def test_a_channel_is_renamed_wherever_the_file_names_it() -> None:
    text = fixed(UNSTYLED.replace("take_order", "TakeOrder"), "NAM003")
    assert "new_order" not in text and text.count("newOrder") == 4


def test_a_channel_whose_name_is_a_conditions_id_is_renamed_there_too() -> None:
    text = """\
flow: F
timeout: 1d
channels: {new_order: {type: string, external: true}}
start: A
steps:
  A: {wait_for: {until: {channel: new_order}}, graceful_complete: "${wait.new_order.message}"}
"""
    assert fixed(text, "NAM003") == text.replace("new_order", "newOrder")


def test_a_name_that_is_taken_already_is_not_given() -> None:
    steps = "  A: {go_to: do_it}\n  do_it: {go_to: DoIt}\n  DoIt: {graceful_complete: }\n"
    text = f"flow: F\nstart: A\nsteps:\n{steps}"
    assert [problem.fix for problem in found(text, "NAM003")] == [None]


@pytest.mark.parametrize(
    ("flow", "file"),
    [
        ("ContractEditFlow", "contract_edit"),
        ("SimplePolling", "polling_simple"),
        ("EmailAgent", "ai_agent_email"),
        ("Order", "orders"),
        ("Billing", "bill"),
        ("ContractEdit", "contractedit"),
        ("ContractEditInterview", "cei"),
        ("A", "x"),
        ("HTTPPoll", "poll"),
    ],
)
def test_names_with_a_word_in_common_are_alike(flow: str, file: str) -> None:
    assert is_alike(flow, file) and is_alike(file, flow)


@pytest.mark.parametrize(("flow", "file"), [("Shipment", "billing"), ("ContractEdit", "expense_approval")])
def test_names_with_nothing_in_common_are_not(flow: str, file: str) -> None:
    assert not is_alike(flow, file)


TEXT = "flow: Shipment\nstart: A\nsteps: {A: {graceful_complete: }}\n"


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("flows/billing.flow.yaml", 1),
        ("shipment/main.flow.yaml", 0),
        ("flows/shipment.flow.yaml", 0),
        ("<stdin>", 0),
    ],
)
def test_the_file_is_named_after_its_flow(path: str, count: int) -> None:
    problems = found(TEXT, "NAM004", path=path)
    assert len(problems) == count
    assert all("call the file `shipment.flow.yaml`" in problem.help for problem in problems)
