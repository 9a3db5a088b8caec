"""A way through the state space as it would go on a run: events of step executions that have numbers."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from orchestrator.core.state import TIMEOUT_ID, Phase, Status
from orchestrator.definition.model import Decision, Flow, Path, Rpc, Step
from orchestrator.graph.query import otherwise_of
from orchestrator.verify.places import Place
from orchestrator.verify.report import Counterexample, Event, EventKind, Stuck
from orchestrator.verify.search import Graph
from orchestrator.verify.state import Outcome, State


class Tracer:
    """Follows one way and names who does what; who has been longest in a place goes first."""

    def __init__(self, graph: Graph, start: int) -> None:
        self._graph = graph
        self._flow = graph.transitions.flow
        self._counters: Counter[str] = Counter()
        self._ids: dict[Place, deque[str]] = {}
        state = graph.states[start]
        for number, count in state.marking:
            self._start(graph.transitions.places[number], count)
        self._unread = _unread(graph, state)

    def follow(self, before: int, outcome: Outcome, after: int) -> Event:
        actor = self._take(outcome.actor) if outcome.actor is not None else None
        cancelled = [self._take(place) for place, count in outcome.cancels for _ in range(count)]
        if outcome.becomes is not None and actor is not None:
            self._ids.setdefault(outcome.becomes, deque()).append(actor)
        started = [each for place, count in outcome.starts for each in self._start(place, count)]
        unread = _unread(self._graph, self._graph.states[after])
        is_closed = outcome.status is not Status.RUNNING
        names = sorted({*unread, *self._unread})
        changed = (
            {}
            if is_closed and outcome.status is not Status.COMPLETED
            else {
                name: (self._unread[name], unread[name])
                for name in names
                if self._unread[name] != unread[name]
            }
        )
        self._unread = unread
        if outcome.kind is EventKind.TIMED_OUT:
            actor = TIMEOUT_ID
        return Event(
            kind=outcome.kind,
            step=outcome.step,
            step_execution_id=actor,
            path=place_of(self._flow, outcome),
            decision=outcome.decision,
            otherwise_count=outcome.otherwise_count,
            conditions=outcome.conditions,
            channel=outcome.channel,
            guesses=outcome.guesses,
            starts=tuple(started),
            cancels=tuple(cancelled),
            channels=changed,
            closes=outcome.status.value if is_closed else None,
        )

    def active(self, state: State) -> list[tuple[str, Place]]:
        """Who is where now."""
        places = self._graph.transitions.places
        found = []
        for number, count in state.marking:
            ids = list(self._ids.get(places[number], ()))
            found += [(id, places[number]) for id in ids[:count]]
        return found

    def _start(self, place: Place, count: int) -> list[str]:
        ids = []
        for _ in range(count):
            self._counters[place.step] += 1
            ids.append(f"{place.step}-{self._counters[place.step]}")
        self._ids.setdefault(place, deque()).extend(ids)
        return ids

    def _take(self, place: Place) -> str:
        return self._ids[place].popleft()


def counterexample(
    graph: Graph,
    number: int,
    last: tuple[Outcome, int] | None = None,
    cycle: Iterable[tuple[int, Outcome]] = (),
    blamed: Iterable[str] | None = None,
) -> Counterexample:
    """The shortest way to a state, then one event more where the violation is an event.

    `blamed`: steps whose executions are shown as stuck; None: all that are active.
    """
    way = graph.path_to(number)
    targets = [*(state for state, _ in way[1:]), number]
    tracer = Tracer(graph, way[0][0] if way else number)
    events = [tracer.follow(state, outcome, to) for (state, outcome), to in zip(way, targets, strict=False)]
    end = number
    if last is not None:
        events.append(tracer.follow(number, *last))
        end = last[1]
    state = graph.states[end]
    active = tracer.active(state)
    repeated = list(cycle)
    ends = [*(each for each, _ in repeated[1:]), end] if repeated else []
    around = [tracer.follow(each, outcome, to) for (each, outcome), to in zip(repeated, ends, strict=True)]
    wanted = None if blamed is None else set(blamed)
    stuck = [
        _stuck(graph, state, id, place) for id, place in active if wanted is None or place.step in wanted
    ]
    return Counterexample(
        events=tuple(events),
        cycle=tuple(around),
        stuck=tuple(stuck),
        channels=dict(_unread(graph, state)),
        active=tuple(id for id, _ in active),
        status=state.status.value,
    )


def place_of(flow: Flow, outcome: Outcome) -> Path:
    """Where an event stands: at the decision taken, the route followed, the condition that won."""
    if outcome.kind is EventKind.RPC:
        return _decision_path(flow.rpcs[outcome.step or ""], outcome)
    if outcome.kind is EventKind.TIMED_OUT and flow.on_timeout is not None and outcome.decision:
        return _decision_path(flow.on_timeout, outcome)
    if outcome.actor is None:
        return outcome.path
    step = flow.steps[outcome.actor.step]
    if outcome.kind is EventKind.DECIDED:
        return _decision_path(step, outcome)
    if outcome.kind is EventKind.FAILED:
        return _route_path(flow, step, outcome)
    return outcome.path


def _decision_path(decider: Step | Rpc, outcome: Outcome) -> Path:
    if not outcome.decision:
        return decider.path
    decision: Decision = decider.decisions[outcome.decision - 1]
    for _ in range(outcome.otherwise_count):
        decision = otherwise_of(decision) or decision
    return decision.path


def _route_path(flow: Flow, step: Step, outcome: Outcome) -> Path:
    """The route, or what failed where there is none."""
    if outcome.starts:
        options = outcome.actor.options_path if outcome.actor is not None else None
        if options is not None:
            return options
        if step.on_failure is not None:
            return step.on_failure.path
    return step.execute.path if step.execute is not None else step.path


def _unread(graph: Graph, state: State) -> Counter[str]:
    unread: Counter[str] = Counter()
    for number, count in state.queues:
        unread[graph.transitions.queues[number][0]] += count
    return unread


def _stuck(graph: Graph, state: State, id: str, place: Place) -> Stuck:
    flow = graph.transitions.flow
    step = flow.steps[place.step]
    if place.phase is not Phase.WAITING or place.wait is None or step.wait_for is None:
        return Stuck(place.step, id, "is executing", step.path)
    sizes = dict(state.queues)
    rounds = {round.name: round for round in state.rounds}
    parts, path = [], step.wait_for.path
    for pending in place.wait.conditions:
        if pending.is_left_out:
            continue
        declared = next(each for each in step.wait_for.conditions if each.id == pending.id)
        path = declared.path
        if pending.channel is not None:
            key = (pending.channel, pending.key)
            number = graph.transitions.queues.index(key) if key in graph.transitions.queues else -1
            parts.append(f"has {sizes.get(number, 0)} of {pending.minimum} {pending.channel}")
        elif pending.round is not None and pending.round in rounds:
            round = rounds[pending.round]
            parts.append(
                f"has {round.report_count} of {round.branch_count} reports of {_join_of(pending.round)}"
            )
        else:
            parts.append(f"waits for {pending.id}")
    return Stuck(place.step, id, ", ".join(parts) or "waits for nothing that can come", path)


def _join_of(round: str) -> str:
    return round.partition("/")[0]
