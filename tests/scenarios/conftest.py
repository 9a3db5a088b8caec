import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support import acting, engine_handlers, pooler, postgres
from tests.support.engine_kit import Kit

STORES = os.environ.get("ORCHESTRATOR_TEST_STORES", "sqlite,postgres").split(",")
"""Every scenario is played on these; `memory` and `pgbouncer` are others."""


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    """Where a new store is to be."""
    with ExitStack() as stack:
        if request.param == "postgres":
            yield stack.enter_context(postgres.database())
        elif request.param == "pgbouncer":
            yield stack.enter_context(pooler.database())
        elif request.param == "memory":
            yield f"sqlite:///file:{tmp_path.name}?mode=memory"
        else:
            yield tmp_path


@pytest.fixture
def kit(place: Path | str) -> Iterator[Kit]:
    engine_handlers.reset()
    acting.reset()
    kit = Kit(place)
    yield kit
    differing = kit.differing_replays()
    kit.close()
    assert kit.differences == []
    assert differing == []
