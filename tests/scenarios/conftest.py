from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import acting, engine_handlers
from tests.support.engine_kit import Kit


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    engine_handlers.reset()
    acting.reset()
    kit = Kit(tmp_path)
    yield kit
    differing = kit.differing_replays()
    kit.close()
    assert kit.differences == []
    assert differing == []
