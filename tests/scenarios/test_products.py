"""The products do what they show: their rehearsals, and what their handlers do inside."""

from collections.abc import Callable
from typing import cast

import pytest

from handlers.products import ai_agent_email, money_transfer
from orchestrator import Context
from orchestrator.simulate.script import Rehearsal, RehearsalFile
from tests.support.rehearsed_examples import differences, flows_without_rehearsal, rehearsals_of


@pytest.mark.parametrize(("file", "rehearsal"), rehearsals_of("products"))
def test_a_product_goes_as_rehearsed(file: RehearsalFile, rehearsal: Rehearsal) -> None:
    assert differences(file, rehearsal) == []


def test_every_product_is_rehearsed() -> None:
    assert flows_without_rehearsal("products") == []


class StandInContext:
    """As much of a context as the handler under test asks for."""

    def __init__(self, said: str = "", draft: dict[str, object] | None = None) -> None:
        self.wait = {"userInput": Message(said)}
        self.attributes = {"draft": draft or {}}


class Message:
    def __init__(self, message: str) -> None:
        self.message = message


def answer(said: str, draft: dict[str, object] | None = None) -> ai_agent_email.Draft:
    return ai_agent_email.answer_user(cast(Context, StandInContext(said, draft)))


# --- Money ---


def test_what_a_transfer_did_is_undone_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    undone: list[str] = []

    def note(name: str) -> Callable[[object, object], None]:
        return lambda _ctx, _transfer: undone.append(name)

    for name in ("undo_credit", "undo_credit_memo", "undo_debit_memo", "undo_debit"):
        monkeypatch.setattr(money_transfer, name, note(name))
    transfer = money_transfer.Transfer("from-account", "to-account", 100, "")
    money_transfer.compensate(cast(Context, StandInContext()), transfer)
    assert undone == ["undo_credit", "undo_credit_memo", "undo_debit_memo", "undo_debit"]


# --- The agent's drafts ---


def test_the_agent_finds_the_address_and_keeps_it() -> None:
    first = answer("Ask ann@example.org to lunch\nIt is her birthday.")
    assert (first.recipient, first.subject) == ("ann@example.org", "Ask ann@example.org to lunch")
    second = answer("At noon", {"recipient": first.recipient, "subject": first.subject})
    assert (second.recipient, second.body) == ("ann@example.org", "At noon")


def test_the_agent_understands_that_it_should_stop() -> None:
    assert answer("Please CANCEL it").is_cancelled
    assert not answer("Please send it").is_cancelled
