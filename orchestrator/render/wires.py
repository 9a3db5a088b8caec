"""Rails beside the cards, and the wires tapped to them, along right angles through the gaps between cards.

A channel with many publishers would tangle as a graph's node. As a rail, like a bus in a circuit diagram, it
takes any number of taps. All routing happens in one frame: the flow runs down, the rails stand on the right;
failure rails, on the left, are mirrored, and left-to-right diagrams are turned.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from orchestrator.render.cards import Card, Diagram, Rail, Tap
from orchestrator.render.layout import Box, Layout

RAIL_GAP = 18.0
"""More than the pipe's half width and HEAD_OVERHANG: a head stays clear of its neighbour's pipe."""
FIRST_RAIL = 34.0
"""Distance of the first rail from the outermost card or arrow."""
TRACK = 6.0
STUB = 9.0
STUB_ROOM = 12.0
"""A wire that leaves its card and turns does so between STUB and STUB + STUB_ROOM from it."""
BEFORE_CARD = 18.0
BEHIND_CARD = 14.0
CLEARANCE = 7.0
LABEL_ROOM = 11.0
PIPE_END = 9.0
"""How far a channel's rail goes on after its last tap."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Wire:
    rail: Rail
    tap: Tap
    card: str
    points: tuple[Point, ...]
    """From its start to its end, as the arrow points."""


@dataclass(frozen=True, slots=True)
class PlacedRail:
    rail: Rail
    start: Point
    end: Point
    head_at: Point
    """Where its head, with the name, is attached."""


@dataclass(frozen=True, slots=True)
class Socket:
    """Where a tap meets its card."""

    card: str
    tap: Tap
    offset: float
    """Distance from the card's top."""


Course: TypeAlias = tuple[str, bool]
"""A rail and a direction: wires of one course run through a gap as one line, like a bus."""


@dataclass(slots=True)
class Tracks:
    """Keeps wires of different courses apart: each has a track of its own through each gap."""

    taken: dict[tuple[str, int], dict[Course, float]] = field(default_factory=dict)
    used: Counter[tuple[str, int]] = field(default_factory=Counter)

    def number(self, name: str, gap: int) -> int:
        self.used[name, gap] += 1
        return self.used[name, gap] - 1

    def keep(self, name: str, gap: int, course: Course, find: Callable[[], float]) -> float:
        """The track that the course has in this gap; else the one that `find` gives."""
        courses = self.taken.setdefault((name, gap), {})
        if course not in courses:
            courses[course] = find()
        return courses[course]


def sockets_of(cards: tuple[Card, ...], rails: tuple[Rail, ...]) -> list[Socket]:
    known = {rail.ref for rail in rails}
    sockets = []
    for card in cards:
        for row in card.rows:
            y = card.row_top(row.port) + row.padding
            for entry in row.entries:
                if entry.tap is not None and entry.tap.rail in known:
                    sockets.append(Socket(card.ref, entry.tap, y + entry.height / 2))
                y += entry.height
    return sockets


def route(diagram: Diagram, layout: Layout, is_turned: bool) -> tuple[list[PlacedRail], list[Wire]]:
    """Place all rails and wires; `is_turned`: the flow runs from left to right."""
    sockets = sockets_of(diagram.cards, diagram.rails)
    placed: list[PlacedRail] = []
    wires: list[Wire] = []
    tracks = Tracks()
    for is_mirrored in (False, True):
        rails = [rail for rail in diagram.rails if (rail.kind == "failure") is is_mirrored]
        router = _TurnedRouter if is_turned else _Router
        some_rails, some_wires = router(layout, is_mirrored, tracks).route(rails, sockets)
        placed += some_rails
        wires += some_wires
    return placed, wires


class _Router:
    """The flow runs down, rails are vertical, on the right; mirrored: on the left."""

    def __init__(self, layout: Layout, is_mirrored: bool, tracks: Tracks) -> None:
        self._is_mirrored = is_mirrored
        self._labels = [curve.label_at for curve in layout.curves if curve.label_at is not None]
        self._boxes = {name: self._reflect(box) for name, box in layout.boxes.items()}
        self._extent = self._reflect(layout.extent)
        self._tracks = tracks
        self._beside: dict[str, list[Socket]] = defaultdict(list)
        self._bands = merge_bands([(box.y, box.bottom) for box in self._boxes.values()])

    def route(self, rails: list[Rail], sockets: list[Socket]) -> tuple[list[PlacedRail], list[Wire]]:
        by_rail: dict[str, list[Socket]] = {rail.ref: [] for rail in rails}
        for socket in sockets:
            if socket.tap.rail in by_rail:
                by_rail[socket.tap.rail].append(socket)
                self._beside[socket.card].append(socket)
        rails = sorted(rails, key=lambda rail: (self._first(by_rail[rail.ref]), rail.ref))
        if self._is_mirrored:
            rails = sorted(rails, key=lambda rail: (self._span(by_rail[rail.ref]), rail.ref))
        x = self._extent.right + FIRST_RAIL
        placed, wires = [], []
        for number, rail in enumerate(rails):
            rail_x = x + number * RAIL_GAP
            some = [self._wire(rail, socket, rail_x) for socket in self._in_order(by_rail[rail.ref])]
            wires += some
            ys = [self._rail_end(wire)[1] for wire in some] or [self._extent.y]
            start, end = (rail_x, min(ys)), (rail_x, max(ys) + (PIPE_END if rail.kind == "channel" else 0))
            placed.append(PlacedRail(rail, self._back(start), self._back(end), self._back(start)))
        return placed, [self._returned(wire) for wire in wires]

    def _wire(self, rail: Rail, socket: Socket, rail_x: float) -> Wire:
        box = self._boxes[socket.card]
        y = box.y + socket.offset
        edge: Point = (box.right, y)
        blockers = [
            other
            for name, other in self._boxes.items()
            if name != socket.card
            and other.x >= box.right - 1
            and other.y - CLEARANCE < y < other.bottom + CLEARANCE
        ]
        if not blockers:
            points = [edge, (rail_x, y)]
        else:
            gap_y = self._gap_near(y, (rail.ref, socket.tap.is_incoming))
            stub = box.right + self._stub(socket, gap_y < y)
            points = [edge, (stub, y), (stub, gap_y), (rail_x, gap_y)]
        if socket.tap.is_incoming:
            points.reverse()
        return Wire(rail, socket.tap, socket.card, tuple(points))

    def _stub(self, socket: Socket, is_upwards: bool) -> float:
        """How far a wire goes before it turns: of those that leave one card, none runs on another."""
        heights = sorted({each.offset for each in self._beside[socket.card]}, reverse=not is_upwards)
        return STUB + heights.index(socket.offset) * _spacing(len(heights), STUB_ROOM)

    def _gap_near(self, y: float, course: Course) -> float:
        """A free height above or below the row of cards around `y`."""
        index = next(
            number
            for number, band in enumerate(self._bands)
            if band[0] - CLEARANCE <= y <= band[1] + CLEARANCE
        )
        top, bottom = self._bands[index]
        is_above = y - top < bottom - y + (40 if course[1] else -40)
        gap = index if is_above else index + 1
        upper = self._bands[gap - 1][1] if gap > 0 else top - 40
        lower = self._bands[gap][0] if gap < len(self._bands) else upper + 40
        return self._tracks.keep("gap", gap, course, lambda: self._free_height(gap, upper, lower))

    def _free_height(self, gap: int, upper: float, lower: float) -> float:
        room = lower - upper - 16
        for _ in range(int(room / TRACK)):
            height = (upper + lower) / 2 + _around(self._tracks.number("gap", gap), room)
            if all(abs(height - label[1]) > LABEL_ROOM for label in self._labels):
                return height
        return (upper + lower) / 2 + _around(self._tracks.number("gap", gap), room)

    def _in_order(self, sockets: list[Socket]) -> list[Socket]:
        return sorted(sockets, key=lambda socket: (self._height(socket), socket.card))

    def _height(self, socket: Socket) -> float:
        return self._boxes[socket.card].y + socket.offset

    def _first(self, sockets: list[Socket]) -> float:
        return min(map(self._height, sockets), default=0.0)

    def _span(self, sockets: list[Socket]) -> float:
        heights = [self._height(socket) for socket in sockets]
        return max(heights, default=0.0) - min(heights, default=0.0)

    @staticmethod
    def _rail_end(wire: Wire) -> Point:
        return wire.points[0] if wire.tap.is_incoming else wire.points[-1]

    # --- The frame ---

    def _reflect(self, box: Box) -> Box:
        return Box(-box.right, box.y, box.width, box.height) if self._is_mirrored else box

    def _back(self, point: Point) -> Point:
        return (-point[0], point[1]) if self._is_mirrored else point

    def _returned(self, wire: Wire) -> Wire:
        return Wire(wire.rail, wire.tap, wire.card, tuple(self._back(point) for point in wire.points))


class _TurnedRouter(_Router):
    """The flow runs to the right, rails are horizontal, below the cards; mirrored: above."""

    def __init__(self, layout: Layout, is_mirrored: bool, tracks: Tracks) -> None:
        super().__init__(layout, is_mirrored, tracks)
        self._columns = merge_bands([(box.x, box.right) for box in self._boxes.values()])
        self._courses: dict[int, dict[Course, None]] = defaultdict(dict)

    def route(self, rails: list[Rail], sockets: list[Socket]) -> tuple[list[PlacedRail], list[Wire]]:
        by_rail: dict[str, list[Socket]] = {rail.ref: [] for rail in rails}
        for socket in sockets:
            if socket.tap.rail in by_rail:
                by_rail[socket.tap.rail].append(socket)
            self._courses[self._gap_of(socket)].setdefault((socket.tap.rail, socket.tap.is_incoming))
        y = self._extent.bottom + FIRST_RAIL
        gap = RAIL_GAP if self._is_mirrored else 2 * RAIL_GAP + 4
        left = self._extent.x
        placed, wires = [], []
        for number, rail in enumerate(rails):
            rail_y = y + number * gap
            some = [self._wire(rail, socket, rail_y) for socket in self._in_order(by_rail[rail.ref])]
            wires += some
            xs = [self._rail_end(wire)[0] for wire in some] or [left]
            start = min(xs) if rail.kind == "failure" else left - 24
            tail = PIPE_END if rail.kind == "channel" else 0
            head = self._back((start, rail_y))
            placed.append(PlacedRail(rail, head, self._back((max(xs) + tail, rail_y)), head))
        return placed, [self._returned(wire) for wire in wires]

    def _wire(self, rail: Rail, socket: Socket, rail_x: float) -> Wire:
        box = self._boxes[socket.card]
        y = box.y + (box.height - socket.offset if self._is_mirrored else socket.offset)
        gap, is_incoming = self._gap_of(socket), socket.tap.is_incoming
        track = self._track(gap, (rail.ref, is_incoming))
        if is_incoming:
            edge, x = box.x, self._columns[gap][0] - BEFORE_CARD - track
        else:
            edge, x = box.right, self._columns[gap - 1][1] + BEHIND_CARD + track
        points: list[Point] = [(edge, y), (x, y), (x, rail_x)]
        if is_incoming:
            points.reverse()
        return Wire(rail, socket.tap, socket.card, tuple(points))

    def _gap_of(self, socket: Socket) -> int:
        """The gap through which its wire runs: before the card's column, or behind it."""
        x = self._boxes[socket.card].x
        column = next(number for number, band in enumerate(self._columns) if band[0] <= x <= band[1])
        return column if socket.tap.is_incoming else column + 1

    def _track(self, gap: int, course: Course) -> float:
        """How far the course runs from its place next to the cards: in the order in which they come."""
        alike = [each for each in self._courses[gap] if each[1] is course[1]]
        room = 4 * BEFORE_CARD
        if 0 < gap < len(self._columns):
            room = self._columns[gap][0] - self._columns[gap - 1][1]
        room -= BEFORE_CARD + BEHIND_CARD
        return alike.index(course) * _spacing(len(self._courses[gap]), room)

    def _reflect(self, box: Box) -> Box:
        return Box(box.x, -box.bottom, box.width, box.height) if self._is_mirrored else box

    def _back(self, point: Point) -> Point:
        return (point[0], -point[1]) if self._is_mirrored else point


def _spacing(count: int, room: float) -> float:
    """Between neighbours of `count` in `room`."""
    return min(TRACK, room / max(count - 1, 1))


def _around(number: int, room: float) -> float:
    """0, +6, -6, +12, … within `room`."""
    most = max(int(room / 2 / TRACK), 0)
    step = (number + 1) // 2 % (most + 1)
    return step * TRACK * (1 if number % 2 else -1)


def merge_bands(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of intervals, as disjoint ones in order."""
    merged: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged
