"""`--help` answers at once and loads nothing heavy."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command import ROOT, Place

COMMANDS = [
    "init",
    "lint",
    "verify",
    "check",
    "graph",
    "render",
    "show",
    "run",
    "start",
    "worker",
    "publish",
    "describe",
    "history",
    "list",
    "wait",
    "watch",
    "stop",
    "explain",
    "time-travel",
    "pause",
    "resume",
    "db",
    "queues",
]
HEAVY = ["sqlalchemy", "networkx", "jsonschema", "rich", "pydantic", "graphviz", "cel_expr_python", "msgspec"]
PROBE = """
import sys
from orchestrator.cli.main import invoke
code = invoke(sys.argv[1:])
loaded = sorted({name.partition(".")[0] for name in sys.modules} & set(%r))
print(code, loaded, file=sys.stderr)
"""


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_loads_nothing_heavy(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE % HEAVY, *([command] if command else []), "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip() == "0 []"
    assert "Usage: orchestrator" in done.stdout


def test_help_names_every_command(place: Place) -> None:
    done = place.type("--help")
    assert done.code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in done.stdout


def test_without_words_the_help_is_shown(place: Place) -> None:
    assert "Usage: orchestrator" in place.type().stdout + place.type().stderr


def test_version(place: Place) -> None:
    done = place.type("--version")
    assert (done.code, done.stdout.split()[0]) == (0, "orchestrator")


@pytest.mark.parametrize("words", [["fly"], ["graph"], ["describe"], ["stop", "x", "--type", "gently"]])
def test_a_command_line_that_makes_no_sense_is_a_usage_error(place: Place, words: list[str]) -> None:
    done = place.type(*words)
    assert (done.code, done.stdout) == (2, "")
    assert "error:" in done.stderr


def test_help_takes_less_than_a_fifth_of_a_second(place: Place, tmp_path: Path) -> None:
    """Of the processor's time, with compiled code, the best of some; on a machine that is busy, or slow, less
    than twice what it takes there to import typer alone."""
    environment = place.environment(PYTHONPYCACHEPREFIX=str(tmp_path / "cache"))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def seconds(command: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    turns = [
        (seconds(place.command("--help")), seconds([sys.executable, "-c", "import typer"])) for _ in range(6)
    ]
    best_of_help, best_of_typer = (min(times) for times in zip(*turns, strict=True))
    assert best_of_help < max(0.2, 2 * best_of_typer)
