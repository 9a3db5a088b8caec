"""Types, attributes, channels, joins, the flow's timeout and what the verifier is told."""

from __future__ import annotations

import re
from datetime import timedelta

from orchestrator.definition.keys import KEYS
from orchestrator.definition.model import (
    Attribute,
    Channel,
    Delivery,
    FlowTimeout,
    Join,
    Json,
    Path,
    TimeoutPolicy,
)
from orchestrator.definition.parse_values import read_type
from orchestrator.definition.reading import Fields, Reading, shown
from orchestrator.definition.schema_form import JSON_TYPES
from orchestrator.definition.types import ANY, Type
from orchestrator.errors import InvalidValue

INDEXES = ("keyword", "keyword_array", "text", "int", "double", "bool", "datetime")
_RESERVED_TYPE_NAMES = frozenset(
    ["string", "integer", "number", "boolean", "object", "array", "any", "none", "list", "of", "or", "null"]
)
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")


def read_modules(reading: Reading, node: Json, path: Path) -> tuple[str, ...]:
    """`handlers`: a module, or a list of modules."""
    nodes = [(node, path)]
    if isinstance(node, list):
        found = reading.read_list(node, path, "`handlers`", allows_empty=True) or []
        nodes = [(item, (*path, index)) for index, item in enumerate(found)]
    modules = []
    for item, at in nodes:
        module = reading.read_text(item, at, "a module of handlers")
        if module is not None and _MODULE.match(module) is None:
            help = "write it as in Python's import: package.module"
            reading.report("SCH012", at, f"`{module}` is not the name of a Python module", help=help)
        elif module is not None:
            modules.append(module)
    return tuple(modules)


def read_types(reading: Reading, node: Json, path: Path) -> dict[str, Json]:
    """Named schemas, as written; a wrong one becomes "anything", so that it is reported once."""
    types: dict[str, Json] = {}
    places: dict[str, Path] = {}
    for name, schema, at in reading.read_named(node, path, "`types`"):
        types[name] = {}
        if reading.read_identifier(name, at, "type", is_key=True) is None:
            continue
        if name in _RESERVED_TYPE_NAMES:
            message = f"type `{name}` has the name of a built-in type"
            reading.report("NAM001", at, message, help="choose another name", is_about_key=True)
        elif not isinstance(schema, dict | bool):
            message = f"type `{name}` is a JSON Schema, not {shown(schema)}"
            reading.report("TYP001", at, message, help=_as_schema(schema))
        else:
            types[name] = schema
            places[name] = at
    for name, at in places.items():
        if read_type(reading, types[name], at, types) is None:
            types[name] = {}
    return types


def _as_schema(word: Json) -> str:
    if not isinstance(word, str):
        return ""
    if word in JSON_TYPES:
        return f"write {{type: {word}}}"
    if word.startswith("list of "):
        return "write list of T as {type: array, items: …}"
    return "write A or B as {anyOf: [A, B]}, another type as {$ref: '#/types/Name'}"


# --- Attributes, channels, joins ---------------------------------------------------------------------------


def read_attributes(reading: Reading, node: Json, path: Path, types: dict[str, Json]) -> dict[str, Attribute]:
    attributes = {}
    for name, item, at in reading.read_named(node, path, "`attributes`"):
        reading.read_identifier(name, at, "attribute", is_key=True)
        declaration = _read_declaration(reading, item, at, "attribute", name, types)
        fields, type_ = declaration
        if fields is None:
            attributes[name] = Attribute(name=name, type=type_, path=at)
            continue
        is_map = fields.flag("map")
        index, index_key = _read_index(fields, is_map)
        attributes[name] = Attribute(
            name=name,
            type=type_,
            is_map=is_map,
            initial=_read_initial(fields, type_, is_map) if "initial" in fields else None,
            index=index,
            index_key=index_key,
            sync=fields.flag("sync"),
            description=fields.text("description"),
            path=at,
        )
    return attributes


def _read_declaration(
    reading: Reading, node: Json, path: Path, kind: str, name: str, types: dict[str, Json]
) -> tuple[Fields | None, Type]:
    """A type, or a mapping that declares one; a mapping is always the declaration."""
    if not isinstance(node, dict):
        return None, read_type(reading, node, path, types) or ANY
    if "type" in node and any(key in node for key in ("format", "properties", "items", "enum")):
        keys = next(key for key in ("format", "properties", "items", "enum") if key in node)
        reading.report(
            "SCH001",
            (*path, keys),
            f"unknown key `{keys}` in {kind} `{name}`",
            help="an inline schema goes under `type`: {type: {type: …}}",
            is_about_key=True,
        )
        node = {key: value for key, value in node.items() if key in KEYS[kind]}
    fields = reading.read_mapping(node, path, kind, f"{kind} `{name}`")
    if fields is None or not fields.require("type", help="an inline schema goes under `type`"):
        return fields, ANY
    return fields, read_type(reading, fields["type"], fields.at("type"), types) or ANY


def _read_index(fields: Fields, is_map: bool) -> tuple[str | None, str | None]:
    if "index" not in fields:
        return None, None
    reading, node, path = fields.reading, fields["index"], fields.at("index")
    key = None
    if isinstance(node, dict):
        inner = reading.read_mapping(node, path, "index", "`index`")
        if inner is None or not inner.require("type", help="one of " + ", ".join(INDEXES)):
            return None, None
        kind = reading.read_word(inner["type"], inner.at("type"), "`type` of an index", INDEXES)
        if "key" in inner:
            key = reading.read_text(inner["key"], inner.at("key"), "`key` of an index")
    else:
        kind = reading.read_word(node, path, "`index`", INDEXES)
    if is_map and kind is not None and key is None and not (isinstance(node, dict) and "key" in node):
        reading.report(
            "SCH002", path, "the index of a map needs a `key`", help=f"write {{type: {kind}, key: …}}"
        )
    return kind, key


def _read_initial(fields: Fields, type_: Type, is_map: bool) -> Json:
    reading, node, path = fields.reading, fields["initial"], fields.at("initial")
    if is_map:
        if not isinstance(node, dict):
            reading.report("SCH003", path, f"`initial` of a map is a mapping, not {shown(node)}")
            return None
        return {key: _check_initial(reading, item, (*path, key), type_) for key, item in node.items()}
    return _check_initial(reading, node, path, type_) if node is not None else None


def _check_initial(reading: Reading, node: Json, path: Path, type_: Type) -> Json:
    if isinstance(node, str) and "${" in node:
        reading.report(
            "SCH012",
            path,
            "`initial` is a literal: no expression is evaluated here",
            help="set it in the start step",
        )
        return None
    try:
        return type_.check(node)
    except InvalidValue as error:
        at = (*path, *error.data.get("at", ()))
        reading.report("TYP002", at, f"`initial`: {error.message}", help=f"its type is {type_.text}")
        return None


def read_channels(reading: Reading, node: Json, path: Path, types: dict[str, Json]) -> dict[str, Channel]:
    channels = {}
    for name, item, at in reading.read_named(node, path, "`channels`"):
        reading.read_identifier(name, at, "channel", is_key=True)
        fields, type_ = _read_declaration(reading, item, at, "channel", name, types)
        if fields is None:
            channels[name] = Channel(name=name, type=type_, path=at)
            continue
        delivery = None
        if "delivery" in fields:
            delivery = reading.read_word(
                fields["delivery"], fields.at("delivery"), "`delivery`", tuple(Delivery)
            )
        capacity = None
        if "capacity" in fields:
            capacity = reading.read_integer(
                fields["capacity"], fields.at("capacity"), "`capacity`", minimum=1
            )
        channels[name] = Channel(
            name=name,
            type=type_,
            is_external=fields.flag("external"),
            is_map=fields.flag("map"),
            delivery=Delivery(delivery) if delivery is not None else Delivery.QUEUED,
            capacity=capacity,
            leftover=fields.flag("leftover"),
            description=fields.text("description"),
            path=at,
        )
    return channels


def read_joins(reading: Reading, node: Json, path: Path, types: dict[str, Json]) -> dict[str, Join]:
    joins = {}
    for name, item, at in reading.read_named(node, path, "`joins`"):
        reading.read_identifier(name, at, "join", is_key=True)
        fields, type_ = _read_declaration(reading, item, at, "join", name, types)
        description = fields.text("description") if fields is not None else ""
        joins[name] = Join(name=name, type=type_, description=description, path=at)
    return joins


# --- timeout and verify ------------------------------------------------------------------------------------


def read_flow_timeout(fields: Fields) -> FlowTimeout | None:
    """`timeout`, 0 is none; `policy` defaults to `handler` where there is an `on_timeout`, else `fail`."""
    if "timeout" not in fields:
        return None
    reading, node, path = fields.reading, fields["timeout"], fields.at("timeout")
    has_handler = "on_timeout" in fields
    policy = TimeoutPolicy.HANDLER if has_handler else TimeoutPolicy.FAIL
    if not isinstance(node, dict):
        after = reading.read_duration(node, path, "`timeout`")
        return FlowTimeout(after, policy, path=path) if after else None
    inner = reading.read_mapping(node, path, "timeout", "`timeout`")
    if inner is None:
        return None
    if "policy" in inner:
        at = inner.at("policy")
        word = reading.read_word(inner["policy"], at, "`policy`", tuple(TimeoutPolicy))
        policy = TimeoutPolicy(word) if word is not None else policy
        if word == TimeoutPolicy.HANDLER and not has_handler:
            reading.report(
                "SCH002", at, "policy `handler` needs an `on_timeout`", help="declare `on_timeout`"
            )
        elif word is not None and word != TimeoutPolicy.HANDLER and has_handler:
            message = f"`on_timeout` has no place under policy `{word}`: it would never run"
            help = "remove one of them, or write policy: handler"
            reading.report(
                "SCH008",
                fields.at("on_timeout"),
                message,
                help=help,
                is_about_key=True,
                labels={"the policy": at},
            )
    if not inner.require("after", help="how long a run may take"):
        return None
    after = reading.read_duration(inner["after"], inner.at("after"), "`after`")
    if after == timedelta(0) and "policy" in inner:
        message = "a policy needs a timeout above zero: 0 means that there is none"
        reading.report("SCH008", inner.at("policy"), message, is_about_key=True)
    return FlowTimeout(after, policy, path=path) if after else None


def read_verify(reading: Reading, node: Json, path: Path) -> dict[str, Json]:
    """Section 8; kept as written once its names and shapes hold."""
    fields = reading.read_mapping(node, path, "verify", "`verify`")
    if fields is None:
        return {}
    if "fan_out" in fields:
        sizes = reading.read_list(fields["fan_out"], fields.at("fan_out"), "`fan_out`") or []
        for index, size in enumerate(sizes):
            reading.read_integer(size, (*fields.at("fan_out"), index), "a size of `fan_out`")
    if "depth" in fields:
        reading.read_integer(fields["depth"], fields.at("depth"), "`depth`")
    if "open_ended" in fields:
        fields.flag("open_ended")
    if "external" in fields:
        for name, counts, at in reading.read_named(fields["external"], fields.at("external"), "`external`"):
            if name not in reading.names["rpc"]:
                reading.read_reference(name, at, "channel", is_key=True)
            for index, count in enumerate(reading.read_list(counts, at, "how many messages") or []):
                reading.read_integer(count, (*at, index), "a number of messages")
    if "properties" in fields:
        found = reading.read_list(fields["properties"], fields.at("properties"), "`properties`") or []
        for index, item in enumerate(found):
            _check_property(reading, item, (*fields.at("properties"), index))
    return dict(fields.values)


def _check_property(reading: Reading, node: Json, path: Path) -> None:
    fields = reading.read_mapping(node, path, "property", "a property")
    if fields is None:
        return
    if len(fields.values) != 1:
        if not fields.has_unknown:
            reading.report(
                "SCH003", path, "a property is a mapping with one key: " + ", ".join(KEYS["property"])
            )
        return
    if "mutual_exclusion" in fields:
        at = fields.at("mutual_exclusion")
        reading.read_references(fields["mutual_exclusion"], at, "step", "`mutual_exclusion`")
    elif "conserved" in fields:
        reading.read_reference(fields["conserved"], fields.at("conserved"), "channel")
    elif "always_closes" in fields:
        fields.flag("always_closes")
    else:
        inner = reading.read_mapping(fields["never"], fields.at("never"), "never", "`never`")
        if inner is not None:
            for key in ("step", "with"):
                if inner.require(key):
                    reading.read_reference(inner[key], inner.at(key), "step")
