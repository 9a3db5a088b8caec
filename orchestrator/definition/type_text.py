"""Types as text: `list of ContractEdit`, `string or none` (language.md, section 2, "Types")."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from orchestrator.definition.model import Json, Path
from orchestrator.definition.nearness import nearest

PLAIN: Mapping[str, Mapping[str, Json]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "object": {"type": "object"},
    "array": {"type": "array"},
    "any": {},
    "none": {"type": "null"},
}
_OTHER_NAMES = {
    "null": "none", "None": "none", "nil": "none", "void": "none",
    "int": "integer", "long": "integer", "int64": "integer",
    "float": "number", "double": "number", "decimal": "number",
    "str": "string", "text": "string", "bool": "boolean",
    "dict": "object", "map": "object", "mapping": "object", "list": "array",
    "datetime": "{type: string, format: date-time}", "timestamp": "{type: string, format: date-time}",
}  # fmt: skip
_SAID_ELSEWHERE = ("title", "description", "examples", "$comment", "default")
_LISTS_LIMIT = 50
_TYPE_OF_JSON = {"null": "none"}
REFERENCE = "#/types/"


class TypeProblem(Exception):
    """A type that cannot be understood; `at` leads to the wrong part inside the node."""

    def __init__(self, message: str, help: str = "", at: Path = ()) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.at = at


def read_text(text: str, names: Mapping[str, Json]) -> dict[str, Json]:
    """The schema that a type written as text stands for."""
    words = text.split()
    alternatives: list[list[str]] = [[]]
    for word in words:
        if word == "or":
            alternatives.append([])
        else:
            alternatives[-1].append(word)
    if not words or not all(alternatives):
        raise TypeProblem(f"`{text}` is not a type", "write a type on both sides of `or`" if words else "")
    schemas = [_read_alternative(words, text, names) for words in alternatives]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _read_alternative(words: list[str], text: str, names: Mapping[str, Json]) -> dict[str, Json]:
    depth = 0
    while words[:2] == ["list", "of"]:
        depth, words = depth + 1, words[2:]
    if depth > _LISTS_LIMIT:
        raise TypeProblem(f"a list of a list of …, {depth} times, is more than {_LISTS_LIMIT}")
    if not words:
        raise TypeProblem(f"`{text}` does not say what the list is of", "write `list of string`")
    if len(words) > 1:
        raise TypeProblem(f"`{text}` is not a type", _help_with(text))
    schema = _read_name(words[0], text, names)
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def _read_name(name: str, text: str, names: Mapping[str, Json]) -> dict[str, Json]:
    if name in PLAIN:
        return dict(PLAIN[name])
    if name in names:
        return {"$ref": REFERENCE + name}
    if not re.fullmatch(r"\w+", name):
        raise TypeProblem(f"`{text}` is not a type", _help_with(text))
    raise TypeProblem(f"there is no type `{name}`", help_for_name(name, names))


def help_for_name(name: str, names: Mapping[str, Json]) -> str:
    """What the author of an unknown type name probably meant."""
    if name in _OTHER_NAMES:
        return f"write `{_OTHER_NAMES[name]}`"
    found = nearest(name, [*names, *PLAIN])
    if found is not None:
        return f"did you mean `{found}`?"
    return "declare it under `types`, or use " + ", ".join(PLAIN)


def _help_with(text: str) -> str:
    if "|" in text:
        return "write `" + re.sub(r"\s*\|\s*", " or ", text).replace("null", "none") + "`"
    if text.endswith("?"):
        return f"write `{text[:-1]} or none`"
    if text.endswith("[]"):
        return f"write `list of {text[:-2]}`"
    if matched := re.fullmatch(r"(?:list|List|array)\s*[\[<(]\s*(.+?)\s*[\])>]", text):
        return f"write `list of {matched[1]}`"
    return "a type is a name, `list of T`, `A or B`, or a JSON Schema"


def spell(schema: Json) -> str:
    """The text that an author would write for a schema."""
    if schema is True or schema == {}:
        return "any"
    if not isinstance(schema, dict):
        return compact(schema)
    keys = {key for key in schema if key not in _SAID_ELSEWHERE}
    if not keys:
        return "any"
    if keys == {"$ref"} and str(schema["$ref"]).startswith(REFERENCE):
        return str(schema["$ref"])[len(REFERENCE) :]
    if keys == {"type"}:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return " or ".join(str(_TYPE_OF_JSON.get(kind, kind)) for kind in kinds)
    if keys == {"type", "items"} and schema["type"] == "array":
        inner = spell(schema["items"])
        return f"list of {inner}" if " or " not in inner else compact(schema)
    if keys == {"anyOf"}:
        return " or ".join(spell(part) for part in schema["anyOf"])
    return compact({key: value for key, value in schema.items() if key in keys})


def compact(schema: Json) -> str:
    """Flow-style YAML on one line."""
    if isinstance(schema, dict):
        return "{" + ", ".join(f"{key}: {compact(value)}" for key, value in schema.items()) + "}"
    if isinstance(schema, list):
        return "[" + ", ".join(compact(value) for value in schema) + "]"
    if isinstance(schema, str) and re.fullmatch(r"[A-Za-z_#/][\w/.-]*", schema) and schema[0] != "#":
        return schema
    return json.dumps(schema, ensure_ascii=False)
