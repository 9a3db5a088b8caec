"""`orchestrator --help` comes from a file."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from orchestrator.cli.entry import HELP


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_what_the_command_line_would_say(option: str) -> None:
    environment = {**os.environ, "COLUMNS": "80"}
    said = subprocess.run(
        [sys.executable, "-c", "from orchestrator.cli.main import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    ).stdout.replace("Usage: -c", "Usage: orchestrator")
    assert said == HELP.read_text(encoding="utf-8"), "COLUMNS=80, the help of cli.main into help.txt"
    quick = subprocess.run(
        [sys.executable, "-m", "orchestrator", option], capture_output=True, text=True, check=True
    )
    assert quick.stdout == said


def test_help_loads_no_command_line_library() -> None:
    script = (
        "import sys; sys.argv = ['orchestrator', '--help']; from orchestrator.cli.entry import main; main(); "
        "print(sorted({'typer', 'sqlalchemy', 'networkx', 'jsonschema'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "[]"
