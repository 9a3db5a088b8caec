"""Waiting for something to become true of a run: an execution has ended, an attribute has a value.

Commits of this process wake at once; what other processes commit is looked for many times a second, and less
often where many wait.
"""

from __future__ import annotations

import json
import operator
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Generic, TypeVar

from orchestrator.core.state import Run, Status
from orchestrator.definition.model import Flow, Json
from orchestrator.engine import arguments
from orchestrator.engine.arguments import Span, instance_key, span, text, whole
from orchestrator.engine.cache import Entry
from orchestrator.engine.describe import describe_run
from orchestrator.engine.engine import Engine
from orchestrator.engine.inside import demand_outside
from orchestrator.engine.latest import demand_latest, describe_latest
from orchestrator.engine.projection import await_projection
from orchestrator.engine.waiting import Bell, Patience
from orchestrator.errors import InvalidValue, NotActive, NotFound, UsageError, WaitTimeout

_LOOK_EVERY = 0.05
"""Seconds."""
_MOST_LOOKS = 400
"""In a second, by all who wait in this process."""
_NEWS_WITHIN = 0.05
"""Seconds after which the database is asked what became of a run that this process knows to be running."""
T = TypeVar("T")
Look = Callable[[Flow, Run], T | None]
"""What the run shows, or None: not yet. Raises NotFound where it can never be."""


class Comparison(StrEnum):
    """How an attribute is compared (rule 201). A value that is not there is equal to null only."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


_ORDERS = {
    Comparison.LESS: operator.lt,
    Comparison.AT_MOST: operator.le,
    Comparison.GREATER: operator.gt,
    Comparison.AT_LEAST: operator.ge,
}


def wait(engine: Engine, bell: Bell, flow_id: str, timeout: Span | None = None) -> Patience[dict[str, Json]]:
    demand_outside()
    ends_at = _end_of(timeout)
    engine.listen()
    with engine.waiting.waiter(flow_id, _is_closed, bell) as waiter:
        if engine.committer.runs.cache.is_running(flow_id):
            left = _seconds_until(ends_at)
            yield _NEWS_WITHIN if left is None else min(left, _NEWS_WITHIN)
        while waiter.entry is None:
            with engine.store.reading() as reading:
                head = demand_latest(reading, flow_id)
            waiter.run = head.run
            if head.status != Status.RUNNING:
                yield from await_projection(engine, head.run, head.status)
                return describe_latest(engine, flow_id)
            left = _seconds_until(ends_at)
            if left is not None and left <= 0:
                raise WaitTimeout(f"{flow_id} is still running", flow_id=flow_id)
            yield left
        flow, run = waiter.entry.flow, waiter.entry.run
        yield from await_projection(engine, waiter.entry.number, run.status)
        return describe_run(flow, run, {}, engine.clock.now())


def wait_for_step(
    engine: Engine, bell: Bell, flow_id: str, step: str, number: int = 1, *, timeout: Span | None = None
) -> Patience[None]:
    text(step, "step")
    if whole(number, "number") < 1:
        raise UsageError(f"executions of a step are numbered from 1, not {number}")
    what = f"{step}-{number} has ended"
    yield from _await_sight(engine, bell, flow_id, step_has_ended(step, number), timeout, what)


def wait_for_attribute(
    engine: Engine,
    bell: Bell,
    flow_id: str,
    name: str,
    value: Json = None,
    *,
    comparison: str = "==",
    key: str | int | None = None,
    timeout: Span | None = None,
) -> Patience[Json]:
    look = attribute_compares(text(name, "name"), key, read_comparison(comparison), value)
    entry = name if key is None else f"{name}[{key}]"
    what = f"{entry} {comparison} {json.dumps(arguments.json(value, 'value'))}"
    (found,) = yield from _await_sight(engine, bell, flow_id, look, timeout, what)
    return found


def _await_sight(
    engine: Engine, bell: Bell, flow_id: str, look: Look[T], timeout: Span | None, what: str
) -> Patience[T]:
    """What `look` finds in the latest run. Raises NotFound, NotActive (closed without it), WaitTimeout."""
    demand_outside()
    ends_at = _end_of(timeout)
    notice = _Notice(look)
    seen: tuple[int, int] | None = None
    with engine.waiting.waiter(flow_id, notice, bell) as waiter:
        waiter.looks_anyway = True
        while not notice.found:
            with engine.store.reading() as reading:
                head = demand_latest(reading, flow_id)
                if (head.run, head.version) != seen:
                    seen = (head.run, head.version)
                    run = reading.load(head).run
                    found = look(engine.definitions.of(head.definition, reading), run)
                    if found is not None:
                        return found
                    if run.closed_at is not None:
                        message = f"run {flow_id} is closed ({run.status}) without: {what}"
                        raise NotActive(message, flow_id=flow_id, status=str(run.status))
            left = _seconds_until(ends_at)
            if left is not None and left <= 0:
                raise WaitTimeout(f"{flow_id}: still not: {what}", flow_id=flow_id)
            rest = max(_LOOK_EVERY, engine.waiting.count / _MOST_LOOKS)
            yield rest if left is None else min(left, rest)
    return notice.found[0]


def _is_closed(entry: Entry) -> bool:
    return entry.run.status is not Status.RUNNING and entry.is_latest


def _end_of(timeout: Span | None) -> float | None:
    limit = span(timeout, "timeout")
    return None if limit is None else time.monotonic() + limit.total_seconds()


def _seconds_until(at: float | None) -> float | None:
    return None if at is None else at - time.monotonic()


class _Notice(Generic[T]):
    """Looks at each commit of this process, with the commit lock held."""

    def __init__(self, look: Look[T]) -> None:
        self._look = look
        self.found: list[T] = []

    def __call__(self, entry: Entry) -> bool:
        if not entry.is_latest:
            return False
        try:
            found = self._look(entry.flow, entry.run)
        except NotFound:
            return True
        if found is not None:
            self.found.append(found)
        return entry.run.closed_at is not None or found is not None


def step_has_ended(step: str, number: int) -> Look[bool]:
    """Also by being cancelled (rules 135, 200)."""

    def look(flow: Flow, run: Run) -> bool | None:
        if step not in flow.steps:
            known = ", ".join(sorted(flow.steps)) or "none"
            raise NotFound(f"flow {flow.name} has no step {step}; it has: {known}", step=step)
        has_begun = number <= run.counters.get(step, 0)
        return True if has_begun and f"{step}-{number}" not in run.executions else None

    return look


def attribute_compares(
    name: str, key: str | int | None, comparison: Comparison, wanted: Json
) -> Look[tuple[Json]]:
    """The attribute's value, in a tuple, since it may be null."""

    def look(flow: Flow, run: Run) -> tuple[Json] | None:
        value = read_attribute(flow, run, name, key)
        return (value,) if _compares(value, comparison, wanted) else None

    return look


def read_attribute(flow: Flow, run: Run, name: str, key: str | int | None) -> Json:
    """Null where it is not set; of a map without key all its entries. Raises NotFound, InvalidValue."""
    attribute = flow.attributes.get(name)
    if attribute is None:
        known = ", ".join(sorted(flow.attributes)) or "none"
        raise NotFound(f"flow {flow.name} has no attribute {name}; it has: {known}", name=name)
    if not attribute.is_map:
        if key is not None:
            raise InvalidValue(f"attribute {name} is not a map: it takes no key", name=name)
        return run.attributes.get(name)
    entries, instance = run.attribute_maps.get(name, {}), instance_key(key, f"attribute {name}")
    return dict(entries) if instance is None else entries.get(instance)


def read_comparison(word: str) -> Comparison:
    try:
        return Comparison(word)
    except ValueError:
        raise UsageError(f"{word!r} compares nothing; there are: {', '.join(Comparison)}") from None


def _compares(value: Json, comparison: Comparison, wanted: Json) -> bool:
    if comparison is Comparison.EQUAL:
        return _is_same(value, wanted)
    if comparison is Comparison.UNEQUAL:
        return not _is_same(value, wanted) and (value is not None or wanted is None)
    if _order_kind(value) is None or _order_kind(value) != _order_kind(wanted):
        return False
    order: Callable[[Any, Any], bool] = _ORDERS[comparison]
    return order(value, wanted)


def _is_same(value: Json, wanted: Json) -> bool:
    """As JSON: true is not 1, at any depth."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(_is_same, value, wanted))
    if isinstance(value, dict) and isinstance(wanted, dict):
        return value.keys() == wanted.keys() and all(_is_same(value[key], wanted[key]) for key in value)
    return bool(value == wanted)


def _order_kind(value: Json) -> type | None:
    if isinstance(value, str):
        return str
    return float if isinstance(value, int | float) and not isinstance(value, bool) else None
