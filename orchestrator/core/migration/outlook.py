"""What a run at a step may come to need: joins that it faces, attributes that are set, messages to come.

Looks along movements and failure routes. Where one definition asks for something that the other did not, a
run that has passed the place which provides it would be stuck or fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from msgspec import Struct

from orchestrator.core.reach import opens_branch
from orchestrator.core.tasks import movements
from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Decision,
    Flow,
    ForceCompleteIfChannelsEmpty,
    GoTo,
    GoToMany,
    Handler,
    JoinCondition,
    Movement,
    Publish,
    Report,
    Route,
    SetAttribute,
    Step,
    WaitFor,
)
from orchestrator.graph.query import read_paths


class Way(Struct, frozen=True):
    """One way on from a step."""

    target: str
    opens: str | None = None
    """A join whose round it opens."""
    is_branch: bool = False
    sets: frozenset[str] = frozenset()
    """Attributes that are certainly set on it."""


class Outlook:
    """Of one definition; computed when asked for."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.ways = {step.name: list(_ways(flow, step)) for step in flow.steps.values()}

    def after(self, step: str) -> frozenset[str]:
        """The steps that may come, `step` itself included."""
        seen, stack = {step}, [step]
        while stack:
            for way in self.ways[stack.pop()]:
                if way.target not in seen:
                    seen.add(way.target)
                    stack.append(way.target)
        return frozenset(seen)

    @cached_property
    def inside(self) -> dict[str, frozenset[str]]:
        """By step: joins of which an execution there may be inside a round."""
        found: dict[str, set[str]] = {name: set() for name in self.ways}
        for ways in self.ways.values():
            for way in ways:
                if way.is_branch and way.opens is not None:
                    for step in self.after(way.target):
                        found[step].add(way.opens)
        return {name: frozenset(joins) for name, joins in found.items()}

    @cached_property
    def faces(self) -> dict[str, frozenset[str]]:
        """By step: joins that an execution there must face, since it may come to wait on them."""
        return self._solve(
            lambda step: _joins_waited_for(step.wait_for),
            lambda way, needed: frozenset() if way.is_branch else needed - {way.opens},
        )

    @cached_property
    def reports(self) -> dict[str, frozenset[str]]:
        """By step: joins of which an execution there must be inside a round, since it may report to them."""
        return self._solve(
            lambda step: frozenset(e.join for e in _effects(step) if isinstance(e, Report)),
            lambda way, needed: needed - {way.opens} if way.is_branch else needed,
        )

    @cached_property
    def cancels(self) -> dict[str, frozenset[str]]:
        """By step: joins that an execution there must face or be inside of, since it may cancel the round."""
        return self._solve(
            lambda step: frozenset(d.cancel_round for d in _decisions(step.decisions) if d.cancel_round),
            lambda way, needed: needed - {way.opens},
        )

    @cached_property
    def reads(self) -> dict[str, frozenset[str]]:
        """By step: attributes without null that expressions may read before anything sets them."""
        return self._solve(self._reads_of, lambda way, needed: needed - way.sets)

    def _reads_of(self, step: Step) -> frozenset[str]:
        paths = read_paths((step.wait_for, step.execute, step.let, step.decisions))
        names = {path[1] for path in paths if len(path) > 1 and path[0] == "attributes"}
        declared = self.flow.attributes
        return frozenset(
            name
            for name in names & set(declared)
            if not declared[name].is_map and not declared[name].type.admits_null
        )

    @cached_property
    def set_by_steps(self) -> frozenset[str]:
        """Attributes that steps may set; others are left to clients, in a new run as in one that is moved."""
        return frozenset(name for step in self.flow.steps.values() for name in _set_by(step))

    def starved(self, step: str, *, is_past_wait: bool) -> frozenset[str]:
        """Internal channels that a wait ahead cannot do without."""
        found: set[str] = set()
        for name in self.after(step):
            wait = self.flow.steps[name].wait_for
            is_ahead = name != step or not is_past_wait or any(w.target == step for w in self._from(step))
            if wait is not None and is_ahead:
                found |= self.indispensable(wait)
        return frozenset(found)

    def _from(self, step: str) -> Iterator[Way]:
        for name in self.after(step):
            yield from self.ways[name]

    def indispensable(self, wait: WaitFor) -> frozenset[str]:
        """All-of: each plain channel; otherwise only where every condition is on an internal channel."""
        internal = {
            c.channel
            for c in wait.conditions
            if isinstance(c, ChannelCondition) and not self.flow.channels[c.channel].is_external
        }
        if wait.combinator is Combinator.HANDLER:
            return frozenset()
        if wait.combinator in (Combinator.ALL_OF, Combinator.UNTIL):
            return frozenset(
                internal & {c.channel for c in wait.conditions if isinstance(c, ChannelCondition)}
            )
        is_alone = all(isinstance(c, ChannelCondition) and c.channel in internal for c in wait.conditions)
        return frozenset(internal) if is_alone else frozenset()

    def supplies(self, channel: str, step: str, *, is_past_wait: bool) -> bool:
        """Whether a message may come from `step` or one ahead that is reached without having one first."""
        if any(channel in _published_by(rpc.handler, rpc.decisions) for rpc in self.flow.rpcs.values()):
            return True
        seen, stack = set(), [(step, is_past_wait)]
        while stack:
            name, is_past = stack.pop()
            wait = self.flow.steps[name].wait_for
            if wait is not None and not is_past and channel in _published_by_wait(wait):
                return True
            if (name, is_past) in seen or (wait and not is_past and channel in self.indispensable(wait)):
                continue
            seen.add((name, is_past))
            if channel in _published(self.flow.steps[name]):
                return True
            stack += [(way.target, False) for way in self.ways[name]]
        return False

    def _solve(
        self,
        own: Callable[[Step], frozenset[str]],
        passes: Callable[[Way, frozenset[str]], frozenset[str]],
    ) -> dict[str, frozenset[str]]:
        """The least fixpoint of: what a step needs itself, and what its ways hand back to it."""
        needed = {name: own(step) for name, step in self.flow.steps.items()}
        changed = True
        while changed:
            changed = False
            for name, ways in self.ways.items():
                union = needed[name].union(*(passes(way, needed[way.target]) for way in ways))
                if union != needed[name]:
                    needed[name], changed = union, True
        return needed


def _joins_waited_for(wait: WaitFor | None) -> frozenset[str]:
    conditions = wait.conditions if wait is not None else ()
    return frozenset(c.join for c in conditions if isinstance(c, JoinCondition))


def _set_by(step: Step) -> Iterator[str]:
    for handler in (step.execute, step.wait_for.handler if step.wait_for is not None else None):
        if handler is not None and handler.may is not None:
            yield from handler.may.set
    waiting = step.wait_for.effects if step.wait_for is not None else ()
    for effect in (*waiting, *_effects(step)):
        if isinstance(effect, SetAttribute):
            yield effect.attribute


def _decisions(decisions: tuple[Decision, ...]) -> Iterator[Decision]:
    """Each with every `otherwise` inside."""
    for decision in decisions:
        yield decision
        outcome = decision.outcome
        if isinstance(outcome, GoToMany | ForceCompleteIfChannelsEmpty) and outcome.otherwise is not None:
            yield from _decisions((outcome.otherwise,))


def _effects(step: Step) -> Iterator[SetAttribute | Publish | Report]:
    for decision in _decisions(step.decisions):
        yield from decision.effects


def _published(step: Step) -> frozenset[str]:
    return _published_by(step.execute, step.decisions)


def _published_by_wait(wait: WaitFor) -> frozenset[str]:
    effects = {effect.channel for effect in wait.effects if isinstance(effect, Publish)}
    return _published_by(wait.handler, ()) | effects


def _published_by(handler: Handler | None, decisions: tuple[Decision, ...]) -> frozenset[str]:
    may = handler.may.publish if handler is not None and handler.may is not None else {}
    effects = (effect for decision in _decisions(decisions) for effect in decision.effects)
    return frozenset(may) | {effect.channel for effect in effects if isinstance(effect, Publish)}


def _ways(flow: Flow, step: Step) -> Iterator[Way]:
    by_handler = step.execute.may.set if step.execute is not None and step.execute.may is not None else {}
    certain = frozenset(name for name, span in by_handler.items() if span.minimum > 0)
    for decision in _decisions(step.decisions):
        sets = certain | _certainly_set(decision)
        for movement in _own_movements(decision):
            join = decision.outcome.join if isinstance(decision.outcome, GoToMany) else None
            is_branch = join is not None and opens_branch(flow, movement, join)
            yield Way(movement.step, join, is_branch, sets)
    for route in _routes(flow, step):
        yield Way(route)


def _own_movements(decision: Decision) -> tuple[Movement, ...]:
    if isinstance(decision.outcome, GoTo):
        return (decision.outcome.movement,)
    return decision.outcome.movements if isinstance(decision.outcome, GoToMany) else ()


def _certainly_set(decision: Decision) -> frozenset[str]:
    return frozenset(
        effect.attribute
        for effect in decision.effects
        if isinstance(effect, SetAttribute) and effect.when is None and effect.for_each is None
    )


def _routes(flow: Flow, step: Step) -> Iterator[str]:
    """Where a failure of `step` may lead, under its own route or one that a movement to it gives."""
    if step.on_failure is not None:
        yield step.on_failure.step
    deciders = [*(each.decisions for each in flow.steps.values()), *(r.decisions for r in flow.rpcs.values())]
    for decisions in deciders:
        for decision in decisions:
            for movement in movements(decision):
                if movement.step == step.name and movement.options and movement.options.on_failure:
                    yield movement.options.on_failure.step
    for each in flow.steps.values():
        yield from _routes_after(each.on_failure, step.name)


def _routes_after(route: Route | None, step: str) -> Iterator[str]:
    while route is not None:
        inner = route.options.on_failure if route.options is not None else None
        if route.step == step and inner is not None:
            yield inner.step
        route = inner
