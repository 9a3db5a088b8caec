"""Can a run always go on, and come to an end?"""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.state import Phase
from orchestrator.definition.model import GracefulComplete, Path
from orchestrator.graph.paths import has_outcome
from orchestrator.verify.analysis import Analysis
from orchestrator.verify.properties import Check
from orchestrator.verify.properties.findings import kept, violated
from orchestrator.verify.report import PropertyReport
from orchestrator.verify.state import Outcome
from orchestrator.verify.tracing import counterexample


def check_deadlock(analysis: Analysis) -> Iterator[PropertyReport]:
    """Executions wait, and nobody can ever send what they wait for."""
    for number in analysis.dead:
        state = analysis.graph.states[number]
        if not state.marking:
            continue
        found = counterexample(analysis.graph, number)
        steps = sorted({stuck.step for stuck in found.stuck})
        verb = "waits" if len(found.stuck) == 1 else "wait"
        yield violated(
            "deadlock",
            "VER001",
            f"{_listed(steps)} {verb} for what nobody can send",
            found.stuck[0].path if found.stuck else analysis.flow.steps[steps[0]].path,
            found,
            also=tuple((stuck.path, stuck.reason) for stuck in found.stuck[1:4]),
            help="see to it that every way out of a branch sends what others wait for, or add a timer",
        )
        return
    yield kept(analysis, "deadlock", "VER001", "no run can come to stand with waits that nobody can end")


def check_zombie(analysis: Analysis) -> Iterator[PropertyReport]:
    """Nothing is active, nothing is asked for, the run stays open."""
    for number in analysis.dead:
        state = analysis.graph.states[number]
        if state.marking or analysis.is_open_ended:
            continue
        way = analysis.graph.path_to(number)
        found = counterexample(analysis.graph, number)
        path: Path = found.events[-1].path if way else ("flow",)
        yield violated(
            "zombie",
            "VER002",
            "the run stays open with nothing left to do: no step is active, and nobody asked for completion",
            path,
            found,
            help="end the last branch with `graceful_complete`, or say `verify: {open_ended: true}`",
        )
        return
    yield kept(analysis, "zombie", "VER002", "no run stays open with nothing left to do")


def check_livelock(analysis: Analysis) -> Iterator[PropertyReport]:
    """A run that goes on for ever and can no longer close."""
    doomed = analysis.leading_to(analysis.dead)
    for number in analysis.lost:
        if number in doomed or analysis.is_open_ended:
            continue
        start, cycle = _lasso(analysis, number)
        found = counterexample(analysis.graph, start, cycle=cycle)
        path = found.cycle[0].path if found.cycle else ("flow",)
        yield violated(
            "livelock",
            "VER003",
            "from here the run goes on for ever: no way leads to its end",
            path,
            found,
            also=tuple((event.path, "and again") for event in found.cycle[1:4]),
            help="give the cycle a way out that completes or fails the run",
        )
        return
    yield kept(analysis, "livelock", "VER003", "from every state the run can still close")


def check_graceful(analysis: Analysis) -> Iterator[PropertyReport]:
    """Completion was asked for, and can no longer come."""
    doomed = set(analysis.dead)
    for number in sorted(doomed.union(analysis.lost)):
        state = analysis.graph.states[number]
        if not (state.is_completing and state.marking):
            continue
        if number not in doomed and analysis.leading_to([*analysis.dead]) & {number}:
            continue
        found = counterexample(analysis.graph, number)
        yield violated(
            "graceful_never_completes",
            "FAI009",
            "completion was asked for, but what is still active can never end",
            found.stuck[0].path if found.stuck else ("flow",),
            found,
            help="cancel what waits before completing, or end it with a message or a timer",
        )
        return
    if any(state.is_completing and state.is_running for state in analysis.graph.states) or (
        not analysis.graph.is_complete and _asks_for_completion(analysis)
    ):
        yield kept(analysis, "graceful_never_completes", "FAI009", "a completion that was asked for can come")


def _asks_for_completion(analysis: Analysis) -> bool:
    flow = analysis.flow
    deciders = [*flow.steps.values(), *([flow.on_timeout] if flow.on_timeout is not None else [])]
    return any(has_outcome(each, (GracefulComplete,)) for each in deciders)


def check_dead_transition(analysis: Analysis) -> Iterator[PropertyReport]:
    """Decisions and alternatives that no run ever takes."""
    if analysis.graph.pumped:
        return
    dead = list(find_dead(analysis)) if analysis.graph.is_complete else []
    for message, path, help in dead:
        yield violated("dead_transition", "VER004", message, path, None, help=help)
    if not dead:
        yield kept(analysis, "dead_transition", "VER004", "every decision and condition comes into play")


def find_dead(analysis: Analysis) -> Iterator[tuple[str, Path, str]]:
    """What is never taken, where it stands, and what to do."""
    taken = {(o.step, o.decision) for o in analysis.outcomes if o.decision and o.actor is not None}
    entered = {place.step for place in analysis.places}
    for step in analysis.flow.steps.values():
        if step.name not in entered:
            continue
        for position, decision in enumerate(step.decisions, start=1):
            if (step.name, position) not in taken:
                message = f"decision {position} of `{step.name}` is never taken"
                yield message, decision.path, _NEVER_TAKEN
    waited_in = {place.step for place in analysis.places if place.phase is Phase.WAITING}
    for step in analysis.flow.steps.values():
        if step.name not in waited_in or step.wait_for is None or step.wait_for.handler is not None:
            continue
        won = {id for o in analysis.outcomes if o.step == step.name for id in o.conditions}
        for condition in step.wait_for.conditions:
            if condition.id not in won:
                yield (
                    f"the wait of `{step.name}` never ends by `{condition.id}`",
                    condition.path,
                    _NEVER_ENDED,
                )


_NEVER_TAKEN = "remove it, or look for the guard or the wait that keeps it from being reached"
_NEVER_ENDED = "nobody can send it while the step waits; remove the condition or send it"


def _lasso(analysis: Analysis, number: int) -> tuple[int, list[tuple[int, Outcome]]]:
    """Where a cycle begins that can be reached from a lost state, and the cycle."""
    seen, pending = {number}, [number]
    for state in pending:
        cycle = analysis.cycle_from(state)
        if cycle:
            return state, cycle
        for _, target in analysis.graph.edges[state]:
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return number, []


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


CHECKS: dict[str, Check] = {
    "deadlock": check_deadlock,
    "zombie": check_zombie,
    "livelock": check_livelock,
    "dead_transition": check_dead_transition,
    "graceful_never_completes": check_graceful,
}
