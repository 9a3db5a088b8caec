"""Spans and times as people write them (language.md, section 2, "Durations")."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from orchestrator.definition.model import Json

_SHORT = re.compile(
    r"(?:(?P<days>\d+(?:\.\d+)?)d)?(?:(?P<hours>\d+(?:\.\d+)?)h)?(?:(?P<minutes>\d+(?:\.\d+)?)m(?!s))?"
    r"(?:(?P<seconds>\d+(?:\.\d+)?)s)?(?:(?P<milliseconds>\d+(?:\.\d+)?)ms)?",
    re.ASCII,
)
_ISO = re.compile(
    r"P(?:(?P<weeks>\d+(?:[.,]\d+)?)W)?(?:(?P<days>\d+(?:[.,]\d+)?)D)?"
    r"(?:T(?:(?P<hours>\d+(?:[.,]\d+)?)H)?(?:(?P<minutes>\d+(?:[.,]\d+)?)M)?(?:(?P<seconds>\d+(?:[.,]\d+)?)S)?)?",
    re.ASCII,
)
_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))", re.ASCII
)
LONGEST = timedelta(days=2_500_000)
"""Longer spans lead beyond the year 9999, the last that a time can have."""
_STEPS = ((59_950, 100), (3_599_500, 1000), (86_370_000, 60_000), (math.inf, 3_600_000))
"""Milliseconds: what is shorter than the first is told in units of the second."""
_HOW = "write `30s`, `1h30m`, `2d`, `PT1H`, or a number of seconds"


def parse_duration(value: Json) -> timedelta:
    """A span out of text or a number of seconds; ValueError says what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{_shown(value)} is not a duration: {_HOW}")
    if isinstance(value, str):
        return _parse_text(value)
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a duration")
    if value < 0:
        raise ValueError(f"a duration is never negative, but this is {value} s")
    return _span(value, {"seconds": float(value)} if isinstance(value, float) else {"seconds": value})


@lru_cache(maxsize=1024)
def _parse_text(text: str) -> timedelta:
    stripped = text.strip()
    if stripped.startswith("-"):
        raise ValueError(f"a duration is never negative, but this is `{stripped}`")
    matched = _SHORT.fullmatch(stripped) or _ISO.fullmatch(stripped)
    parts = {} if matched is None else {unit: n for unit, n in matched.groupdict().items() if n is not None}
    if not parts or stripped.endswith("T"):
        raise ValueError(f"`{text}` is not a duration: {_help(stripped)}")
    return _span(text, {unit: float(n.replace(",", ".")) for unit, n in parts.items()})


def _help(text: str) -> str:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return f"write `{text}s`, or the number without quotes"
    if text.startswith("P") and re.search(r"\d[YM]", text.split("T")[0]):
        return "years and months have no fixed length, write days"
    return _HOW


def _span(written: Json, parts: dict[str, float]) -> timedelta:
    try:
        span = timedelta(**parts)
    except OverflowError:
        span = timedelta.max
    if span > LONGEST:
        raise ValueError(f"`{written}` is longer than any time can be")
    return span


def format_duration(span: timedelta) -> str:
    """The shortest of our spellings: `1h30m`, `250ms`, `0s`."""
    micros = span // timedelta(microseconds=1)
    if micros == 0:
        return "0s"
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    text = sign
    for unit, size in (("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000)):
        count, micros = divmod(micros, size)
        text += f"{count}{unit}" if count else ""
    if not micros:
        return text
    if micros < 1_000_000 and micros % 1000 == 0:
        return f"{text}{micros // 1000}ms"
    return f"{text}{_decimal(micros)}s"


def span_words(span: timedelta) -> str:
    """Rounded, to be read at a glance: `350ms`, `2.4s`, `3m20s`, `5h2m`, `3d4h`; never less than `0ms`."""
    milliseconds = max(round(span.total_seconds() * 1000), 0)
    if milliseconds < 1000:
        return f"{milliseconds}ms"
    step = next(step for limit, step in _STEPS if milliseconds < limit)
    return format_duration(timedelta(milliseconds=(milliseconds + step // 2) // step * step))


def _decimal(micros: int) -> str:
    seconds, rest = divmod(micros, 1_000_000)
    return f"{seconds}.{rest:06}".rstrip("0") if rest else str(seconds)


def parse_time(value: Json) -> datetime:
    """An aware UTC time out of RFC 3339 text or epoch seconds; ValueError says what is wrong with it."""
    if isinstance(value, str):
        return _parse_rfc3339(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(
            f"{_shown(value)} is not a time: write `2026-01-31T09:00:00Z`, or seconds since 1970-01-01"
        )
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value)
    except OverflowError:
        raise ValueError(f"{value} seconds since 1970-01-01 is outside the years 1 to 9999") from None


def _parse_rfc3339(text: str) -> datetime:
    matched = _TIME.fullmatch(text.strip())
    if matched is None:
        raise ValueError(f"`{text}` is not a time: write `2026-01-31T09:00:00Z`, with its offset or Z")
    day, clock, fraction, _, sign, hours, minutes = matched.groups()
    try:
        local = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)
        if sign is None:
            offset = timedelta()
        elif int(hours) < 24 and int(minutes) < 60:
            offset = timedelta(hours=int(hours), minutes=int(minutes)) * (1 if sign == "+" else -1)
        else:
            raise ValueError("offset out of range")
        micros = int((fraction or "0")[:6].ljust(6, "0"))
        return local + timedelta(microseconds=micros) - offset
    except (ValueError, OverflowError):
        raise ValueError(f"`{text}` is not a time: there is no such day, hour or offset") from None


def format_time(at: datetime) -> str:
    """RFC 3339 in UTC with `Z`, a fraction only where there is one."""
    utc = at.astimezone(UTC)
    fraction = f".{utc.microsecond:06}".rstrip("0") if utc.microsecond else ""
    return (
        f"{utc.year:04}-{utc.month:02}-{utc.day:02}T{utc.hour:02}:{utc.minute:02}:{utc.second:02}{fraction}Z"
    )


def _shown(value: Json) -> str:
    return "null" if value is None else f"`{value}`"
