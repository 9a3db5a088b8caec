"""`ctx.channels` and `ctx.publish`: queues as the handler was given them, plus what this call publishes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from orchestrator.binding.convert import copy_json
from orchestrator.binding.mistakes import HandlerMistake, NotLoaded, declared_as
from orchestrator.binding.staging import Staging, as_declared, as_key
from orchestrator.core.events import Message
from orchestrator.definition.model import Channel, Delivery

if TYPE_CHECKING:
    from orchestrator.core.snapshot import Snapshot


def message_to(channel: Channel, value: Any, key: str | int | None) -> Message:
    """A message of the declared type, its key given exactly where the channel is a map."""
    if channel.is_map and key is None:
        raise HandlerMistake(f"`{channel.name}` is a channel map: say which instance, publish(…, key=…)")
    if key is not None and not channel.is_map:
        raise HandlerMistake(f"`{channel.name}` is no channel map: publish to it without `key`")
    instance = None if key is None else as_key(key, f"the channel map `{channel.name}`")
    return Message(channel.name, as_declared(value, channel.type, f"a message to `{channel.name}`"), instance)


class Channels:
    """`channels[name].size`; for a channel map also `channels[name][key].size`."""

    __slots__ = ("_declared", "_snapshot", "_staging")

    def __init__(self, declared: Mapping[str, Channel], snapshot: Snapshot, staging: Staging) -> None:
        self._declared = declared
        self._snapshot = snapshot
        self._staging = staging

    def __getitem__(self, name: str) -> ChannelView:
        return ChannelView(declared_as("channel", name, self._declared), None, self._snapshot, self._staging)

    def __iter__(self) -> Iterator[str]:
        return iter(self._declared)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"channels are found by item: ctx.channels[{name!r}]")

        def __setitem__(self, name: str, value: Any) -> NoReturn:
            raise HandlerMistake(f"a message is published: ctx.publish({name!r}, …)")

        def __delitem__(self, name: str) -> NoReturn:
            raise HandlerMistake("messages are taken by waits, not deleted")


class ChannelView:
    """One channel, or one instance of a channel map."""

    __slots__ = ("_channel", "_key", "_snapshot", "_staging")

    def __init__(self, channel: Channel, key: str | None, snapshot: Snapshot, staging: Staging) -> None:
        self._channel = channel
        self._key = key
        self._snapshot = snapshot
        self._staging = staging

    def __getitem__(self, key: str | int) -> ChannelView:
        if not self._channel.is_map or self._key is not None:
            raise HandlerMistake(f"`{self._channel.name}` is no channel map: it has no instances")
        instance = as_key(key, f"the channel map `{self._channel.name}`")
        return ChannelView(self._channel, instance, self._snapshot, self._staging)

    @property
    def size(self) -> int:
        """Unread messages, the staged ones of this call too; of a map without key: of all instances."""
        name, key = self._channel.name, self._key
        sizes = self._committed_sizes()
        for message in self._staging.publishes:
            if message.channel == name:
                queued = 0 if self._channel.delivery is Delivery.LATEST else sizes.get(message.key, 0)
                sizes[message.key] = queued + 1
        return sum(sizes.values()) if key is None else sizes.get(key, 0)

    def _committed_sizes(self) -> dict[str | None, int]:
        name = self._channel.name
        if not self._channel.is_map:
            return {None: self._snapshot.channel_sizes.get(name, 0)}
        sizes: dict[str | None, int] = {}
        sizes.update(self._snapshot.map_channel_sizes.get(name, {}))
        return sizes

    @property
    def messages(self) -> list[Any]:
        """The unread messages, oldest first; the method must have asked for them in `loads`."""
        name, key, loaded = self._channel.name, self._key, self._snapshot.messages
        if self._channel.is_map and key is None:
            raise HandlerMistake(f"`{name}` is a channel map: say which instance, channels[{name!r}][key]")
        if (name, key) not in loaded and (name, None) not in loaded:
            instance = f"channel: {name}" if key is None else f"channel: {name}, key: {key}"
            raise NotLoaded(
                f"the messages of `{name}` are not loaded: "
                f"declare `loads: [{{{instance}}}]` beside the handler"
            )
        return [copy_json(message) for message in loaded.get((name, key), ())]
