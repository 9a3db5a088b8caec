"""`orchestrator show`: a flow as a tree."""

from __future__ import annotations

from orchestrator.cli.options import FlowPath

STYLES = (
    (r"^[│├└─ ]+", "dim"),
    (r"(?<=─ step )\w+", "bold"),
    (r"(?<=─ )(?:channel|attribute|join|rpc|step)\b", "dim"),
    (r"(?<=─ )waits for .*", "magenta"),
    (r"(?<=─ )publish to .*", "yellow"),
    (r"(?<=─ )on failure .*", "red"),
    (r"→ \w+", "blue"),
)
"""What of a line is painted how, on a terminal."""


def show(path: FlowPath) -> None:
    """Print a flow as a tree."""
    import re
    import sys

    from orchestrator.cli.terminal import paint, say
    from orchestrator.definition.catalogue import load
    from orchestrator.render.tree import tree

    for line in tree(load(path)).splitlines():
        for pattern, style in STYLES:
            line = re.sub(pattern, lambda found: paint(found[0], style, stream=sys.stdout), line, count=1)
        say(line)
