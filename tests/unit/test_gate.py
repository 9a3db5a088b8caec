"""`./run check`, which CI runs, fails where one of its commands does."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ["ruff", "mypy", "lint-imports", "python"]


@pytest.mark.parametrize("broken", [None, *TOOLS])
def test_the_gate_is_as_good_as_its_worst_command(broken: str | None, tmp_path: Path) -> None:
    shutil.copy(ROOT / "run", tmp_path / "run")
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    tools = tmp_path / ".venv" / "bin"
    tools.mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", tmp_path / ".venv" / "installed[dev]")
    for name in TOOLS:
        tool = tools / name
        tool.write_text(f"#!/bin/sh\necho said by {name}\nexit {int(name == broken)}\n", encoding="utf-8")
        tool.chmod(0o755)
    done = subprocess.run(["sh", "./run", "check"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == (0 if broken is None else 1), done.stdout + done.stderr
    assert [name for name in TOOLS if f"said by {name}\n" not in done.stdout] == []
    at_fault = {None: "", "python": "not well: tests\n"}.get(broken, f"not well: {broken}\n")
    assert done.stderr == at_fault
