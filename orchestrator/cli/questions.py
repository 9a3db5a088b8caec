"""Confirmation of what cannot be undone."""

from __future__ import annotations

import sys

import typer

from orchestrator.cli.terminal import is_terminal
from orchestrator.errors import UsageError


def confirm(question: str, is_given: bool) -> None:
    """Ask on the terminal; without one `--yes` must have been given."""
    if is_given:
        return
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise UsageError("this needs a confirmation: give --yes")
    if not typer.confirm(question, err=True):
        raise UsageError("not confirmed; nothing was done")
