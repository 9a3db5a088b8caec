"""Times and spans as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

from orchestrator.definition.durations import span_words


def parse_moment(text: str | datetime | None) -> datetime | None:
    if text is None or isinstance(text, datetime):
        return text
    return datetime.fromisoformat(text)


def format_moment(moment: datetime | None) -> str:
    """UTC, to the second."""
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def format_until(moment: datetime, now: datetime) -> str:
    return f"in {span_words(moment - now)}" if moment > now else "now"
