"""`orchestrator graph`: nodes and edges of a flow."""

from __future__ import annotations

from orchestrator.cli.options import FlowPath, Format, Output


def graph(path: FlowPath, output: Output = Format.JSON) -> None:
    """Print the nodes and edges of a flow."""
    import json

    from orchestrator.cli.flow_files import load_named
    from orchestrator.cli.output import emit
    from orchestrator.graph.build import build
    from orchestrator.graph.export import to_json

    emit(json.loads(to_json(build(load_named(path)))), output, edges_as_text)


def edges_as_text(document: dict[str, object]) -> str:
    """One edge a line."""
    from orchestrator.cli.layout import columns

    edges = document["edges"]
    assert isinstance(edges, list)
    rows = [[edge["source"], edge["kind"], edge["target"], edge.get("label", "")] for edge in edges]
    return "\n".join("".join(row).rstrip() for row in columns(rows))
