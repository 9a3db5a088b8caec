"""Waiting for something to become true of a run: an execution has ended, an attribute has a value.

Commits of this process wake at once; what other processes commit is looked for many times a second.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import Any, Generic, TypeVar

from orchestrator.core.state import Run
from orchestrator.definition.model import Flow, Json
from orchestrator.engine.cache import Entry
from orchestrator.engine.engine import Engine
from orchestrator.engine.inside import demand_outside
from orchestrator.errors import InvalidValue, NotActive, NotFound, UsageError, WaitTimeout

_LOOK_EVERY = 0.05
"""Seconds."""
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


def await_run(engine: Engine, flow_id: str, look: Look[T], timeout: timedelta | None, what: str) -> T:
    """What `look` finds in the latest run. Raises NotFound, NotActive (closed without it), WaitTimeout."""
    demand_outside()
    ends_at = time.monotonic() + timeout.total_seconds() if timeout is not None else None
    notice = _Notice(look)
    seen: tuple[int, int] | None = None
    with engine.waiting.waiter(flow_id, notice) as waiter:
        while not notice.found:
            with engine.store.reading() as reading:
                head = reading.find_latest(flow_id)
                if head is None:
                    raise NotFound(f"there is no run {flow_id}", flow_id=flow_id)
                if (head.run, head.version) != seen:
                    seen = (head.run, head.version)
                    run = reading.load(head).run
                    found = look(engine.definitions.of(head.definition, reading), run)
                    if found is not None:
                        return found
                    if run.closed_at is not None:
                        message = f"run {flow_id} is closed ({run.status}) without: {what}"
                        raise NotActive(message, flow_id=flow_id, status=str(run.status))
            left = ends_at - time.monotonic() if ends_at is not None else _LOOK_EVERY
            if left <= 0:
                raise WaitTimeout(f"{flow_id}: still not: {what}", flow_id=flow_id)
            waiter.wake.wait(min(left, _LOOK_EVERY))
            waiter.wake.clear()
    return notice.found[0]


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


def attribute_compares(name: str, key: str | None, comparison: Comparison, wanted: Json) -> Look[tuple[Json]]:
    """The attribute's value, in a tuple, since it may be null."""

    def look(flow: Flow, run: Run) -> tuple[Json] | None:
        value = read_attribute(flow, run, name, key)
        return (value,) if _compares(value, comparison, wanted) else None

    return look


def read_attribute(flow: Flow, run: Run, name: str, key: str | None) -> Json:
    """Null where it is not set; of a map without key all its entries. Raises NotFound, InvalidValue."""
    attribute = flow.attributes.get(name)
    if attribute is None:
        known = ", ".join(sorted(flow.attributes)) or "none"
        raise NotFound(f"flow {flow.name} has no attribute {name}; it has: {known}", name=name)
    if not attribute.is_map:
        if key is not None:
            raise InvalidValue(f"attribute {name} is not a map: it takes no key", name=name)
        return run.attributes.get(name)
    entries = run.attribute_maps.get(name, {})
    return dict(entries) if key is None else entries.get(key)


def read_comparison(text: str) -> Comparison:
    try:
        return Comparison(text)
    except ValueError:
        raise UsageError(f"{text!r} compares nothing; there are: {', '.join(Comparison)}") from None


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
