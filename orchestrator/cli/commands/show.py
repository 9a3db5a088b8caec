"""`orchestrator show`: a flow as a tree."""

from __future__ import annotations

from orchestrator.cli.options import FlowPath

BEGINNINGS = {
    "waits for ": "magenta",
    "publish to ": "yellow",
    "on failure ": "red",
    "→ ": "blue",
    "step ": "bold",
}
"""How a line that begins so is painted on a terminal: a step up to its description, others whole."""


def show(path: FlowPath) -> None:
    """Print a flow as a tree."""
    from orchestrator.cli.flow_files import load_named
    from orchestrator.cli.terminal import say
    from orchestrator.render.tree import tree

    for line in tree(load_named(path)).splitlines():
        say(painted(line))


def painted(line: str) -> str:
    import sys

    from orchestrator.cli.terminal import paint

    text = line.lstrip("│├└─ ")
    stem = paint(line[: len(line) - len(text)], "dim", stream=sys.stdout)
    for beginning, style in BEGINNINGS.items():
        if text.startswith(beginning):
            head, colon, rest = text.partition(":") if beginning == "step " else (text, "", "")
            return f"{stem}{paint(head, style, stream=sys.stdout)}{colon}{rest}"
    return f"{stem}{text}"
