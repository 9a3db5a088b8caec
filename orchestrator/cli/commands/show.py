"""`orchestrator show`: a flow as a tree."""

from __future__ import annotations

from orchestrator.cli.options import FlowPath


def show(path: FlowPath) -> None:
    """Print a flow as a tree."""
    from orchestrator.cli.terminal import say
    from orchestrator.definition.catalogue import load
    from orchestrator.render.tree import tree

    say(tree(load(path)))
