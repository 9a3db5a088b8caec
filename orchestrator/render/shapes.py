"""What a finished drawing consists of; `svg` and `pdf` write it down. Units are points, y grows downwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    radius: float = 0
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 1
    css: str = ""


Point: TypeAlias = tuple[float, float]
Segment: TypeAlias = tuple[str, tuple[float, ...]]
"""`("M", (x, y))`, `("L", (x, y))`, `("C", (x1, y1, x2, y2, x, y))` or `("Z", ())`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A path, open or closed."""

    segments: tuple[Segment, ...]
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 1
    dash: tuple[float, ...] = ()
    css: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One line of text; `y` is its baseline, `width` its measured width."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    width: float
    weight: int = 400
    is_centered: bool = False
    css: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Elements with one meaning; `ref` is the id of the graph's node they stand for."""

    children: tuple[Shape, ...]
    id: str = ""
    css: str = ""
    title: str = ""
    """Tooltip."""
    ref: str = ""
    opacity: float = 1


Shape: TypeAlias = Rect | Line | Label | Group


@dataclass(frozen=True, slots=True)
class Drawing:
    x: float
    y: float
    width: float
    height: float
    background: str
    title: str
    description: str
    shapes: tuple[Shape, ...]


def points_along(segments: tuple[Segment, ...], parts: int = 4) -> Iterator[Point]:
    """Points of a path, `parts` a segment: with four close enough together to know its extent."""
    last = (0.0, 0.0)
    for operator, numbers in segments:
        if operator == "L":
            for number in range(1, parts):
                t = number / parts
                yield last[0] + (numbers[0] - last[0]) * t, last[1] + (numbers[1] - last[1]) * t
        if operator == "C":
            x1, y1, x2, y2, x3, y3 = numbers
            for number in range(1, parts):
                t = number / parts
                a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                yield a * last[0] + b * x1 + c * x2 + d * x3, a * last[1] + b * y1 + c * y2 + d * y3
        if numbers:
            last = (numbers[-2], numbers[-1])
            yield last


def polygon(*points: tuple[float, float]) -> tuple[Segment, ...]:
    first, *others = points
    return (("M", first), *(("L", point) for point in others), ("Z", ()))


def polyline(*points: tuple[float, float]) -> tuple[Segment, ...]:
    first, *others = points
    return (("M", first), *(("L", point) for point in others))


def circle(x: float, y: float, radius: float) -> tuple[Segment, ...]:
    k = radius * 0.5523
    r = radius
    return (
        ("M", (x + r, y)),
        ("C", (x + r, y + k, x + k, y + r, x, y + r)),
        ("C", (x - k, y + r, x - r, y + k, x - r, y)),
        ("C", (x - r, y - k, x - k, y - r, x, y - r)),
        ("C", (x + k, y - r, x + r, y - k, x + r, y)),
        ("Z", ()),
    )


def rounded(points: list[tuple[float, float]], radius: float = 7) -> tuple[Segment, ...]:
    """An open path along right angles, its corners rounded."""
    segments: list[Segment] = [("M", points[0])]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        enter, leave = _towards(corner, before, radius), _towards(corner, after, radius)
        segments.append(("L", enter))
        segments.append(
            ("C", (*_towards(corner, enter, 0.45, True), *_towards(corner, leave, 0.45, True), *leave))
        )
    segments.append(("L", points[-1]))
    return tuple(segments)


def _towards(
    start: tuple[float, float], end: tuple[float, float], amount: float, is_share: bool = False
) -> tuple[float, float]:
    """The point `amount` points (or that share) from `start` towards `end`, at most half way."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    if length == 0:
        return start
    share = amount if is_share else min(amount, length / 2) / length
    return (start[0] + dx * share, start[1] + dy * share)


def iterate_flat(
    shapes: tuple[Shape, ...], opacity: float = 1
) -> Iterator[tuple[Rect | Line | Label, float]]:
    """Everything that is painted, in order, with its opacity."""
    for shape in shapes:
        if isinstance(shape, Group):
            yield from iterate_flat(shape.children, opacity * shape.opacity)
        else:
            yield shape, opacity
