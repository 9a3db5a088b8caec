"""Annotations of handlers as types of the flow language, as far as JSON Schema can say them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.definition.model import Json
from orchestrator.definition.type_text import REFERENCE
from orchestrator.definition.types import Type

_REFERENCE_TEMPLATE = REFERENCE + "{name}"
_SCALARS = ("string", "integer", "number", "boolean", "null")
_VALUES = ("default", "enum", "const", "required", "examples")
"""Keywords that hold no schema."""


def type_of(annotation: Any, *, is_result: bool) -> Type | None:
    """None where nothing is known: no annotation, `Any`, a type with rules of its own.

    Of a result every field counts as given, since fields with a default are written too.
    """
    import msgspec

    if annotation is inspect.Parameter.empty or isinstance(annotation, str):
        return None
    if annotation is None:
        annotation = type(None)
    lifted: dict[str, Json] = {}

    def describe(custom: type) -> dict[str, Json]:
        return _schema_of_model(custom, lifted, is_result=is_result)

    try:
        (schema,), names = msgspec.json.schema_components(
            [annotation], schema_hook=describe, ref_template=_REFERENCE_TEMPLATE
        )
    except Exception:  # also what user's own hooks raise
        return None
    names = {name: _plain(each, is_result) for name, each in {**names, **lifted}.items()}
    return Type(_plain(schema, is_result), names)


def _schema_of_model(custom: type, lifted: dict[str, Json], *, is_result: bool) -> dict[str, Json]:
    """Of a pydantic model; {} says nothing. pydantic reads "5" as 5: scalars of an input say nothing."""
    describe: Callable[..., dict[str, Json]] | None = getattr(custom, "model_json_schema", None)
    if describe is None or (not is_result and _has_own_rules(custom)):
        return {}
    prefix = f"{custom.__module__}.{custom.__qualname__}."
    template = REFERENCE + prefix + "{model}"
    schema = describe(ref_template=template, mode="serialization" if is_result else "validation")
    for name, part in schema.pop("$defs", {}).items():
        lifted[prefix + name] = part if is_result else _without_scalars(part)
    return schema if is_result else _without_scalars(schema)


def _has_own_rules(model: Any) -> bool:
    """Validators that run before, and names that may be given instead of others, can make anything fit."""
    config: Mapping[str, Any] = getattr(model, "model_config", {})
    if any(config.get(key) for key in ("populate_by_name", "validate_by_name")):
        return True
    decorators = getattr(model, "__pydantic_decorators__", None)
    groups = ("field_validators", "model_validators", "root_validators", "validators")
    return any(getattr(decorators, group, None) for group in groups)


def _without_scalars(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_without_scalars(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") in _SCALARS or "enum" in schema or "const" in schema:
        return {key: schema[key] for key in ("default",) if key in schema}
    return _map_parts(schema, _without_scalars)


def _map_parts(schema: dict[str, Json], change: Callable[[Json], Json]) -> dict[str, Json]:
    """Every schema inside a schema changed; values and names are none."""
    changed = {}
    for key, part in schema.items():
        if key == "properties" and isinstance(part, dict):
            changed[key] = {name: change(each) for name, each in part.items()}
        else:
            changed[key] = part if key in _VALUES else change(part)
    return changed


def _plain(schema: Json, is_result: bool) -> Json:
    """Without what only looks like a claim: a decimal is read from text and from numbers."""
    if isinstance(schema, list):
        return [_plain(part, is_result) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal" and not is_result:
        return {}
    plain = _map_parts(schema, lambda part: _plain(part, is_result))
    if is_result and isinstance(plain.get("properties"), dict):
        plain["required"] = sorted(plain["properties"])
    return plain
