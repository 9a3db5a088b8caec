"""The executable, as its users call it: a process in a directory of its own."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.commands import Command, run_command

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        return json.loads(self.stdout)

    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.stderr.strip().splitlines()[-1])["error"]
        return found


@dataclass(frozen=True)
class Place:
    """A directory with flows and handlers, where commands are typed."""

    directory: Path

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")}
        return {**kept, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **more}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "orchestrator", *arguments]

    def type(self, *arguments: str, stdin: str = "", **environment: str) -> Done:
        done = run_command(arguments, self.directory, self.environment(**environment), stdin)
        return Done(done.returncode, done.stdout, done.stderr)

    def begin(self, *arguments: str) -> Command:
        return Command(arguments, self.directory, self.environment())
