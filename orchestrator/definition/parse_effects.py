"""What a decision or an accepted wait does to the run: `set`, `publish`, `report`, and cancels."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.definition.expressions import Value
from orchestrator.definition.model import Effect, Join, Json, Path, Publish, Report, SetAttribute
from orchestrator.definition.parse_handlers import Declared
from orchestrator.definition.parse_values import Scope, read_key, read_repetition, read_value
from orchestrator.definition.reading import Fields, Reading, shown
from orchestrator.definition.types import Type, parse_type

_NONE = parse_type("none", {})


@dataclass(frozen=True)
class Effects:
    effects: tuple[Effect, ...] = ()
    cancel: tuple[str, ...] = ()
    cancel_siblings: tuple[str, ...] = ()
    cancel_round: str | None = None


def read_effects(fields: Fields, declared: Declared, joins: dict[str, Join], scope: Scope) -> Effects:
    """The effects among a mapping's keys, in the order written."""
    reading = fields.reading
    effects: list[Effect] = []
    for key in fields.values:
        if key == "set":
            effects.extend(_read_sets(reading, fields[key], fields.at(key), declared, scope))
        elif key == "publish":
            effects.extend(_read_publishes(reading, fields[key], fields.at(key), declared, scope))
        elif key == "report":
            effects.extend(_read_reports(reading, fields[key], fields.at(key), joins, scope))
    cancel: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    cancel_round = None
    if "cancel" in fields:
        cancel = reading.read_references(fields["cancel"], fields.at("cancel"), "step", "`cancel`")
    if "cancel_siblings" in fields:
        path = fields.at("cancel_siblings")
        siblings = reading.read_references(fields["cancel_siblings"], path, "step", "`cancel_siblings`")
    if "cancel_round" in fields:
        cancel_round = reading.read_reference(fields["cancel_round"], fields.at("cancel_round"), "join")
    return Effects(tuple(effects), cancel, siblings, cancel_round)


# --- set ---------------------------------------------------------------------------------------------------


def _read_sets(reading: Reading, node: Json, path: Path, declared: Declared, scope: Scope) -> list[Effect]:
    if isinstance(node, list):
        entries = enumerate(reading.read_list(node, path, "`set`") or [])
        found = [_read_set_entry(reading, item, (*path, index), declared, scope) for index, item in entries]
        return [effect for effect in found if effect is not None]
    effects: list[Effect] = []
    for name, item, at in reading.read_named(node, path, "`set`", help="write set: {attribute: value}"):
        if (
            reading.read_reference(name, at, "attribute", is_key=True) is None
            or name not in declared.attributes
        ):
            continue
        attribute = declared.attributes[name]
        nullable = attribute.type.or_null  # null deletes, also where the type does not admit it
        if not attribute.is_map:
            value = read_value(reading, item, at, scope, f"`{name}`", nullable)
            effects += [SetAttribute(attribute=name, value=value, path=at)] if value is not None else []
        elif isinstance(item, dict):
            pairs = _read_map(reading, item, at, scope, name, nullable)
            effects += [SetAttribute(attribute=name, key=key, value=value, path=p) for key, value, p in pairs]
        else:
            value = _read_deletion(reading, item, at, scope, name)
            effects += [SetAttribute(attribute=name, value=value, path=at)] if value is not None else []
    return effects


def _read_set_entry(
    reading: Reading, node: Json, path: Path, declared: Declared, scope: Scope
) -> Effect | None:
    fields = reading.read_mapping(node, path, "set", "an entry of `set`")
    if fields is None:
        return None
    repetition = read_repetition(fields, scope)
    inner = repetition.scope
    name = None
    if fields.require("attribute"):
        name = reading.read_reference(fields["attribute"], fields.at("attribute"), "attribute")
    attribute = declared.attributes.get(name) if name is not None else None
    key = None
    if "key" in fields:
        if attribute is not None and not attribute.is_map:
            fields.refuse(("key",), f"needs an attribute map, and `{name}` is none")
        else:
            key = read_key(reading, fields["key"], fields.at("key"), inner, "`key`")
    if not fields.require("value", help="`value: null` deletes"):
        return None
    at = fields.at("value")
    if attribute is not None and attribute.is_map and "key" not in fields:
        value = _read_deletion(reading, fields["value"], at, inner, attribute.name)
    else:
        expected = attribute.type.or_null if attribute is not None else None
        value = read_value(reading, fields["value"], at, inner, f"`{name}`", expected)
    if attribute is None or value is None:
        return None
    return SetAttribute(
        attribute=attribute.name,
        key=key,
        value=value,
        when=repetition.when,
        for_each=repetition.for_each,
        as_name=repetition.as_name,
        path=path,
    )


def _read_deletion(reading: Reading, node: Json, path: Path, scope: Scope, name: str) -> Value | None:
    """The value of a whole attribute map: only null, which deletes all its entries."""
    value = read_value(reading, node, path, scope, f"`{name}`")
    if value is None:
        return None
    if not fits_silently(value, _NONE):
        message = f"`{name}` is an attribute map: give each value under its key, not {shown(node)}"
        reading.report(
            "SCH003", path, message, help=f"write {name}: {{key: value}}, or null to delete all entries"
        )
        return None
    return value


def fits_silently(value: Value, expected: Type) -> bool:
    if value.is_literal:
        return bool(value.evaluate({}) is None)
    return value.type.fits(expected) is None


# --- publish and report ------------------------------------------------------------------------------------


def _read_publishes(
    reading: Reading, node: Json, path: Path, declared: Declared, scope: Scope
) -> list[Effect]:
    if isinstance(node, list):
        entries = enumerate(reading.read_list(node, path, "`publish`") or [])
        found = [
            _read_publish_entry(reading, item, (*path, index), declared, scope) for index, item in entries
        ]
        return [effect for effect in found if effect is not None]
    effects: list[Effect] = []
    for name, item, at in reading.read_named(node, path, "`publish`", help="write publish: {channel: value}"):
        if reading.read_reference(name, at, "channel", is_key=True) is None or name not in declared.channels:
            continue
        channel = declared.channels[name]
        if not channel.is_map:
            value = read_value(reading, item, at, scope, f"a message of `{name}`", channel.type)
            effects += [Publish(channel=name, value=value, path=at)] if value is not None else []
        elif isinstance(item, dict):
            pairs = _read_map(reading, item, at, scope, name, channel.type)
            effects += [Publish(channel=name, key=key, value=value, path=p) for key, value, p in pairs]
        else:
            message = f"`{name}` is a channel map: give each message under its key, not {shown(item)}"
            reading.report("SCH003", at, message, help=f"write {name}: {{key: value}}")
    return effects


def _read_publish_entry(
    reading: Reading, node: Json, path: Path, declared: Declared, scope: Scope
) -> Effect | None:
    fields = reading.read_mapping(node, path, "publish", "an entry of `publish`")
    if fields is None:
        return None
    repetition = read_repetition(fields, scope)
    inner = repetition.scope
    name = None
    if fields.require("channel"):
        name = reading.read_reference(fields["channel"], fields.at("channel"), "channel")
    channel = declared.channels.get(name) if name is not None else None
    key = read_channel_key(fields, name, declared, inner)
    if not fields.require("value", help="`value: null` publishes null"):
        return None
    expected = channel.type if channel is not None else None
    value = read_value(
        reading, fields["value"], fields.at("value"), inner, f"a message of `{name}`", expected
    )
    if channel is None or value is None:
        return None
    return Publish(
        channel=channel.name,
        key=key,
        value=value,
        when=repetition.when,
        for_each=repetition.for_each,
        as_name=repetition.as_name,
        path=path,
    )


def read_channel_key(fields: Fields, name: str | None, declared: Declared, scope: Scope) -> Value | None:
    """`key` is needed for a channel map and refused for any other channel."""
    channel = declared.channels.get(name) if name is not None else None
    if channel is not None and channel.is_map:
        if not fields.require("key", help=f"`{name}` is a channel map: say which of its channels"):
            return None
    elif channel is not None:
        fields.refuse(("key",), f"needs a channel map, and `{name}` is none")
    if "key" not in fields:
        return None
    return read_key(fields.reading, fields["key"], fields.at("key"), scope, "`key`")


def _read_map(
    reading: Reading, node: dict[str, Json], path: Path, scope: Scope, name: str, expected: Type
) -> list[tuple[Value, Value, Path]]:
    """Keys, which may be expressions, and values of a map."""
    pairs = []
    for key_text, item in node.items():
        at = (*path, key_text)
        key = _read_map_key(reading, key_text, at, scope)
        value = read_value(reading, item, at, scope, f"an entry of `{name}`", expected)
        if key is not None and value is not None:
            pairs.append((key, value, at))
    return pairs


def _read_map_key(reading: Reading, key_text: str, path: Path, scope: Scope) -> Value | None:
    """Problems of a key stand at the key, whose text has no path of its own."""
    count = len(reading.problems)
    key = read_key(reading, key_text, path, scope, "the key")
    if len(reading.problems) > count:
        problem = reading.withdraw()
        reading.report(problem.code, path, problem.message, help=problem.help, is_about_key=True)
    return key


def _read_reports(
    reading: Reading, node: Json, path: Path, joins: dict[str, Join], scope: Scope
) -> list[Effect]:
    reports: list[Effect] = []
    for name, item, at in reading.read_named(node, path, "`report`"):
        known = reading.read_reference(name, at, "join", is_key=True)
        expected = joins[name].type if name in joins else None
        value = read_value(reading, item, at, scope, f"a report to `{name}`", expected)
        if known is not None and value is not None:
            reports.append(Report(join=name, value=value, path=at))
    return reports
