"""The example flows do what they show, with their real handlers."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from orchestrator.core.state import Status
from tests.support.stage import ROOT, Stage, example_input

EXAMPLES = sorted(path.name.removesuffix(".flow.yaml") for path in (ROOT / "flows").glob("*.flow.yaml"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_completes_on_the_input_beside_it(name: str) -> None:
    stage = Stage(name)
    stage.perform_to_the_end()
    assert stage.run.status is Status.COMPLETED, stage.run.error


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_described(name: str) -> None:
    flow = Stage(name).flow
    assert flow.description
    assert all(step.description for step in flow.steps.values())
    assert (ROOT / "flows" / f"{name}.flow.yaml").read_text().startswith("# yaml-language-server: $schema=")


# --- Contract edits (rule 113) ---


def records_of(edits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    stage = Stage("contract_edit", edits)
    stage.perform_to_the_end()
    assert stage.run.status is Status.COMPLETED, stage.run.error
    assert stage.unread("contractEditToken") == ["contract"]
    (records,) = stage.outputs
    return list(records)


@pytest.mark.rule(113)
def test_each_contract_edit_has_one_record_and_the_token_is_back() -> None:
    records = records_of(example_input("contract_edit"))
    outcomes = sorted((record["reviewer"], record["outcome"]) for record in records)
    assert outcomes == [
        ("Ada", "saved"),
        ("Ben", "withdrawn"),
        ("Chloe", "failed"),
        ("Dev", "failed"),
        ("Eve", "saved"),
    ]


@pytest.mark.rule(113)
def test_edits_of_the_contract_do_not_overlap() -> None:
    flags = ("none", "should_withdraw", "should_fail_handoff", "should_fail_edit")
    edits = [{"reviewer": f"r{number}", flags[number % 4]: True} for number in range(12)]
    records = sorted(records_of(edits), key=lambda record: int(record["started_at_millis"]))
    assert Counter(record["outcome"] for record in records) == {"saved": 3, "withdrawn": 3, "failed": 6}
    for earlier, later in pairwise(records):
        assert earlier["finished_at_millis"] < later["started_at_millis"]


def test_no_edits_give_no_records() -> None:
    assert records_of([]) == []


# --- Expenses: a message against a timer ---


@pytest.mark.rule(66)
def test_an_expense_without_an_answer_expires() -> None:
    stage = Stage("expense_approval", {"employee": "Ada", "amount": 9.5})
    stage.perform(seconds=2 * 24 * 3600 - 1)
    assert stage.attributes["status"] == "waiting"
    stage.perform(seconds=1)
    assert stage.outputs == [{"status": "expired"}]


@pytest.mark.parametrize(("is_approved", "status"), [(True, "paid"), (False, "declined")])
def test_an_answer_in_time_decides_the_expense(is_approved: bool, status: str) -> None:
    stage = Stage("expense_approval")
    stage.perform()
    stage.publish("answer", {"approver": "Grace", "is_approved": is_approved})
    stage.perform()
    (verdict,) = stage.outputs
    assert verdict["status"] == status
    assert verdict.get("payment") == ("payment/f/PayOut-1" if is_approved else None)


# --- Reminders: a loop with a timer ---


@pytest.mark.rule(85)
def test_reminders_stop_at_their_limit() -> None:
    stage = Stage("reminders", {"address": "a@example.org", "pause": "1d", "limit": 3})
    stage.perform(seconds=3 * 24 * 3600 - 1)
    assert stage.run.status is Status.RUNNING
    assert stage.attributes["sent_count"] == 3
    stage.perform(seconds=1)
    assert stage.outputs == ["given up"]


def test_reminders_stop_on_confirmation() -> None:
    stage = Stage("reminders", {"address": "a@example.org", "pause": "1d", "limit": 3})
    stage.perform(seconds=24 * 3600)
    stage.publish("confirmation", "I will be there")
    stage.perform()
    assert stage.outputs == ["confirmed"]
    assert stage.attributes["sent_count"] == 2


# --- Payment: retries and recovery ---


@pytest.mark.rule(148)
def test_a_busy_payment_provider_is_asked_again_when_it_says() -> None:
    stage = Stage("order_payment")
    stage.perform(seconds=0.39)
    assert stage.run.status is Status.RUNNING
    stage.perform(seconds=0.02)
    (outcome,) = stage.outputs
    assert outcome["status"] == "shipped"
    assert outcome["detail"] == "parcel P-A-17, paid with receipt for f/ChargeCard-1"


@pytest.mark.rule(149)
def test_a_refused_card_cancels_the_order_at_once() -> None:
    stage = Stage("order_payment", {"number": "A-18", "card": "0000 1"})
    stage.perform()
    assert stage.outputs == [
        {
            "order": "A-18",
            "status": "cancelled",
            "detail": "NonRetryable after 1 attempt(s): the card of order A-18 was refused",
        }
    ]


# --- Cart: attributes ---


def test_a_cart_counts_lines_that_come_in_parallel() -> None:
    stage = Stage("shopping_cart")
    stage.perform_to_the_end()
    assert stage.outputs == [{"quantities": {"pencil": 15, "paper": 2}, "total": pytest.approx(14.4)}]


def test_a_small_cart_gets_no_discount() -> None:
    stage = Stage("shopping_cart", [{"article": "pencil", "quantity": 2, "price": 0.5}])
    stage.perform_to_the_end()
    assert stage.outputs == [{"quantities": {"pencil": 2}, "total": 1.0}]
