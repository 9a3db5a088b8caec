"""The `format`s of text that are checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from orchestrator.definition.durations import parse_time

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.?[^@\s]*")
_HOST = re.compile(
    r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_UUID = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_DURATION = re.compile(
    r"P(?=.)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)"
)
_CLOCK = re.compile(r"\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII)


def _is_time(text: str) -> bool:
    parse_time(text)
    return True


def _is_date(text: str) -> bool:
    parse_time(f"{text}T00:00:00Z")
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is not None


def _is_clock(text: str) -> bool:
    parse_time(f"2000-01-01T{text}")
    return _CLOCK.fullmatch(text) is not None


def _is_ipv4(text: str) -> bool:
    from ipaddress import IPv4Address

    return str(IPv4Address(text)) == text


def _is_ipv6(text: str) -> bool:
    from ipaddress import IPv6Address

    IPv6Address(text)
    return "%" not in text


def _is_regex(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date-time": _is_time,
    "date": _is_date,
    "time": _is_clock,
    "duration": _matches(_DURATION),
    "email": _matches(_EMAIL),
    "hostname": _matches(_HOST),
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "uri": _matches(_URI),
    "uuid": _matches(_UUID),
    "regex": _is_regex,
}
"""Each says whether the text has the format; a ValueError means that it has not."""


def has_format(name: str, text: str) -> bool:
    try:
        return FORMATS[name](text)
    except ValueError:
        return False
