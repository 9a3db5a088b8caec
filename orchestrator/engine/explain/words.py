"""How an explanation speaks of numbers, spans, names and commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime

from orchestrator.definition.durations import span_words

_NAMES_SHOWN = 3


def time_words(at: datetime, now: datetime) -> str:
    """`in 30m (2030-01-01 00:30:00Z)`; `now`."""
    if at <= now:
        return "now"
    return f"in {span_words(at - now)} ({at.astimezone(UTC).strftime('%Y-%m-%d %H:%M:%SZ')})"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def names(ids: Sequence[str], conjunction: str = "and") -> str:
    """`A-1`; `A-1 and A-2`; `A-1, A-2, A-3 and 7 more`."""
    shown = list(ids[:_NAMES_SHOWN])
    more = len(ids) - len(shown)
    if more:
        shown.append(f"{more} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {conjunction} {shown[-1]}"


def queue_name(channel: str, key: str | None) -> str:
    return channel if key is None else f"{channel}[{key}]"


def command(*words: str) -> str:
    """A command line; words in capitals are for the reader to fill in."""
    return " ".join(["orchestrator", *(shlex.quote(word) for word in words)])
