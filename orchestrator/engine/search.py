"""`list --where`: CEL over the latest run of each flow id.

What every match must have of its head (`status == "FAILED" && …`) the database finds by an index; the rest of
the condition is evaluated run by run. Attributes and active steps are read for many runs at once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice

import msgspec

from orchestrator.core.state import Status
from orchestrator.definition.cel_tree import Call, Const, Node, Read
from orchestrator.definition.expressions import (
    Environment,
    Expression,
    ExpressionFailed,
    ExpressionProblem,
    parse_guard,
)
from orchestrator.definition.model import Attribute, Json
from orchestrator.definition.types import ANY, parse_type
from orchestrator.engine.definitions import Definitions
from orchestrator.engine.describe import time_text
from orchestrator.errors import BodyUnreadable, UsageError
from orchestrator.store.contract import Head, Reading
from orchestrator.store.sought import ANY_RUN, Sought
from orchestrator.store.times import from_micros, to_micros

_NAMES = ("flow", "flow_id", "status", "started_at", "closed_at", "attributes", "steps")
_TIMES = ("started_at", "closed_at")
_TIME_TYPE = parse_type({"type": "string", "format": "date-time"}, {})
_TEXT_TYPE = parse_type("string", {})
_FIRST_AT_ONCE, _AT_ONCE = 100, 1000
"""Runs whose contents are read together; like the store's pages, of which none is read in vain."""
_decode = msgspec.json.Decoder().decode


class Search:
    """Names: flow, flow_id, status, started_at, closed_at, attributes by index key, steps (active types).

    Times are compared with times, or as texts with texts; `closed_at` of a run that is not closed is null.
    """

    def __init__(self, where: str, definitions: Definitions) -> None:
        self._condition = _parse(where)
        self._definitions = definitions
        self._needs_attributes = "attributes" in self._condition.names
        self._needs_steps = "steps" in self._condition.names
        root, _ = self._condition.tree
        self.sought = sought_by(root)

    def find(self, reading: Reading) -> Iterator[Head]:
        """Newest first."""
        return self.choose(reading, reading.heads(self.sought))

    def choose(self, reading: Reading, heads: Iterable[Head]) -> Iterator[Head]:
        """Those that match. A run that lacks what the condition reads does not."""
        heads = iter(heads)
        if not self._needs_attributes and not self._needs_steps:
            yield from (head for head in heads if self._matches(head, {}))
            return
        at_once = _FIRST_AT_ONCE
        while some := list(islice(heads, at_once)):
            contents = _Contents(reading, some, self._needs_attributes, self._needs_steps)
            for head in some:
                try:
                    scope = contents.of(head, self._declared(reading, head))
                except BodyUnreadable:
                    continue
                if self._matches(head, scope):
                    yield head
            at_once = _AT_ONCE

    def _declared(self, reading: Reading, head: Head) -> Mapping[str, Attribute]:
        return self._definitions.of(head.definition, reading).attributes if self._needs_attributes else {}

    def _matches(self, head: Head, contents: dict[str, Json]) -> bool:
        scope: dict[str, Json] = {
            "flow": head.flow,
            "flow_id": head.flow_id,
            "status": head.status,
            "started_at": time_text(from_micros(head.started_at)),
            "closed_at": None if head.closed_at is None else time_text(from_micros(head.closed_at)),
        }
        try:
            return self._condition.evaluate(scope | contents) is True
        except ExpressionFailed:
            return False


def _parse(where: str) -> Expression:
    names = dict.fromkeys(_NAMES, ANY)
    try:
        with suppress(ExpressionProblem):
            return parse_guard(where, Environment(names | dict.fromkeys(_TIMES, _TIME_TYPE)))
        return parse_guard(where, Environment(names | dict.fromkeys(_TIMES, _TEXT_TYPE)))
    except ExpressionProblem as problem:
        advice = f"; {problem.help}" if problem.help else ""
        raise UsageError(f"--where, at character {problem.offset + 1}: {problem.message}{advice}") from None


def sought_by(condition: Node) -> Sought:
    """What each run has that matches: `A && B` is true only where both are."""
    sought = ANY_RUN
    pending = [condition]
    while pending:
        match pending.pop():
            case Call(function="_&&_", args=args):
                pending += args
            case Call(function="@in", args=[Const(value=str()), Read(path=("steps",))]):
                sought = sought._replace(status=Status.RUNNING.value)  # others have no active steps
            case Call(function=function, args=[left, right]) if function in _TURNED:
                sought = _narrowed(sought, left, function, right)
                sought = _narrowed(sought, right, _TURNED[function], left)
    return sought


_TURNED = {"_==_": "_==_", "_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_"}
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?")
"""Texts that are in the same order as the times that they tell, but for the last minute."""
_MINUTE = 60_000_000


def _narrowed(sought: Sought, part: Node, comparison: str, other: Node) -> Sought:
    match part, comparison, other:
        case Read(path=(("status" | "flow" | "flow_id") as name,)), "_==_", Const(value=str(value)):
            return sought.having(name, value)
        case Read(path=("attributes", _)), "_==_", Const(value=str(value)):
            return sought._replace(value=msgspec.json.encode(value))
        case Read(path=("started_at",)), _, Const(value=str(text)) if _TIME.fullmatch(text):
            return _narrowed_in_time(sought, comparison, text)
        case (
            Read(path=("started_at",)) | Call(function="timestamp", args=[Read(path=("started_at",))]),
            _,
            Call(function="timestamp", args=[Const(value=str(text))]),
        ):
            return _narrowed_in_time(sought, comparison, text)
    return sought


def _narrowed_in_time(sought: Sought, comparison: str, text: str) -> Sought:
    """A minute more than asked for: the condition itself is evaluated, too."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return sought
    micros = to_micros(at if at.tzinfo is not None else at.replace(tzinfo=UTC))
    if comparison not in ("_<_", "_<=_"):
        sought = sought._replace(started_from=max(sought.started_from, micros - _MINUTE))
    if comparison not in ("_>_", "_>=_"):
        sought = sought._replace(started_until=min(sought.started_until, micros + _MINUTE))
    return sought


class _Contents:
    """Attributes and active steps of some runs."""

    def __init__(
        self, reading: Reading, heads: Sequence[Head], has_attributes: bool, has_steps: bool
    ) -> None:
        self._open = reading.bodies.open
        self._values: defaultdict[int, dict[str, tuple[bool, bytes]]] = defaultdict(dict)
        self._steps: defaultdict[int, list[str]] = defaultdict(list)
        runs = [head.run for head in heads]
        if has_attributes:
            for run, name, is_map, value in reading.attribute_values(runs):
                self._values[run][name] = (is_map, value)
        if has_steps:
            for run, step in reading.active_steps(runs):
                self._steps[run].append(step)

    def of(self, head: Head, declared: Mapping[str, Attribute]) -> dict[str, Json]:
        """Raises BodyUnreadable."""
        return {
            "attributes": dict(self._indexed(self._values.get(head.run, {}), declared.items())),
            "steps": sorted(self._steps.get(head.run, ())),
        }

    def _indexed(
        self, values: Mapping[str, tuple[bool, bytes]], declared: Iterable[tuple[str, Attribute]]
    ) -> Iterator[tuple[str, Json]]:
        """By index key, by default the attribute's name; of a map the entry written last (rule 100)."""
        for name, attribute in declared:
            if attribute.index is None or name not in values:
                continue
            is_map, value = values[name]
            if is_map == attribute.is_map:
                yield attribute.index_key or name, _decode(self._open(value))
