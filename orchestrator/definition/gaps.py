"""Values that nobody can know: aliases of nothing, text with characters that YAML does not allow.

What does not depend on them can still be said of the rest of the document.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from orchestrator.definition.document import AliasNode, ListNode, MappingNode, Node
from orchestrator.definition.model import Json, Path
from orchestrator.definition.problem import Problem, Span
from orchestrator.definition.source import Source

GAP_CODES = {"YML005", "YML014"}
MOST_GAPS = 20
"""Of a file with more, nothing else is said."""
_TOLD_ELSEWHERE_IN_STEP = ("decide", "execute", "let", "result", "wait_for")
"""Other parts of a step depend on these."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A document in which something stands for each gap, and of what in it nothing is to be said."""

    silent: tuple[Span, ...]
    names: frozenset[str]
    """Channels, attributes and joins whose declaration is not known."""

    def has(self, problem: Problem) -> bool:
        """Whether it is there whatever the gaps stand for."""
        place = problem.span[:2]
        if any(span[:2] <= place < span[2:] for span in self.silent):
            return False
        return not any(f"`{name}`" in problem.message for name in self.names)


NO_GAPS = Rest((), frozenset())


def fill_gaps(source: Source, document: Json, problems: Collection[Problem]) -> Rest | None:
    """Changes the document; None where all of it may depend on what is not known."""
    gaps = [problem for problem in problems if problem.code in GAP_CODES]
    paths = _paths(source.root, gaps) if source.root is not None and len(gaps) <= MOST_GAPS else None
    if paths is None or not isinstance(document, dict):
        return None
    silent: list[Span] = []
    names: set[str] = set()
    for path in paths:
        place = _fill(document, path, names)
        if place is None:
            return None
        position = source.locate(place)
        silent.append(position.value)
        if place[0] in ("rpcs", "steps") and position.key is not None:
            silent.append(position.key)  # what lacks is told at the name of the step, or at an outcome
    return Rest(tuple(silent), frozenset(names))


def _paths(root: Node, gaps: Collection[Problem]) -> list[Path] | None:
    """Where the gaps stand; None where one is in a key, in what an alias repeats, or not to be found."""
    found: list[Path] = []
    unseen = {gap.span for gap in gaps if gap.code == "YML005"}  # a character may stand in a comment
    for path, span, is_value in _spans(root, ()):
        inside = [gap.span for gap in gaps if span[:2] <= gap.span[:2] < span[2:]]
        if inside and not is_value:
            return None
        if inside:
            found.append(path)
            unseen.difference_update(inside)
    return found if not unseen else None


def _spans(node: Node, path: Path) -> Iterator[tuple[Path, Span, bool]]:
    """Of each text of the document; False: of a key, or of what an alias stands for."""
    if isinstance(node, AliasNode):
        yield path, node.target.span, False
    elif isinstance(node, ListNode):
        for index, item in enumerate(node.items):
            yield from _spans(item, (*path, index))
    elif isinstance(node, MappingNode):
        for name, (key, value) in node.entries.items():
            yield (*path, name), key, False
            yield from _spans(value, (*path, name))
    else:
        yield path, node.span, True


def _fill(document: dict[str, Json], path: Path, names: set[str]) -> Path | None:
    """Puts in what no other part can clash with, and gives the place of which nothing is said."""
    match path:
        case () | ("start", *_) | ("types" | "attributes" | "channels" | "joins" | "steps" | "rpcs",):
            return None
        case ("input" | "output" as key, *_):
            document[key] = "any"
        case ("types", name, *_):
            document["types"][name] = True
            return path[:2]
        case ("attributes" | "channels" | "joins" as key, str(name), *_):
            is_map = isinstance(document[key][name], dict) and document[key][name].get("map") is True
            document[key][name] = {"type": "any", "map": True} if is_map else "any"
            names.add(name)
            return path[:2]
        case ("steps", name, *_):
            return _fill_step(document["steps"][name], path)
        case ("rpcs", *_):
            return path[:2]
    return path[:1]


def _fill_step(step: Json, path: Path) -> Path | None:
    """Of a step others know the name, and whether it takes which input."""
    match path[2:]:
        case ():
            return None
        case ("input", *_):
            step["input"] = "any"
        case ("decide", _, *_):
            return path[:4]
        case (key, *_) if key in _TOLD_ELSEWHERE_IN_STEP:
            return path[:2]
    return path[:3]
