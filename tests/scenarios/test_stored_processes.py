"""flows/products/dataset_deal.flow.yaml: a run keeps the process as it was stored when the run began."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from handlers.products import dataset_deal
from tests.support.stage import Stage


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The stored processes, free to be edited."""
    processes = copy.deepcopy(dataset_deal.STORED)
    monkeypatch.setattr(dataset_deal, "STORED", processes)
    return processes


def begun() -> Stage:
    stage = Stage("products/dataset_deal", "sale")
    stage.perform()
    return stage


def finished(stage: Stage) -> list[Any]:
    stage.publish("conditions", "received", key="payment")
    stage.publish("conditions", "approved", key="review")
    stage.perform()
    return stage.outputs


def test_editing_a_stored_process_changes_only_later_runs(stored: dict[str, Any]) -> None:
    earlier = begun()
    stored["sale"]["nodes"]["review"]["post_condition"]["cases"]["approved"] = "decline"
    later = begun()
    assert finished(earlier) == ["deliver"]
    assert finished(later) == ["decline"]


def test_deleting_a_stored_process_leaves_its_runs_alone(stored: dict[str, Any]) -> None:
    stage = begun()
    del stored["sale"]
    assert finished(stage) == ["deliver"]
