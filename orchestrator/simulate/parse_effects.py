"""Messages and writes as rehearsals spell them: `{channel: value}`, `{attribute: value}`, by key for maps."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.events import Message, Write
from orchestrator.definition.model import Flow, Json, Path
from orchestrator.definition.reading import Reading, shown
from orchestrator.simulate.forms import read_keys

_LONG = ("channel", "key", "value")


def read_messages(
    reading: Reading, node: Json, path: Path, flow: Flow | None, *, is_client: bool
) -> tuple[Message, ...]:
    """A mapping `{channel: value}`, `{channel: c, key: k, value: v}`, or a list of such.

    `flow` None: the run of another flow, whose names are not known here.
    """
    if isinstance(node, list):
        return tuple(
            message
            for index, item in enumerate(node)
            for message in read_messages(reading, item, (*path, index), flow, is_client=is_client)
        )
    if not isinstance(node, dict) or not node:
        what = shown(node) if node else "empty"
        reading.report(
            "SCH003", path, f"`publish` names channels and values, not {what}", help="{channel: value}"
        )
        return ()
    has_channel_named_channel = flow is not None and "channel" in flow.channels
    if "channel" in node and not has_channel_named_channel:
        found = _read_long(reading, node, path, flow)
    else:
        found = list(_read_short(reading, node, path, flow))
    if is_client and flow is not None:
        _require_external(reading, found, flow)
    return tuple(message for message, _ in found)


def _read_long(reading: Reading, node: Json, path: Path, flow: Flow | None) -> list[tuple[Message, Path]]:
    fields = read_keys(reading, node, path, _LONG, "`publish`")
    if fields is None:
        return []
    channel = _read_channel(reading, fields["channel"], fields.at("channel"), flow, is_key=False)
    key = fields.values.get("key")
    if channel is None or not _is_key_right(reading, channel, key, path, flow):
        return []
    return [(Message(channel, fields.values.get("value"), None if key is None else str(key)), path)]


def _read_short(
    reading: Reading, node: dict[str, Json], path: Path, flow: Flow | None
) -> Iterator[tuple[Message, Path]]:
    for name, value in node.items():
        at = (*path, name)
        channel = _read_channel(reading, name, at, flow, is_key=True)
        if channel is None:
            continue
        if flow is None or not flow.channels[channel].is_map:
            yield Message(channel, value), at
        elif isinstance(value, dict) and value:
            for key, entry in value.items():
                yield Message(channel, entry, key), (*at, key)
        else:
            reading.report(
                "SCH003",
                at,
                f"channel `{channel}` is a map: name the instance",
                help=f"{{{channel}: {{key: value}}}}",
            )


def _read_channel(reading: Reading, node: Json, path: Path, flow: Flow | None, *, is_key: bool) -> str | None:
    if flow is not None:
        return reading.read_reference(node, path, "channel", is_key=is_key)
    return reading.read_text(node, path, "the name of a channel")


def _is_key_right(reading: Reading, channel: str, key: Json, path: Path, flow: Flow | None) -> bool:
    if flow is None or flow.channels[channel].is_map == (key is not None):
        return True
    if key is None:
        reading.report("SCH002", path, f"channel `{channel}` is a map: `publish` needs `key`")
    else:
        reading.report("SCH008", (*path, "key"), f"channel `{channel}` is not a map: it takes no `key`")
    return False


def _require_external(reading: Reading, found: list[tuple[Message, Path]], flow: Flow) -> None:
    for message, path in found:
        if not flow.channels[message.channel].is_external:
            reading.report(
                "RHS003",
                path,
                f"clients cannot publish to `{message.channel}`",
                help="declare the channel with `external: true`, or let a handler or an RPC publish",
                is_about_key=True,
            )


def read_writes(reading: Reading, node: Json, path: Path, flow: Flow) -> tuple[Write, ...]:
    """`{status: done, progress: {payment: ok}}`; null deletes."""
    writes: list[Write] = []
    for name, value, at in reading.read_named(node, path, "`set`"):
        attribute = reading.read_reference(name, at, "attribute", is_key=True)
        if attribute is None:
            continue
        if not flow.attributes[attribute].is_map or value is None:
            writes.append(Write(attribute, value))
        elif isinstance(value, dict):
            writes += [Write(attribute, entry, key) for key, entry in value.items()]
        else:
            reading.report(
                "SCH003", at, f"attribute `{attribute}` is a map: write its entries", help="{key: value}"
            )
    return tuple(writes)
