"""The graph as JSON, byte-stable (contract: `graph -o json`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx


def to_json(graph: nx.MultiDiGraph[str]) -> str:
    """Nodes sorted by id, edges by source, target, kind and label."""
    nodes = [{"id": node, **attributes} for node, attributes in sorted(graph.nodes.items())]
    edges: list[dict[str, Any]] = [
        {"source": source, "target": target, **attributes}
        for source, target, attributes in graph.edges(data=True)
    ]
    edges.sort(key=lambda edge: (edge["source"], edge["target"], edge["kind"], edge.get("label", "")))
    document = {"flow": graph.graph["flow"], "start": graph.graph["start"], "nodes": nodes, "edges": edges}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
