"""`orchestrator init`: a project to begin with."""

from __future__ import annotations

from typing import Annotated

import typer


def init(
    directory: Annotated[str, typer.Argument(metavar="[DIR]", help="Made when it is not there.")] = ".",
) -> None:
    """Make a new project.

    A flow, its handlers, a test, a CI workflow and a pre-commit hook that lint.
    """
    from orchestrator.cli.project import write_project
    from orchestrator.cli.terminal import note, say

    for path in write_project(directory):
        say(path)
    place = "" if directory == "." else f"cd {directory} && "
    note(f"next: {place}orchestrator lint flows/")
