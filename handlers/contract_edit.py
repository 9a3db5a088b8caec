"""Reviewers take turns editing one contract (flows/contract_edit.flow.yaml)."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal

_SECONDS_OF_WORK = 0.003
"""Before an edit begins and while it goes on, so that two edits never share a millisecond."""


@dataclass(frozen=True)
class ContractEdit:
    reviewer: str
    should_withdraw: bool = False
    should_fail_handoff: bool = False
    should_fail_edit: bool = False
    started_at_millis: int = 0


@dataclass(frozen=True)
class ContractEditRecord:
    reviewer: str
    outcome: Literal["saved", "withdrawn", "failed"]
    started_at_millis: int
    finished_at_millis: int


def enter_contract_edit(edit: ContractEdit) -> None:
    """The hand-off of the contract; the token is held from here on."""
    if edit.should_fail_handoff:
        raise RuntimeError(f"the contract could not be handed to {edit.reviewer}")


def edit_contract(edit: ContractEdit) -> ContractEdit:
    time.sleep(_SECONDS_OF_WORK)
    started = replace(edit, started_at_millis=_now_millis())
    time.sleep(_SECONDS_OF_WORK)
    return started


def save_contract_edit(edit: ContractEdit) -> ContractEditRecord:
    if edit.should_fail_edit:
        raise RuntimeError(f"the edit of {edit.reviewer} could not be saved")
    return ContractEditRecord(edit.reviewer, "saved", edit.started_at_millis, _now_millis())


def failed_edit_record(edit: ContractEdit) -> ContractEditRecord:
    """An edit that failed in its hand-off never started: its interval is one moment."""
    now = _now_millis()
    return ContractEditRecord(edit.reviewer, "failed", edit.started_at_millis or now, now)


def _now_millis() -> int:
    return int(time.time() * 1000)
