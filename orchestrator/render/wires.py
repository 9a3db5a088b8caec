"""Rails beside the cards, and the wires tapped to them, along right angles through the gaps between cards.

A channel with many publishers would tangle as a graph's node. As a rail, like a bus in a circuit diagram, it
takes any number of taps. All routing happens in one frame: the flow runs down, the rails stand on the right;
failure rails, on the left, are mirrored, and left-to-right diagrams are turned.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from orchestrator.render.cards import Card, Diagram, Rail, Tap
from orchestrator.render.layout import Box, Layout

RAIL_GAP = 18.0
"""More than the pipe's half width and HEAD_OVERHANG: a head stays clear of its neighbour's pipe."""
FIRST_RAIL = 34.0
"""Distance of the first rail from the outermost card or arrow."""
TRACK = 6.0
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


@dataclass(slots=True)
class Tracks:
    """Keeps parallel wires apart: how many already run through each gap."""

    used: Counter[tuple[str, int]] = field(default_factory=Counter)

    def next_offset(self, name: str, gap: int, room: float) -> float:
        """0, +6, -6, +12, … within `room`."""
        number = self.used[name, gap]
        self.used[name, gap] += 1
        most = max(int(room / 2 / TRACK), 0)
        step = (number + 1) // 2 % (most + 1)
        return step * TRACK * (1 if number % 2 else -1)


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
    for is_mirrored in (False, True):
        rails = [rail for rail in diagram.rails if (rail.kind == "failure") is is_mirrored]
        router = _TurnedRouter if is_turned else _Router
        some_rails, some_wires = router(layout, is_mirrored).route(rails, sockets)
        placed += some_rails
        wires += some_wires
    return placed, wires


class _Router:
    """The flow runs down, rails are vertical, on the right; mirrored: on the left."""

    def __init__(self, layout: Layout, is_mirrored: bool) -> None:
        self._is_mirrored = is_mirrored
        self._labels = [curve.label_at for curve in layout.curves if curve.label_at is not None]
        self._boxes = {name: self._reflect(box) for name, box in layout.boxes.items()}
        self._extent = self._reflect(layout.extent)
        self._tracks = Tracks()
        self._bands = merge_bands([(box.y, box.bottom) for box in self._boxes.values()])

    def route(self, rails: list[Rail], sockets: list[Socket]) -> tuple[list[PlacedRail], list[Wire]]:
        by_rail: dict[str, list[Socket]] = {rail.ref: [] for rail in rails}
        for socket in sockets:
            if socket.tap.rail in by_rail:
                by_rail[socket.tap.rail].append(socket)
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
            gap_y = self._gap_near(y, prefers_above=socket.tap.is_incoming)
            stub = box.right + 11 + self._tracks.next_offset(socket.card, 0, 8)
            points = [edge, (stub, y), (stub, gap_y), (rail_x, gap_y)]
        if socket.tap.is_incoming:
            points.reverse()
        return Wire(rail, socket.tap, socket.card, tuple(points))

    def _gap_near(self, y: float, prefers_above: bool) -> float:
        """A free height above or below the row of cards around `y`."""
        index = next(
            number
            for number, band in enumerate(self._bands)
            if band[0] - CLEARANCE <= y <= band[1] + CLEARANCE
        )
        top, bottom = self._bands[index]
        is_above = y - top < bottom - y + (40 if prefers_above else -40)
        gap = index if is_above else index + 1
        upper = self._bands[gap - 1][1] if gap > 0 else top - 40
        lower = self._bands[gap][0] if gap < len(self._bands) else upper + 40
        room = lower - upper - 16
        for _ in range(int(room / TRACK)):
            height = (upper + lower) / 2 + self._tracks.next_offset("gap", gap, room)
            if all(abs(height - label[1]) > LABEL_ROOM for label in self._labels):
                return height
        return (upper + lower) / 2 + self._tracks.next_offset("gap", gap, room)

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

    def __init__(self, layout: Layout, is_mirrored: bool) -> None:
        super().__init__(layout, is_mirrored)
        self._columns = merge_bands([(box.x, box.right) for box in self._boxes.values()])

    def route(self, rails: list[Rail], sockets: list[Socket]) -> tuple[list[PlacedRail], list[Wire]]:
        by_rail: dict[str, list[Socket]] = {rail.ref: [] for rail in rails}
        for socket in sockets:
            if socket.tap.rail in by_rail:
                by_rail[socket.tap.rail].append(socket)
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
        column = next(number for number, band in enumerate(self._columns) if band[0] <= box.x <= band[1])
        is_incoming = socket.tap.is_incoming
        if is_incoming:
            edge, gap = box.x, column
            inner = self._columns[column][0]
            x = inner - 18 - abs(self._tracks.next_offset("in", gap, 40))
        else:
            edge, gap = box.right, column + 1
            x = self._columns[column][1] + 14 + abs(self._tracks.next_offset("out", gap, 40))
        points: list[Point] = [(edge, y), (x, y), (x, rail_x)]
        if is_incoming:
            points.reverse()
        return Wire(rail, socket.tap, socket.card, tuple(points))

    def _reflect(self, box: Box) -> Box:
        return Box(box.x, -box.bottom, box.width, box.height) if self._is_mirrored else box

    def _back(self, point: Point) -> Point:
        return (point[0], -point[1]) if self._is_mirrored else point


def merge_bands(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of intervals, as disjoint ones in order."""
    merged: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged
