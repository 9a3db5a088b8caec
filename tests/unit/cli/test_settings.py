"""Flag, then environment, then pyproject.toml, then default."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.cli.settings import resolve_settings
from orchestrator.errors import UsageError

PYPROJECT = '[tool.orchestrator]\ndb = "sqlite:///configured.db"\nflows = ["one", "two"]\n'
ENVIRONMENT = {
    "ORCHESTRATOR_DB": "sqlite:///environment.db",
    "ORCHESTRATOR_FLOWS": os.pathsep.join(["a", "b"]),
}


def test_defaults(tmp_path: Path) -> None:
    settings = resolve_settings(None, environment={}, directory=tmp_path)
    assert settings.db == "sqlite:///orchestrator.db"
    assert settings.flows == (Path("flows"),)
    assert settings.is_flows_default


def test_pyproject_goes_before_defaults(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    settings = resolve_settings(None, environment={}, directory=tmp_path)
    assert settings.db == "sqlite:///configured.db"
    assert settings.flows == (Path("one"), Path("two"))
    assert not settings.is_flows_default


def test_the_environment_goes_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    settings = resolve_settings(None, environment=ENVIRONMENT, directory=tmp_path)
    assert settings.db == "sqlite:///environment.db"
    assert settings.flows == (Path("a"), Path("b"))


def test_flags_go_before_the_environment(tmp_path: Path) -> None:
    settings = resolve_settings("sqlite:///flag.db", ["x"], environment=ENVIRONMENT, directory=tmp_path)
    assert settings.db == "sqlite:///flag.db"
    assert settings.flows == (Path("x"),)


def test_one_path_may_stand_alone_in_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.orchestrator]\nflows = "here"\n', encoding="utf-8")
    assert resolve_settings(None, environment={}, directory=tmp_path).flows == (Path("here"),)


@pytest.mark.parametrize(
    "text", ["[tool.orchestrator]\ndb = 1\n", "[tool.orchestrator]\nflows = [1]\n", "not toml at all"]
)
def test_a_pyproject_that_makes_no_sense_is_a_usage_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"pyproject\.toml"):
        resolve_settings(None, environment={}, directory=tmp_path)


def test_a_path_given_as_database_is_refused_with_the_url_to_write(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--db sqlite:///runs\.db"):
        resolve_settings("runs.db", environment={}, directory=tmp_path)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("x.db", "write: --db sqlite:///x.db"),
        ("/var/x.db", "write: --db sqlite:////var/x.db"),
        ("sqlite:x.db", "write: --db sqlite:///x.db"),
        ("sqlite:/var/x.db", "write: --db sqlite:////var/x.db"),
        ("sqlite", "write: --db sqlite:///sqlite"),
        ("sqlite:", "write: --db sqlite:///orchestrator.db"),
        ("postgresql:x", "is postgresql://USER@HOST/NAME"),
        ("postgres:/x", "is postgresql://USER@HOST/NAME"),
    ],
)
def test_the_advice_for_a_database_can_be_followed(tmp_path: Path, given: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_settings(given, environment={}, directory=tmp_path)
    assert caught.value.message.endswith(told)


def test_workers_have_a_table_of_their_own(tmp_path: Path) -> None:
    text = '[tool.orchestrator.worker]\nprocesses = 2\nrun_in_process = ["reports:draw", "Order/Score"]\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    settings = resolve_settings(None, environment={}, directory=tmp_path)
    assert (settings.processes, settings.run_in_process) == (2, ("reports:draw", "Order/Score"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[tool.orchestrator]\nworker = 2", "must be a table"),
        ("[tool.orchestrator.worker]\nproceses = 2", "has no `proceses`"),
        ("[tool.orchestrator.worker]\nprocesses = true", "processes must be a number"),
        ("[tool.orchestrator.worker]\nprocesses = -1", "processes must be a number"),
        ('[tool.orchestrator.worker]\nrun_in_process = "a:b"', "run_in_process must be a list"),
    ],
)
def test_a_wrong_table_of_workers_is_a_usage_error(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        resolve_settings(None, environment={}, directory=tmp_path)
