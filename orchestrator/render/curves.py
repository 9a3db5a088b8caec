"""Arrows between cards that stand one below the other, drawn again more simply; places of their labels.

Graphviz squeezes its curves between cards and bends them more than needed. Where a plain curve is free of
cards it replaces Graphviz's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from orchestrator.render.layout import Box, Curve, Layout
from orchestrator.render.metrics import text_width
from orchestrator.render.shapes import Point, Segment, points_along, rounded
from orchestrator.render.style import SMALL_SIZE

CLEARANCE = 5.0
NECK = 8.0
"""Length of the arrow's head."""
SIDE_ROOM = 20.0
SIDE_STEP = 8.0
LABEL_HEIGHT = 16.0
_SAMPLES = 16
_LABEL_SHARES = (0.5, 0.6, 0.4, 0.7, 0.3, 0.78)
"""Where along its arrow a label may stand, the best first."""


def straighten(layout: Layout) -> Layout:
    """For diagrams that run down: plain curves wherever they are free of cards."""
    sides: Counter[str] = Counter()
    twins = Counter(_ends(curve) for curve in layout.curves)
    curves: list[Curve] = []
    backs: list[Curve] = []
    for curve in layout.curves:
        plain = _plain(curve, layout.boxes, sides) if twins[_ends(curve)] == 1 else None
        ways = [plain] if plain is not None else _ways_up(curve, layout.boxes, len(backs))
        free = [way for way in ways if _is_free(way, layout.boxes)]
        if free and plain is None:
            backs.append(curve)
        curves.append(free[0] if free else curve)
    return replace(layout, curves=tuple(curves))


def turn_back(layout: Layout) -> Layout:
    """For diagrams that run to the right: arrows to the left go around the cards, above or below."""
    curves: list[Curve] = []
    turned = 0
    for curve in layout.curves:
        ways = _ways_around(curve, layout.boxes, SIDE_ROOM + SIDE_STEP * turned)
        free = [way for way in ways if _is_free(way, layout.boxes)]
        turned += bool(free)
        curves.append(min(free, key=_height) if free else curve)
    return replace(layout, curves=tuple(curves))


def _ways_around(curve: Curve, boxes: dict[str, Box], room: float) -> list[Curve]:
    """Above and below the two cards, or all cards between them; none for an arrow that does not go back."""
    source, target = boxes[curve.link.source], boxes[curve.link.target]
    if target.right > source.x:
        return []
    out, tip_x = source.right + SIDE_ROOM, target.x + target.width / 2
    between = [box for box in boxes.values() if box.right > tip_x - CLEARANCE and box.x < out + CLEARANCE]
    ways = []
    for passed in ([source, target], between):
        for level, tip_y, sign in (
            (min(box.y for box in passed) - room, target.y, -1),
            (max(box.bottom for box in passed) + room, target.bottom, 1),
        ):
            x, y = curve.segments[0][1][0], curve.level or curve.segments[0][1][1]
            neck = (tip_x, tip_y + sign * NECK)
            segments = rounded([(x, y), (out, y), (out, level), (tip_x, level), neck], 12)
            ways.append(replace(curve, segments=segments, tip=(tip_x, tip_y), neck=neck))
    return ways


def _height(curve: Curve) -> float:
    ys = [y for _, y in points_along(curve.segments)]
    return max(ys) - min(ys)


def _ends(curve: Curve) -> tuple[str, str, str]:
    return curve.link.source, curve.link.port, curve.link.target


def _plain(curve: Curve, boxes: dict[str, Box], sides: Counter[str]) -> Curve | None:
    """None: the arrow goes back or starts elsewhere."""
    source, target = boxes[curve.link.source], boxes[curve.link.target]
    x, y = curve.segments[0][1]
    tip_x, tip_y = curve.tip
    neck = (tip_x, tip_y - NECK)
    if target.y <= source.bottom + 2 * CLEARANCE or abs(tip_y - target.y) > CLEARANCE:
        return None
    if abs(y - source.bottom) <= CLEARANCE:
        return _replaced(curve, _fall((x, source.bottom), neck), neck)
    y = curve.level or y
    is_right = x > source.x + source.width / 2
    x = source.right if is_right else source.x
    sign = 1 if is_right else -1
    if (tip_x - x) * sign > SIDE_ROOM:
        bend = ("C", (x + 0.62 * (tip_x - x), y, tip_x, y + 0.25 * (neck[1] - y), *neck))
        return _replaced(curve, (("M", (x, y)), bend), neck)
    if (tip_x - x) * sign > -12:
        reach = max(2.2 * SIDE_ROOM, 2 * (tip_x - x) * sign)
        bend = ("C", (x + sign * reach, y, tip_x, neck[1] - 0.7 * (neck[1] - source.bottom), *neck))
        return _replaced(curve, (("M", (x, y)), bend), neck)
    out = x + sign * (SIDE_ROOM + SIDE_STEP * sides[f"{curve.link.source} {sign}"])
    sides[f"{curve.link.source} {sign}"] += 1
    turn = source.bottom + (target.y - source.bottom) * 0.45
    path = [(x, y), (out, y), (out, turn), (tip_x, turn), neck]
    return _replaced(curve, rounded(path, 12), neck)


def _ways_up(curve: Curve, boxes: dict[str, Box], number: int) -> list[Curve]:
    """Of an arrow back: beside the two cards, near or farther out; none for other arrows."""
    source, target = boxes[curve.link.source], boxes[curve.link.target]
    (x, y), tip = curve.segments[0][1], curve.tip
    y = curve.level or y
    is_right = x > source.x + source.width / 2
    edge = target.right if is_right else target.x
    if source is target or tip[1] >= y or abs(tip[0] - edge) > CLEARANCE:
        return []
    sign = 1 if is_right else -1
    start = (source.right if is_right else source.x, y)
    outermost = max(source.right, target.right) if is_right else min(source.x, target.x)
    ways = []
    for distance in (2 * SIDE_ROOM, 3 * SIDE_ROOM, 5 * SIDE_ROOM, 1.4 * SIDE_ROOM):
        out = outermost + sign * (distance + SIDE_STEP * number)
        neck = (tip[0] + sign * NECK, tip[1])
        segments = rounded([start, (out, y), (out, tip[1]), neck], 12)
        ways.append(_replaced(curve, segments, neck))
    return ways


def _replaced(curve: Curve, segments: tuple[Segment, ...], neck: Point) -> Curve:
    return replace(curve, segments=segments, neck=neck)


def _fall(start: Point, end: Point) -> tuple[Segment, ...]:
    """Down, across, down."""
    if abs(start[0] - end[0]) < 1:
        return (("M", start), ("L", (start[0], end[1])))
    pull = 0.55 * (end[1] - start[1])
    return (("M", start), ("C", (start[0], start[1] + pull, end[0], end[1] - pull, *end)))


def _is_free(curve: Curve, boxes: dict[str, Box]) -> bool:
    own = {curve.link.source, curve.link.target}
    others = [box for name, box in boxes.items() if name not in own]
    points = list(points_along(curve.segments, _SAMPLES))[1:]
    source = boxes[curve.link.source]
    return not any(_is_inside(x, y, box, CLEARANCE) for x, y in points for box in others) and not any(
        _is_inside(x, y, source, -1) for x, y in points
    )


def _is_inside(x: float, y: float, box: Box, margin: float) -> bool:
    return box.x - margin < x < box.right + margin and box.y - margin < y < box.bottom + margin


# --- Labels ---


def place_labels(layout: Layout) -> Layout:
    """Each label on its own arrow, where it is clear of cards, of other labels and of other arrows."""
    placed: list[Box] = []
    curves = []
    for curve in layout.curves:
        if curve.link.label and curve.label_at is None:
            others = [
                point
                for other in layout.curves
                if other is not curve
                for point in points_along(other.segments, _SAMPLES)
            ]
            at = _label_place(curve, others, [*layout.boxes.values(), *placed])
            placed.append(_label_box(curve, at))
            curve = replace(curve, label_at=at)
        curves.append(curve)
    return replace(layout, curves=tuple(curves))


def _label_place(curve: Curve, others: Sequence[Point], boxes: Sequence[Box]) -> Point:
    points = list(points_along(curve.segments, 4 * _SAMPLES))
    best, least = points[len(points) // 2], float("inf")
    for rank, share in enumerate(_LABEL_SHARES):
        at = _point_at(points, share)
        frame = _label_box(curve, at)
        covered = sum(_is_inside(x, y, frame, 3) for x, y in others)
        overlaps = sum(_is_overlapping(frame, box) for box in boxes)
        cost = 10 * overlaps + covered + 0.1 * rank
        if cost < least:
            best, least = at, cost
    return best


def _label_box(curve: Curve, at: Point) -> Box:
    width = text_width(curve.link.label, SMALL_SIZE, 600) + 12
    return Box(at[0] - width / 2, at[1] - LABEL_HEIGHT / 2, width, LABEL_HEIGHT)


def _is_overlapping(one: Box, other: Box) -> bool:
    return one.x < other.right and other.x < one.right and one.y < other.bottom and other.y < one.bottom


def _point_at(points: Sequence[Point], share: float) -> Point:
    """The point at that share of the path's length."""
    lengths = [((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 for (x1, y1), (x2, y2) in pairwise(points)]
    left = share * sum(lengths)
    for start, end, length in zip(points, points[1:], lengths, strict=False):
        if left <= length and length > 0:
            part = left / length
            return (
                round(start[0] + (end[0] - start[0]) * part, 2),
                round(start[1] + (end[1] - start[1]) * part, 2),
            )
        left -= length
    return points[-1]
