"""Stores of earlier releases become stores of this one: whole or not at all, once, whoever else is at it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.errors import StoreError
from orchestrator.store.migrations import SCHEMA_VERSION
from orchestrator.store.opening import open_store, upgrade_store
from tests.support import later_schema, postgres
from tests.support.earlier_stores import kept_stores, restored
from tests.support.later_schema import LATER
from tests.support.shapes import shape_of

CHANGE = """
op.add_column("runs", sa.Column("color", sa.Text))
op.create_table("colors", sa.Column("name", sa.Text, primary_key=True))
op.execute("UPDATE runs SET color = 'green'")
"""
NOTES_IMPORTS = """
import sys
from orchestrator.store.opening import open_store
open_store(sys.argv[1]).close()
print([name for name in ("alembic", "sqlalchemy") if name in sys.modules])
"""
KILLED_IN_THE_MIDDLE = """
import sys
from pathlib import Path
from pytest import MonkeyPatch
from orchestrator.store.opening import upgrade_store
from tests.support import later_schema
later_schema.become(MonkeyPatch(), Path(sys.argv[2]), sys.argv[3])
upgrade_store(sys.argv[1])
"""


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Of a store that is not there yet."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'new.db'}"
    else:
        with postgres.database() as made:
            yield made


@pytest.fixture
def made(url: str) -> str:
    """Of an empty one of this release."""
    open_store(url).close()
    return url


def upgrade_all_at_once(url: str, count: int) -> list[tuple[int, int]]:
    done: list[tuple[int, int]] = []
    together = threading.Barrier(count)

    def one() -> None:
        together.wait(60)
        done.append(upgrade_store(url))

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return done


@pytest.mark.parametrize("name", kept_stores())
def test_what_is_upgraded_has_the_tables_of_a_new_one(name: str, tmp_path: Path) -> None:
    with restored(name, tmp_path) as old:
        before, after = upgrade_store(old)
        assert (before, after) == (int(name[-1]), SCHEMA_VERSION)
        upgraded = shape_of(old)
    on_postgres = name.startswith("postgres/")
    with postgres.database() if on_postgres else nullcontext(f"sqlite:///{tmp_path / 'new.db'}") as new:
        open_store(new).close()
        assert upgraded == shape_of(new)


def test_a_store_of_an_earlier_release_is_refused_with_the_command_that_helps(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later_schema.become(monkeypatch, tmp_path / "later", CHANGE)
    with pytest.raises(
        StoreError, match=f"has schema version {SCHEMA_VERSION}.*orchestrator db upgrade --db"
    ):
        open_store(made)
    assert upgrade_store(made) == (SCHEMA_VERSION, LATER)
    assert upgrade_store(made) == (LATER, LATER)
    open_store(made).close()


def test_a_store_of_a_later_release_is_refused_and_not_touched(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        later_schema.become(later, tmp_path / "later", CHANGE)
        upgrade_store(made)
    before = shape_of(made)
    for attempt in (open_store, upgrade_store):
        with pytest.raises(StoreError, match="use a newer release of orchestrator"):
            attempt(made)
    assert shape_of(made) == before


def test_a_change_that_fails_leaves_everything_as_it_was(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shape_of(made)
    with monkeypatch.context() as later:
        later_schema.become(later, tmp_path / "later", CHANGE + 'op.execute("CREATE TABLE runs (n INTEGER)")')
        with pytest.raises(StoreError, match="already exists"):
            upgrade_store(made)
    assert shape_of(made) == before
    open_store(made).close()


def test_an_upgrade_that_is_killed_in_the_middle_has_not_been(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shape_of(made)
    change = CHANGE + "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    command = [sys.executable, "-c", KILLED_IN_THE_MIDDLE, made, str(tmp_path / "killed"), change]
    done = subprocess.run(command, env=dict(os.environ, PYTHONPATH="."), timeout=100, check=False)
    assert done.returncode == -signal.SIGKILL
    assert shape_of(made) == before
    open_store(made).close()
    later_schema.become(monkeypatch, tmp_path / "later", CHANGE)
    assert upgrade_store(made) == (SCHEMA_VERSION, LATER)


def test_nothing_is_upgraded_under_living_workers(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_store(made)) as store, store.writing() as transaction:
        now = datetime.now(UTC)
        transaction.register_worker(now - timedelta(hours=1), "dead/boot", 1, "")
        transaction.register_worker(now + timedelta(hours=1), "shop/boot", 77, "")
    later_schema.become(monkeypatch, tmp_path / "later", CHANGE)
    with pytest.raises(StoreError, match=r"still at it \(shop process 77\); stop them first"):
        upgrade_store(made)
    assert upgrade_store(made, is_forced=True) == (SCHEMA_VERSION, LATER)


def test_who_upgrades_at_the_same_time_finds_it_done(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later_schema.become(monkeypatch, tmp_path / "later", CHANGE)
    done = upgrade_all_at_once(made, 3)
    assert sorted(done) == [(SCHEMA_VERSION, LATER), (LATER, LATER), (LATER, LATER)]


def test_who_makes_it_at_the_same_time_finds_it_made(url: str) -> None:
    done = upgrade_all_at_once(url, 3)
    assert sorted(done) == [(0, SCHEMA_VERSION), *[(SCHEMA_VERSION, SCHEMA_VERSION)] * 2]


def test_opening_what_is_of_this_release_needs_no_alembic(made: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOTES_IMPORTS, made], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_there_is_a_revision_for_each_version() -> None:
    from alembic.script import ScriptDirectory

    from orchestrator.store.migrations.running import PLACE

    found = [step.revision for step in ScriptDirectory(str(PLACE)).walk_revisions()]
    assert found == [str(number) for number in range(SCHEMA_VERSION, 0, -1)]
