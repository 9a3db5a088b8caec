"""What other programs read: the manifest of pre-commit, the workflow and hook of a new project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from pre_commit import clientlib

from tests.support.official_schemas import official_schema

ROOT = Path(__file__).parents[3]
TEMPLATES = ROOT / "orchestrator" / "cli" / "templates"
GITHUB = "https://json.schemastore.org/github-workflow.json"


def hooks() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = clientlib.load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))
    return found


def test_pre_commit_accepts_the_manifest() -> None:
    assert [hook["id"] for hook in hooks()] == ["orchestrator-lint", "orchestrator-fix"]
    for hook in hooks():
        assert hook["entry"].startswith("orchestrator lint")
        assert hook["types"] == ["yaml"]
        assert re.search(hook["files"], "flows/a.flow.yaml")
        assert not re.search(hook["files"], "flows/a.rehearsal.yaml")


def test_pre_commit_accepts_the_configuration_of_a_new_project() -> None:
    configuration = clientlib.load_config(str(TEMPLATES / "dot_pre-commit-config.yaml"))
    assert [hook["id"] for repo in configuration["repos"] for hook in repo["hooks"]] == ["orchestrator-lint"]


def workflows() -> list[tuple[str, str]]:
    """Of a new project, and those that the documentation shows."""
    page = (ROOT / "docs" / "how-to" / "lint-in-ci.md").read_text(encoding="utf-8")
    shown = re.findall(r'```yaml title="\.github/workflows/([^"]+)"\n(.*?)```', page, re.DOTALL)
    own = TEMPLATES / "dot_github" / "workflows" / "flows.yml"
    return [("flows.yml", own.read_text(encoding="utf-8")), *shown]


def test_the_workflows_are_what_github_asks_for() -> None:
    found = workflows()
    assert len(found) >= 3
    for name, text in found:
        # YAML 1.1 takes the key `on` for true.
        document = {("on" if key is True else key): value for key, value in yaml.safe_load(text).items()}
        errors = Draft7Validator(official_schema(GITHUB)).iter_errors(document)
        assert [error.message for error in errors] == [], name


@pytest.mark.skipif(shutil.which("git") is None, reason="pre-commit needs git")
def test_the_hook_stops_a_commit_with_a_mistake(tmp_path: Path) -> None:
    shutil.copy(TEMPLATES / "dot_pre-commit-config.yaml", tmp_path / ".pre-commit-config.yaml")
    flow = tmp_path / "flows" / "greeting.flow.yaml"
    flow.parent.mkdir()
    shutil.copy(TEMPLATES / "flows" / "greeting.flow.yaml", flow)
    (tmp_path / "notes.yaml").write_text("not: a flow\n")
    environment = shimmed(tmp_path / ".bin")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, env=environment, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, env=environment, check=True)
    assert run_hooks(tmp_path, environment).returncode == 0
    flow.write_text(flow.read_text().replace("start: ", "start: Not"))
    done = run_hooks(tmp_path, environment)
    assert done.returncode == 1
    assert "flows/greeting.flow.yaml:" in done.stdout and "REF001" in done.stdout


def run_hooks(project: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def shimmed(directory: Path) -> dict[str, str]:
    """An environment in which `orchestrator` is this one, and pre-commit keeps its things apart."""
    directory.mkdir()
    shim = directory / "orchestrator"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m orchestrator "$@"\n')
    shim.chmod(0o755)
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ORCHESTRATOR_"))
    }
    return {
        **kept,
        "PATH": os.pathsep.join([str(directory), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "PRE_COMMIT_HOME": str(directory / "home"),
        "NO_COLOR": "1",
    }
