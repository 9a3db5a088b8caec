"""The tree of a parsed CEL expression. `at` is an offset in code points of the expression's text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from orchestrator.definition.model import Json


@dataclass(slots=True)
class Const:
    at: int
    value: Json
    is_unsigned: bool = False


@dataclass(slots=True)
class Ident:
    at: int
    name: str


@dataclass(slots=True)
class Select:
    at: int
    operand: Node
    field: str
    is_test: bool = False
    """`has(operand.field)`"""


@dataclass(slots=True)
class Call:
    at: int
    function: str
    args: list[Node]
    target: Node | None = None


@dataclass(slots=True)
class ListNode:
    at: int
    elements: list[Node]
    optional: tuple[int, ...] = ()
    """Indexes of the `?`-elements."""


@dataclass(slots=True)
class Entry:
    key: Node
    value: Node
    is_optional: bool = False


@dataclass(slots=True)
class MapNode:
    at: int
    entries: list[Entry]
    message_name: str = ""
    """Set for `Name{field: value}`, which flows do not have."""


@dataclass(slots=True)
class Fold:
    """What the macros `all`, `exists`, `map`, `filter`, `cel.bind` are made of."""

    at: int
    variable: str
    over: Node
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node


PathStep: TypeAlias = str | int


@dataclass(slots=True)
class Read:
    """Our own: a static path into the scope, walked in Python so that only what is read is handed over."""

    at: int
    path: tuple[PathStep, ...]
    member: str | None = None
    """Set: an object that holds this member at most is read, for `has(…)` and `.?`."""
    is_lifted: bool = False
    """Integers become doubles."""

    @property
    def name(self) -> str:
        """Under which the value is handed to CEL; no author's name can look like it."""
        text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        member = "" if self.member is None else f".?{self.member}"
        return f"${text}{member}" + ("#" if self.is_lifted else "")


Node: TypeAlias = Const | Ident | Select | Call | ListNode | MapNode | Fold | Read


@dataclass(slots=True)
class Parsed:
    root: Node
    text: str
    unknown: list[str] = field(default_factory=list)


def reads_in(node: Node) -> Iterator[Read]:
    """All reads inside, as often as they stand there."""
    pending: list[Node] = [node]
    while pending:
        part = pending.pop()
        if part.__class__ is Read:
            yield part
        else:
            pending += children(part)


def reads_of(node: Node) -> list[Read]:
    """All reads inside, in order, each once."""
    found: dict[str, Read] = {}
    pending: list[Node] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, Read):
            found.setdefault(part.name, part)
        pending.extend(reversed(children(part)))
    return list(found.values())


def children(node: Node) -> list[Node]:
    match node:
        case Select(operand=operand):
            return [operand]
        case Call(args=args, target=target):
            return args if target is None else [target, *args]
        case ListNode(elements=elements):
            return elements
        case MapNode(entries=entries):
            return [part for entry in entries for part in (entry.key, entry.value)]
        case Fold():
            return [node.over, node.start, node.condition, node.step, node.result]
        case _:
            return []


def extent(root: Node) -> tuple[int, int]:
    """How many nodes the tree has and how deep it is; a part that stands in it many times is walked once."""
    known: dict[int, tuple[int, int]] = {}
    pending = [root]
    while pending:
        node = pending[-1]
        parts = list(children(node))
        unknown = [part for part in parts if id(part) not in known]
        if unknown:
            pending += unknown
            continue
        inner = [known[id(part)] for part in parts]
        known[id(node)] = (
            1 + sum(size for size, _ in inner),
            1 + max((deep for _, deep in inner), default=0),
        )
        pending.pop()
    return known[id(root)]
