"""What may come from outside: messages to external channels, and RPCs; each so many times at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.core.rpcs import is_read_only
from orchestrator.definition.model import Flow

DEFAULT = (0, 2)
"""Least and most."""


@dataclass(frozen=True, slots=True)
class Source:
    """A channel or an RPC."""

    channel: str | None
    rpc: str | None
    budget: int


def sources_of(flow: Flow, external: Mapping[str, tuple[int, int]]) -> tuple[Source, ...]:
    channels = [
        Source(name, None, external.get(name, DEFAULT)[1])
        for name, channel in flow.channels.items()
        if channel.is_external
    ]
    rpcs = [
        Source(None, name, external.get(name, DEFAULT)[1])
        for name, rpc in flow.rpcs.items()
        if not is_read_only(rpc)
    ]
    return (*channels, *rpcs)


def external_of(flow: Flow) -> dict[str, tuple[int, int]]:
    """The author's bounds (`verify.external`): `[least, most]`, or the most."""
    found = {}
    for name, bounds in flow.verify.get("external", {}).items():
        found[name] = (0, bounds) if isinstance(bounds, int) else (bounds[0], bounds[-1])
    return found
