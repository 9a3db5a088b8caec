"""What `orchestrator init` writes works as it stands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from orchestrator.definition.parse import parse

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "orchestrator" / "cli" / "templates"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(TEMPLATES, tmp_path / "project", ignore=ignored))


def test_its_own_tests_pass_on_a_store_of_their_own(project: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    assert sorted(path.name for path in project.iterdir() if path.suffix == ".db") == []


def test_its_rehearsals_hold(project: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "orchestrator", "rehearse", "flows"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 rehearsals, all as expected" in done.stdout


def test_its_flow_has_no_problems() -> None:
    path = TEMPLATES / "flows" / "greeting.flow.yaml"
    flow, problems = parse(path.read_text(), str(path))
    assert flow is not None
    assert problems == []


@pytest.mark.parametrize("name", ["dot_pre-commit-config.yaml", "dot_github/workflows/flows.yml"])
def test_its_yaml_is_yaml_and_lints_flows(name: str) -> None:
    text = (TEMPLATES / name).read_text()
    assert isinstance(yaml.safe_load(text), dict)
    assert "orchestrator lint" in text


def test_its_settings_are_those_of_the_command_line() -> None:
    settings = tomllib.loads((TEMPLATES / "pyproject.toml").read_text())
    assert settings["tool"]["orchestrator"] == {"db": "sqlite:///orchestrator.db", "flows": ["flows"]}
