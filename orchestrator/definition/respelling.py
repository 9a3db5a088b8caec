"""What is written in the wrong form and can only mean one thing: how it is written right."""

from __future__ import annotations

import re

from orchestrator.definition.durations import parse_duration
from orchestrator.definition.problem import Edit, Fix, Span
from orchestrator.definition.source import Source

_UNITS = {
    "ms": ("ms", "millis", "millisecond", "milliseconds", "msec", "msecs"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", re.ASCII)
_BETWEEN = re.compile(r"[\s,]*(?:and\s+)?", re.ASCII)
_FLAGS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
_WHOLE = re.compile(r"-?(?:0|[1-9]\d*)", re.ASCII)


def respell_duration(text: str) -> str | None:
    """`30 secs` → `30s`, `1 hour and 30 min` → `1h30m`. A number alone may be of any unit."""
    text = text.strip()
    found, position = "", 0
    while position < len(text):
        part = _PART.match(text, position)
        unit = _unit(part[2]) if part is not None else None
        if part is None or unit is None:
            return None
        found += part[1] + unit
        gap = _BETWEEN.match(text, part.end())
        position = gap.end() if gap is not None else part.end()
    try:
        parse_duration(found)
    except ValueError:
        return None
    return found


def _unit(word: str) -> str | None:
    """Of a single letter the case counts: `M` may be months."""
    return _UNIT_OF.get(word if len(word) == 1 else word.lower())


def respell_flag(node: object) -> str | None:
    """`"true"` and `yes` → `true`."""
    return _FLAGS.get(node.lower()) if isinstance(node, str) else None


def respell_integer(node: object) -> str | None:
    """`"3"` and `3.0` → `3`."""
    if isinstance(node, float) and node.is_integer() and abs(node) < 2**53:
        return str(int(node))
    return node if isinstance(node, str) and _WHOLE.fullmatch(node) else None


def rewriting(source: Source, span: Span, new: str | None) -> Fix | None:
    """Writes `new` for a scalar on one line."""
    written = source.text_at(span)
    if new is None or span.line != span.end_line or written[:1] in ("", "|", ">", "&", "*", "!"):
        return None
    return Fix(f"write `{new}`", (Edit(span, new),), is_safe=True)


def quoting(source: Source, span: Span) -> Fix | None:
    """Quotes what stands there without quotes: a number, true, false."""
    written = source.text_at(span)
    if span.line != span.end_line or not re.fullmatch(r"[-+.\w]+", written, re.ASCII):
        return None
    return Fix("quote it", (Edit(span, f'"{written}"'),), is_safe=True)
