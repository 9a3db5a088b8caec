"""The cards of a diagram before they have a place: rows of lines, measured."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.render.metrics import text_width
from orchestrator.render.overlay import Trace
from orchestrator.render.style import TEXT_SIZE

PADDING_X = 12.0
PADDING_Y = 7.0
ICON_WIDTH = 17.0
PILL_PADDING = 7.0
BADGE_WIDTH = 34.0
MINIMUM_WIDTH = 168.0


@dataclass(frozen=True, slots=True)
class Tap:
    """A wire between an entry and a rail."""

    rail: str
    """Graph node id of the channel, attribute or join, or `failure:<recovery step>`."""
    is_incoming: bool
    """True: from the rail to the card."""
    kind: str
    """Edge kind of the graph."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of text on a card."""

    text: str
    tone: str = "ink"
    size: float = TEXT_SIZE
    weight: int = 400
    icon: str = ""
    prefix: str = ""
    """Written before the text, in normal weight."""
    pill: str = ""
    """Number of the rail whose colours the text wears, in a rounded frame."""
    indent: float = 0
    tap: Tap | None = None

    @property
    def height(self) -> float:
        return self.size * 1.38 + (5 if self.pill else 0)

    @property
    def width(self) -> float:
        text = text_width(self.prefix, self.size) + text_width(self.text, self.size, self.weight)
        return self.indent + (ICON_WIDTH if self.icon else 0) + text + (2 * PILL_PADDING if self.pill else 0)


@dataclass(frozen=True, slots=True)
class Row:
    kind: str
    """wait, title, failure, status, one_of, decision, entry."""
    entries: tuple[Entry, ...]
    port: str
    tone: str = ""
    """Colours of the area; empty: the card's."""
    ref: str = ""
    title: str = ""
    badge: str = ""
    is_final: bool = False
    """Ends the branch or the run: drawn with a bar in its tone."""
    is_choice: bool = False
    """One of several decisions that exclude each other."""
    is_faded: bool = False
    """Run overlay: a decision that was passed by."""

    @property
    def height(self) -> float:
        return sum(entry.height for entry in self.entries) + 2 * self.padding

    @property
    def padding(self) -> float:
        return {"one_of": 4.0, "title": 8.0}.get(self.kind, PADDING_Y - 1)

    @property
    def gutter(self) -> float:
        """Space left of the text, for the marks of exclusive choice."""
        return 16.0 if self.is_choice else 0.0

    @property
    def width(self) -> float:
        widest = max((entry.width for entry in self.entries), default=0.0)
        return widest + self.gutter + 2 * PADDING_X + (BADGE_WIDTH if self.badge else 0)


@dataclass(frozen=True, slots=True)
class Card:
    ref: str
    """Graph node id."""
    kind: str
    """step, rpc or timeout_handler."""
    rows: tuple[Row, ...]
    title: str = ""
    state: str = ""
    """Run overlay: done, active, …; `unreached` is drawn faded."""

    @property
    def width(self) -> float:
        return round(max(MINIMUM_WIDTH, *(row.width for row in self.rows)))

    @property
    def height(self) -> float:
        return sum(self.row_height(row) for row in self.rows)

    @staticmethod
    def row_height(row: Row) -> float:
        return float(round(row.height))

    def row_top(self, port: str) -> float:
        """Distance of the row from the card's top."""
        top = 0.0
        for row in self.rows:
            if row.port == port:
                return top
            top += self.row_height(row)
        raise KeyError(port)


@dataclass(frozen=True, slots=True)
class Link:
    """An arrow of control, laid out by Graphviz."""

    source: str
    """Card's ref, or `start`."""
    port: str
    target: str
    kind: str
    ref: str
    """Id of the decision that it leaves."""
    label: str = ""
    title: str = ""
    is_parallel: bool = False
    is_faded: bool = False
    """Run overlay: never taken."""
    change: str = ""
    """Of two versions: added or removed."""


@dataclass(frozen=True, slots=True)
class Rail:
    """A channel, attribute, join or recovery step as a line beside the cards, to which wires are tapped."""

    ref: str
    kind: str
    """channel, attribute, join or failure."""
    name: str
    notes: tuple[str, ...] = ()
    title: str = ""
    badge: str = ""
    color: int = 0
    change: str = ""
    """Of two versions: added, removed or changed."""


@dataclass(frozen=True, slots=True)
class Diagram:
    """All that is to be drawn; what is not in the chosen layers is left out."""

    name: str
    description: str
    cards: tuple[Card, ...]
    links: tuple[Link, ...]
    rails: tuple[Rail, ...]
    routes: tuple[tuple[str, str], ...] = ()
    """Recovery step's card and a card whose failure leads there: a hint for its place."""
    status: str = ""
    states: frozenset[str] = field(default_factory=frozenset)
    """Run states that occur, for the legend."""
    trace: Trace | None = None
