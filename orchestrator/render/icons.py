"""Small signs, drawn as lines in a square of 12 points."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.render.shapes import Line, Rect, Segment, Shape, circle, polygon, polyline


def draw_icon(name: str, x: float, y: float, color: str, fill: str) -> list[Shape]:
    """`x`, `y`: the square's upper left corner; `fill`: what shows through."""
    return _ICONS[name](x, y, color, fill)


def _stroke(segments: tuple[Segment, ...], color: str, width: float = 1.3, fill: str | None = None) -> Line:
    return Line(segments=segments, stroke=color, stroke_width=width, fill=fill)


def _channel(x: float, y: float, color: str, fill: str) -> list[Shape]:
    """A lying cylinder."""
    body: tuple[Segment, ...] = (
        ("M", (x + 2.5, y + 2.5)),
        ("L", (x + 9.5, y + 2.5)),
        ("C", (x + 12.5, y + 2.5, x + 12.5, y + 9.5, x + 9.5, y + 9.5)),
        ("L", (x + 2.5, y + 9.5)),
        ("C", (x - 0.5, y + 9.5, x - 0.5, y + 2.5, x + 2.5, y + 2.5)),
    )
    lid: tuple[Segment, ...] = (
        ("M", (x + 9.5, y + 2.5)),
        ("C", (x + 7, y + 2.5, x + 7, y + 9.5, x + 9.5, y + 9.5)),
    )
    return [_stroke(body, color, fill=fill), _stroke(lid, color)]


def _clock(x: float, y: float, color: str, fill: str) -> list[Shape]:
    hands = polyline((x + 6, y + 3.2), (x + 6, y + 6.3), (x + 8.2, y + 7.5))
    return [_stroke(circle(x + 6, y + 6, 5.2), color, fill=fill), _stroke(hands, color)]


def _subflow(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return [
        Rect(x=x + 0.5, y=y + 1.5, width=11, height=9, radius=2, stroke=color, stroke_width=1.3, fill=fill),
        Rect(x=x + 3.2, y=y + 4.2, width=5.6, height=3.6, radius=1, fill=color),
    ]


def _join(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return [
        _stroke(polyline((x + 1, y + 2), (x + 7, y + 6), (x + 1, y + 10)), color),
        _stroke(polyline((x + 1, y + 6), (x + 7, y + 6)), color),
        _stroke(polyline((x + 9, y + 1), (x + 9, y + 11)), color, 2.2),
    ]


def _alert(x: float, y: float, color: str, fill: str) -> list[Shape]:
    bolt = polygon(
        (x + 7, y + 0.5),
        (x + 2, y + 7),
        (x + 5.5, y + 7),
        (x + 4.5, y + 11.5),
        (x + 10, y + 4.6),
        (x + 6.4, y + 4.6),
    )
    return [Line(segments=bolt, fill=color)]


def _arrow(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return [
        _stroke(polyline((x + 1, y + 6), (x + 10, y + 6)), color, 1.5),
        _stroke(polyline((x + 6.6, y + 2.8), (x + 10.2, y + 6), (x + 6.6, y + 9.2)), color, 1.5),
    ]


def _publish(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return _arrow(x - 1, y, color, fill)


def _fork(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return [
        _stroke(polyline((x + 2.5, y + 1), (x + 2.5, y + 11)), color, 2.2),
        _stroke(polyline((x + 2.5, y + 3), (x + 11, y + 3)), color, 1.4),
        _stroke(polyline((x + 2.5, y + 9), (x + 11, y + 9)), color, 1.4),
    ]


def _complete(x: float, y: float, color: str, fill: str) -> list[Shape]:
    tick = polyline((x + 3.2, y + 6.2), (x + 5.2, y + 8.2), (x + 8.8, y + 4.2))
    return [Line(segments=circle(x + 6, y + 6, 5.6), fill=color), _stroke(tick, fill, 1.5)]


def _fail(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return [
        Line(segments=circle(x + 6, y + 6, 5.6), fill=color),
        _stroke(polyline((x + 4, y + 4), (x + 8, y + 8)), fill, 1.5),
        _stroke(polyline((x + 8, y + 4), (x + 4, y + 8)), fill, 1.5),
    ]


def _end(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return [
        _stroke(polyline((x + 1, y + 6), (x + 9, y + 6)), color, 1.6),
        _stroke(polyline((x + 9.5, y + 1.8), (x + 9.5, y + 10.2)), color, 2),
    ]


def _cancel(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return [
        _stroke(circle(x + 6, y + 6, 4.8), color),
        _stroke(polyline((x + 2.8, y + 9.2), (x + 9.2, y + 2.8)), color),
    ]


def _client(x: float, y: float, color: str, fill: str) -> list[Shape]:
    shoulders: tuple[Segment, ...] = (
        ("M", (x + 1, y + 11.5)),
        ("C", (x + 1, y + 5.5, x + 11, y + 5.5, x + 11, y + 11.5)),
        ("Z", ()),
    )
    return [Line(segments=circle(x + 6, y + 3.4, 2.8), fill=color), Line(segments=shoulders, fill=color)]


def _reply(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return [
        _stroke(polyline((x + 11, y + 2), (x + 11, y + 6), (x + 2, y + 6)), color, 1.5),
        _stroke(polyline((x + 5.2, y + 2.8), (x + 1.6, y + 6), (x + 5.2, y + 9.2)), color, 1.5),
    ]


def _set(x: float, y: float, color: str, fill: str) -> list[Shape]:
    """A pen."""
    shaft = polygon((x + 8.2, y + 1.6), (x + 10.4, y + 3.8), (x + 4.4, y + 9.8), (x + 2.2, y + 7.6))
    tip = polygon((x + 2.2, y + 7.6), (x + 4.4, y + 9.8), (x + 1.2, y + 10.8))
    return [_stroke(shaft, color, 1.0, fill), Line(segments=tip, fill=color)]


def _lock(x: float, y: float, color: str, fill: str) -> list[Shape]:
    bow: tuple[Segment, ...] = (
        ("M", (x + 3.4, y + 5.4)),
        ("C", (x + 3.4, y - 0.4, x + 8.6, y - 0.4, x + 8.6, y + 5.4)),
    )
    return [
        _stroke(bow, color, 1.2),
        Rect(x=x + 1.8, y=y + 5.2, width=8.4, height=5.8, radius=1.2, fill=color),
    ]


def _diamond(x: float, y: float, color: str, fill: str) -> list[Shape]:
    return [
        _stroke(
            polygon((x + 6, y + 1.5), (x + 10.5, y + 6), (x + 6, y + 10.5), (x + 1.5, y + 6)),
            color,
            fill=fill,
        )
    ]


_ICONS: dict[str, Callable[[float, float, str, str], list[Shape]]] = {
    "channel": _channel,
    "clock": _clock,
    "subflow": _subflow,
    "join": _join,
    "alert": _alert,
    "arrow": _arrow,
    "publish": _publish,
    "fork": _fork,
    "complete": _complete,
    "fail": _fail,
    "end": _end,
    "cancel": _cancel,
    "client": _client,
    "reply": _reply,
    "diamond": _diamond,
    "set": _set,
    "lock": _lock,
}
