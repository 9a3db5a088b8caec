from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.store.contract import Store
from orchestrator.store.opening import open_store
from tests.support import pooler, postgres

OPTIONS = {"postgres": "", "serializable": "&isolation=serializable", "pooler": "&pooler=transaction"}


@pytest.fixture(params=["memory", "sqlite", *OPTIONS, "pgbouncer"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'runs.db'}"
    elif request.param == "memory":
        yield f"sqlite:///file:{tmp_path.name}?mode=memory"
    elif request.param == "pgbouncer":
        with pooler.database() as made:
            yield made
    else:
        with postgres.database() as made:
            yield made + OPTIONS[request.param]


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = open_store(url)
    yield store
    store.close()


@pytest.fixture
def other(url: str, store: Store) -> Iterator[Store]:
    """The same database, as another process sees it."""
    other = open_store(url)
    yield other
    other.close()
