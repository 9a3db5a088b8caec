"""The console script. `--help` is answered from a text that a test keeps current, without loading typer."""

from __future__ import annotations

import sys
from pathlib import Path

HELP = Path(__file__).with_name("help.txt")


def main() -> None:
    if sys.argv[1:] in (["--help"], ["-h"]):
        sys.stdout.write(HELP.read_text(encoding="utf-8"))
        return
    from orchestrator.cli.main import main as run

    run()
