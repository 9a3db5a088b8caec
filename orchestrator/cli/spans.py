"""Times and spans as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def parse_moment(text: str | datetime | None) -> datetime | None:
    if text is None or isinstance(text, datetime):
        return text
    return datetime.fromisoformat(text)


def format_span(span: timedelta) -> str:
    """`350ms`, `2.4s`, `3m20s`, `5h02m`, `3d04h`."""
    seconds = max(span.total_seconds(), 0.0)
    milliseconds = round(seconds * 1000)
    if milliseconds < 1000:
        return f"{milliseconds}ms"
    if milliseconds < 59_950:
        return f"{seconds:.1f}s"
    seconds = max(seconds, 60.0)
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes}m{int(seconds) % 60:02d}s"
    hours = minutes // 60
    if hours < 24:
        return f"{hours}h{minutes % 60:02d}m"
    return f"{hours // 24}d{hours % 24:02d}h"


def format_moment(moment: datetime | None) -> str:
    """UTC, to the second."""
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def format_until(moment: datetime, now: datetime) -> str:
    return f"in {format_span(moment - now)}" if moment > now else "now"
