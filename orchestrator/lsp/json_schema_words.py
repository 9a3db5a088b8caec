"""Inside the JSON Schemas of a flow, of which the flow schema says nothing: keywords and their words."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.definition.formats import FORMATS
from orchestrator.definition.model import Path
from orchestrator.definition.type_text import REFERENCE

_KEYWORDS = (
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "default",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "additionalProperties",
    "anyOf",
    "description",
    "$ref",
)
_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_NAMES_BELOW = ("properties", "patternProperties", "$defs")
"""The keys of these are the author's."""
_DECLARATIONS = ("attributes", "channels", "joins")


def is_json_schema(path: Path) -> bool:
    """A place inside a schema, by the path to a mapping or to one of its values."""
    match path:
        case ("types", str(), *_):
            return True
        case (section, str(), "type", _, *_) if section in _DECLARATIONS:
            return True
        case ("input" | "output", _, *_):
            return True
        case ("steps" | "rpcs", str(), "input" | "output", _, *_):
            return True
        case (*_, "result", "type", _):
            return True
        case _:
            return False


def json_schema_keywords(parent: Path) -> tuple[str, ...]:
    return () if parent[-1] in _NAMES_BELOW else _KEYWORDS


def json_schema_words(path: Path, types: Iterable[str]) -> list[str]:
    """The values of a keyword; none for most."""
    match path[-1]:
        case "type":
            return list(_TYPES)
        case "format":
            return list(FORMATS)
        case "$ref":
            return [f'"{REFERENCE}{name}"' for name in types]
        case "additionalProperties":
            return ["true", "false"]
        case _:
            return []
