"""What of a flow its rehearsals took: steps, decisions, ends of waits, failure routes, RPCs, the deadline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from orchestrator.core import changes as c
from orchestrator.core.state import TIMEOUT_STEP, Execution
from orchestrator.core.tasks import failure_route
from orchestrator.definition.expressions import Value
from orchestrator.definition.model import (
    Combinator,
    Decision,
    Flow,
    Path,
    Route,
    Rpc,
    Step,
    WaitFor,
)
from orchestrator.graph.query import with_otherwise
from orchestrator.simulate.record import SimulatedRun
from orchestrator.simulate.script import ON_TIMEOUT


class PlaceKind(StrEnum):
    STEP = "step"
    DECISION = "decision"
    WAIT = "wait"
    FAILURE = "failure"
    RPC = "rpc"
    DEADLINE = "deadline"


class Place(NamedTuple):
    """One thing that a run can take. `name` is unique within its kind."""

    kind: PlaceKind
    name: str
    path: Path


@dataclass(slots=True)
class Coverage:
    """How often each place was taken, in the order of the definition."""

    flow: Flow
    counts: dict[Place, int]
    failed_counts: dict[str, int]
    """Executions by step that ended in failure."""

    @property
    def taken_count(self) -> int:
        return sum(count > 0 for count in self.counts.values())

    def missed(self) -> list[Place]:
        return [place for place, count in self.counts.items() if count == 0]

    def of_kind(self, kind: PlaceKind) -> tuple[int, int]:
        """Taken, and all there are."""
        counts = [count for place, count in self.counts.items() if place.kind is kind]
        return sum(count > 0 for count in counts), len(counts)


def measure(flow: Flow, runs: Iterable[SimulatedRun]) -> Coverage:
    """Runs of other flows do not count."""
    coverage = Coverage(flow, dict.fromkeys(places_of(flow), 0), {})
    by_name = {(place.kind, place.name): place for place in coverage.counts}
    for simulated in runs:
        if simulated.flow.hash != flow.hash:
            continue
        for kind, name in _Tracker(simulated, coverage.failed_counts).taken():
            place = by_name.get((kind, name))
            if place is not None:
                coverage.counts[place] += 1
    return coverage


# --- What there is ------------------------------------------------------------------------------------------


def places_of(flow: Flow) -> Iterator[Place]:
    for step in flow.steps.values():
        yield Place(PlaceKind.STEP, step.name, step.path)
        if step.wait_for is not None:
            yield from _wait_places(step.name, step.wait_for)
        yield from _decision_places(step.name, step)
        yield from _route_places(step)
    for rpc in flow.rpcs.values():
        yield Place(PlaceKind.RPC, rpc.name, rpc.path)
        yield from _decision_places(f"rpc:{rpc.name}", rpc)
    if flow.timeout is not None:
        yield Place(PlaceKind.DEADLINE, "timeout", flow.timeout.path or ("timeout",))
    if flow.on_timeout is not None:
        yield from _decision_places(ON_TIMEOUT, flow.on_timeout)


def _decision_places(name: str, owner: Step | Rpc) -> Iterator[Place]:
    for suffix, decision, _ in with_otherwise(owner.decisions):
        yield Place(PlaceKind.DECISION, f"{name}/{suffix}", _path_of(decision, owner))


def _path_of(decision: Decision, owner: Step | Rpc) -> Path:
    return decision.path or owner.path


def _wait_places(step: str, wait_for: WaitFor) -> Iterator[Place]:
    """`until` and `all_of` have one way to end; the others one for each condition or group."""
    if wait_for.combinator in (Combinator.UNTIL, Combinator.ALL_OF):
        names = " + ".join(condition.id for condition in wait_for.conditions)
        if names:
            yield Place(PlaceKind.WAIT, f"{step}: {names}", wait_for.path)
    elif wait_for.combinator is Combinator.ANY_COMBINATION_OF:
        for group in wait_for.groups:
            yield Place(PlaceKind.WAIT, f"{step}: {' + '.join(group)}", wait_for.path)
    elif wait_for.combinator in (Combinator.ANY_OF, Combinator.HANDLER):
        for condition in wait_for.conditions:
            yield Place(PlaceKind.WAIT, f"{step}: {condition.id}", condition.path)
    if wait_for.proceeds_on_failure:
        yield Place(PlaceKind.FAILURE, f"{step}: wait fails, proceeds", (*wait_for.path, "on_failure"))


def _route_places(step: Step) -> Iterator[Place]:
    """The step's own route, and those in the options of its movements and routes."""
    for route in _routes_in(step):
        yield Place(PlaceKind.FAILURE, route_name(route), route.path)


def _routes_in(part: Any) -> Iterator[Route]:
    if isinstance(part, Route):
        yield part
    if isinstance(part, tuple):
        for item in part:
            yield from _routes_in(item)
    elif is_dataclass(part) and not isinstance(part, Value):
        for each in fields(part):
            if each.name not in ("path", "type", "input"):
                yield from _routes_in(getattr(part, each.name))


def route_name(route: Route) -> str:
    """`Charge: on failure → Refund`; of a route in options, where it stands too."""
    _, step, *rest = route.path
    place = "" if len(rest) == 1 else f" ({'.'.join(map(str, rest[:-1]))})"
    return f"{step}: on failure → {route.step}{place}"


# --- What was taken -----------------------------------------------------------------------------------------


class _Tracker:
    """Follows one run through its commits."""

    def __init__(self, simulated: SimulatedRun, failed_counts: dict[str, int]) -> None:
        self._flow = simulated.flow
        self._simulated = simulated
        self._failed_counts = failed_counts
        self._executions: dict[str, Execution] = {}
        self._waits: dict[str, c.WaitAccepted] = {}

    def taken(self) -> Iterator[tuple[PlaceKind, str]]:
        for commit in self._simulated.commits:
            for change in commit.changes:
                yield from self._follow(change)

    def _follow(self, change: c.Change) -> Iterator[tuple[PlaceKind, str]]:
        match change:
            case c.StepQueued():
                self._executions[change.execution.id] = change.execution
            case c.WaitAccepted():
                self._waits[change.execution_id] = change
            case c.WaitSatisfied():
                yield from self._win(change)
            case c.WaitSkipped():
                yield PlaceKind.FAILURE, f"{self._step(change.execution_id)}: wait fails, proceeds"
            case c.StepEnded():
                yield from self._end(change)
            case c.RpcAnswered():
                yield PlaceKind.RPC, change.name
                if change.decision is not None:
                    yield PlaceKind.DECISION, f"rpc:{change.name}/{change.decision}"
            case c.TimeoutHandlerBegun():
                yield PlaceKind.DEADLINE, "timeout"
            case c.RunClosed() if self._is_deadline(change):
                yield PlaceKind.DEADLINE, "timeout"
            case _:
                pass

    def _end(self, change: c.StepEnded) -> Iterator[tuple[PlaceKind, str]]:
        step = self._step(change.execution_id)
        if change.how == "completed":
            yield PlaceKind.STEP, step
            yield PlaceKind.DECISION, f"{step}/{change.decision}" + "/otherwise" * change.otherwise_count
            for count in range(change.otherwise_count):
                yield PlaceKind.DECISION, f"{step}/{change.decision}" + "/otherwise" * count
        elif change.how == "failed":
            yield PlaceKind.STEP, step
            self._failed_counts[step] = self._failed_counts.get(step, 0) + 1
            route = failure_route(self._flow, self._executions[change.execution_id])
            if route is not None:
                yield PlaceKind.FAILURE, route_name(route)

    def _win(self, change: c.WaitSatisfied) -> Iterator[tuple[PlaceKind, str]]:
        accepted = self._waits.get(change.execution_id)
        step = self._step(change.execution_id)
        wait_for = self._flow.steps[step].wait_for if step in self._flow.steps else None
        if accepted is None or wait_for is None:
            return
        won = list(dict.fromkeys(accepted.conditions[index].id for index in change.winners))
        if wait_for.combinator in (Combinator.UNTIL, Combinator.ALL_OF):
            yield PlaceKind.WAIT, f"{step}: {' + '.join(condition.id for condition in wait_for.conditions)}"
        elif wait_for.combinator is Combinator.ANY_COMBINATION_OF:
            group = next((group for group in wait_for.groups if set(group) == set(won)), tuple(won))
            yield PlaceKind.WAIT, f"{step}: {' + '.join(group)}"
        else:
            for condition_id in won:
                yield PlaceKind.WAIT, f"{step}: {condition_id}"

    def _is_deadline(self, change: c.RunClosed) -> bool:
        """A cancel by the deadline leaves no error, but nothing else closes a run at that very moment."""
        if change.error is not None:
            return change.error.type == "timeout"
        deadline = self._executions.get(f"{TIMEOUT_STEP}-1")
        return change.status == "CANCELED" and deadline is not None and deadline.due_at == change.at

    def _step(self, execution_id: str) -> str:
        step = execution_id.rpartition("-")[0]
        return ON_TIMEOUT if step == TIMEOUT_STEP else step
