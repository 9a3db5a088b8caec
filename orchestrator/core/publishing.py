"""Direct publishes of clients (section 4, choice 10): external channels only."""

from __future__ import annotations

from orchestrator.core.draft import Draft
from orchestrator.core.events import Message, MessagesPublished
from orchestrator.definition.model import Channel, Flow
from orchestrator.errors import InvalidValue, NotExternal, NotFound


def publish_from_client(draft: Draft, event: MessagesPublished) -> None:
    """All or none, in the order given. Raises NotFound, NotExternal, InvalidValue, ChannelFull."""
    for message in event.messages:
        channel = _find_channel(draft.flow, message)
        try:
            value = channel.type.check(message.value)
        except InvalidValue as error:
            raise InvalidValue(f"message to {channel.name}: {error.message}", **error.data) from None
        draft.publish(channel.name, message.key, value)


def _find_channel(flow: Flow, message: Message) -> Channel:
    channel = flow.channels.get(message.channel)
    if channel is None:
        known = ", ".join(sorted(flow.channels)) or "none"
        raise NotFound(f"flow {flow.name} has no channel {message.channel}; it has: {known}")
    if not channel.is_external:
        raise NotExternal(
            f"channel {channel.name} takes no messages from outside; declare it with `external: true`",
            channel=channel.name,
        )
    if channel.is_map and not message.key:
        raise InvalidValue(f"channel {channel.name} is a map: a publish needs a key", channel=channel.name)
    if not channel.is_map and message.key is not None:
        raise InvalidValue(f"channel {channel.name} is not a map: it takes no key", channel=channel.name)
    return channel
