"""Who cancels whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.definition.model import (
    Combinator,
    Decision,
    Flow,
    ForceComplete,
    ForceFail,
    GoToMany,
    Handler,
    JoinCondition,
    Path,
    Report,
    Step,
)
from orchestrator.graph.query import movements_of, with_otherwise


@dataclass(frozen=True, slots=True)
class Cancel:
    """One cancel of a decision or handler. `step` is None for an RPC or the timeout handler."""

    step: str | None
    who: str
    number: int
    """Of the decision, from 1; 0: a handler."""
    victims: tuple[str, ...]
    path: Path
    is_key: bool = False


def cancels(flow: Flow) -> Iterator[Cancel]:
    """All cancels after which the run goes on, in the order written."""
    for step in flow.steps.values():
        yield from _cancels(flow, step.name, f"`{step.name}`", step.decisions, step)
        wait = step.wait_for
        for handler in (wait.handler if wait is not None else None, step.execute):
            yield from _cancels_by_handler(step.name, f"`{step.name}`", handler)
    for rpc in flow.rpcs.values():
        yield from _cancels(flow, None, f"RPC `{rpc.name}`", rpc.decisions, None)
        yield from _cancels_by_handler(None, f"RPC `{rpc.name}`", rpc.handler)
    if flow.on_timeout is not None:
        yield from _cancels(flow, None, "the timeout handler", flow.on_timeout.decisions, None)
        yield from _cancels_by_handler(None, "the timeout handler", flow.on_timeout.execute)


def _cancels(
    flow: Flow, name: str | None, who: str, decisions: tuple[Decision, ...], step: Step | None
) -> Iterator[Cancel]:
    for label, decision, _ in with_otherwise(decisions):
        if isinstance(decision.outcome, ForceComplete | ForceFail):
            continue
        number = int(label.split("/")[0])
        for index, victim in enumerate(decision.cancel):
            yield Cancel(name, who, number, (victim,), (*decision.path, "cancel", index))
        for index, victim in enumerate(decision.cancel_siblings):
            yield Cancel(name, who, number, (victim,), (*decision.path, "cancel_siblings", index))
        join = decision.cancel_round
        if join is not None and not (step is not None and _awaits_all(step, join)):
            victims = tuple(inside_rounds(flow, join))
            yield Cancel(name, who, number, victims, (*decision.path, "cancel_round"), is_key=True)


def _cancels_by_handler(step: str | None, who: str, handler: Handler | None) -> Iterator[Cancel]:
    if handler is not None and handler.may is not None:
        for victim in handler.may.cancel:
            yield Cancel(step, who, 0, (victim,), (*handler.may.path, "cancel", victim))


def _awaits_all(step: Step, join: str) -> bool:
    """Nothing that could still report is active once such a wait is over."""
    wait = step.wait_for
    if wait is None or wait.combinator not in (Combinator.UNTIL, Combinator.ALL_OF):
        return False
    return any(
        isinstance(c, JoinCondition) and c.join == join and c.need in ("all", "active") and c.when is None
        for c in wait.conditions
    )


def inside_rounds(flow: Flow, join: str) -> list[str]:
    """Steps that can be active inside a round of the join: its branches, as far as they have not reported."""
    left = [
        movement.step
        for step in flow.steps.values()
        for _, decision, _ in with_otherwise(step.decisions)
        if isinstance(decision.outcome, GoToMany) and decision.outcome.join == join
        for movement in decision.outcome.movements
        if movement.branch and not _waits_on(flow.steps[movement.step], join)
    ]
    seen: dict[str, None] = {}
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen[name] = None
        step = flow.steps[name]
        left += [step.on_failure.step] if step.on_failure is not None else []
        for _, decision, parent in with_otherwise(step.decisions):
            effects = decision.effects + (parent.effects if parent is not None else ())
            if not any(isinstance(effect, Report) and effect.join == join for effect in effects):
                left += [movement.step for movement in movements_of(decision)]
    return list(seen)


def _waits_on(step: Step, join: str) -> bool:
    conditions = step.wait_for.conditions if step.wait_for is not None else ()
    return any(isinstance(c, JoinCondition) and c.join == join for c in conditions)
