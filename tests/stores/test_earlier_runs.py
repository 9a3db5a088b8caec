"""Runs that an earlier release left in its store go on in this one, whatever their rows looked like then."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.store.opening import upgrade_store
from tests.support.earlier_runs import ENDS, go_on, left_behind
from tests.support.earlier_stores import kept_stores, restored
from tests.support.engine_kit import Kit


@pytest.fixture(params=kept_stores())
def kit(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kit]:
    with restored(request.param, tmp_path) as url:
        upgrade_store(url)
        with closing(Kit(url)) as kit:
            yield kit


def test_they_are_listed_replayed_and_explained(kit: Kit) -> None:
    assert len(left_behind(kit)) >= 6
    assert kit.differing_replays() == []
    for flow_id in left_behind(kit):
        assert kit.client.explain(flow_id)["flow_id"] == flow_id


def test_they_go_on_to_their_ends(kit: Kit) -> None:
    go_on(kit)
    for flow_id in left_behind(kit):
        status, output = ENDS[flow_id]
        run = kit.client.describe(flow_id)
        outputs = [in_any_order(each["output"]) for each in run["outputs"]]
        assert (flow_id, run["status"], outputs) == (
            flow_id,
            status,
            [in_any_order(output)] if output is not None else [],
        )
    assert (kit.differences, kit.differing_replays()) == ([], [])


def in_any_order(output: object) -> object:
    """Branches that try again at the same instant report in no certain order."""
    return sorted(output) if isinstance(output, list) else output
