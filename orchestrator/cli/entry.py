"""The console script. `--help` is answered from a text that a test keeps current, without loading typer."""

from __future__ import annotations

import sys
from pathlib import Path

from orchestrator.cli.streams import prepare

HELP = Path(__file__).with_name("help.txt")


def main() -> None:
    prepare()
    if sys.argv[1:] in (["--help"], ["-h"]):
        try:
            sys.stdout.write(HELP.read_text(encoding="utf-8"))
            sys.stdout.flush()
        except OSError:
            pass  # fails once more below, where that is told
        else:
            return
    try:
        from orchestrator.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()
