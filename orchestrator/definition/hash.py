"""The hash of a definition: what a run is pinned to. Cosmetic edits leave it alone."""

from __future__ import annotations

import hashlib
import json

from orchestrator.definition.keys import DATA, EFFECTS, KEYS, LABEL, SCHEMA, Named, Shape
from orchestrator.definition.model import Json

_SCHEMA_NOTES = frozenset({"description", "title", "$comment", "examples"})
_SCHEMAS_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SCHEMA_DATA = frozenset({"enum", "const", "default", "required", "dependentRequired"})


def hash_definition(document: Json) -> str:
    """`sha256:…` over canonical JSON without descriptions, layout, `x-…` keys and the `version` label."""
    canonical = _canonical(document, "flow")
    if canonical.get("language") == 1:
        del canonical["language"]
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(node: Json, shape: Shape) -> Json:
    if shape is DATA:
        return node
    if shape is SCHEMA:
        return _canonical_schema(node)
    if shape is EFFECTS and isinstance(node, dict):
        return {key: _canonical_entries(value) for key, value in node.items() if not key.startswith("x-")}
    if isinstance(node, list):
        return [_canonical(item, "entry" if shape is EFFECTS else shape) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(shape, Named):
        pairs = [
            [key, _canonical(value, shape.of)] for key, value in node.items() if not key.startswith("x-")
        ]
        return pairs if shape.is_ordered else dict(pairs)
    known = KEYS.get(shape, {}) if isinstance(shape, str) else {}
    return {
        key: _canonical(value, known.get(key, DATA)) if isinstance(value, dict | list) else value
        for key, value in node.items()
        if not key.startswith("x-") and known.get(key) is not LABEL
    }


def _canonical_entries(node: Json) -> Json:
    """Entries of a map: of two equal computed keys the later wins, so there the order counts."""
    if isinstance(node, dict) and any("${" in key for key in node):
        return [[key, value] for key, value in node.items()]
    return node


def _canonical_schema(node: Json) -> Json:
    """A JSON Schema without its notes; names of properties are no keywords."""
    if isinstance(node, list):
        return [_canonical_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for key, value in node.items():
        if key in _SCHEMA_NOTES or key.startswith("x-"):
            continue
        if key in _SCHEMAS_BY_NAME and isinstance(value, dict):
            kept[key] = {name: _canonical_schema(schema) for name, schema in value.items()}
        else:
            kept[key] = value if key in _SCHEMA_DATA else _canonical_schema(value)
    return kept
