"""Rules about attributes: values that may not be there yet, and locks that are let go too early."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.definition.cel_tree import Call, Fold, Node, Read, Select, children
from orchestrator.definition.model import Decision, Handler, Path, SetAttribute, Step, WaitFor
from orchestrator.definition.problem import Problem
from orchestrator.definition.values import Expression, Interpolation, Value
from orchestrator.graph.paths import movements_from
from orchestrator.graph.query import iterate_values, movements_of, otherwise_of, with_otherwise
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule

_NEEDS_VALUES = {
    "_+_", "_-_", "_*_", "_/_", "_%_", "-_", "_<_", "_<=_", "_>_", "_>=_", "_[_]", "@in", "@text", "size"
}  # fmt: skip
"""Operators and functions that null has no place in."""

# --- Values that are not there yet -------------------------------------------------------------------------


def find_reads_before_writes(facts: Facts) -> Iterator[Problem]:
    """DAT004: the value of an attribute is needed on a way on which nobody has written it."""
    outside = _written_from_outside(facts)
    for name, attribute in facts.flow.attributes.items():
        writers = [step.name for step in facts.flow.steps.values() if name in _written(step)]
        if attribute.is_map or attribute.initial is not None or not writers or name in outside:
            continue
        for step_name, path in _reached_without(facts, name).items():
            step = facts.flow.steps[step_name]
            need = _need(step, name)
            if need is None or any(facts.crowds.can_overlap(step_name, writer) for writer in writers):
                continue
            yield facts.problem(
                "DAT004",
                f"`{step_name}` needs the value of `{name}`, which is not set on every way there",
                need,
                also=[(path, "this way sets none"), (attribute.path, "has no `initial`")],
                help=f"declare an `initial`, or write `coalesce(attributes.{name}, …)`",
            )
            break


def _written_from_outside(facts: Facts) -> set[str]:
    """By RPCs and the timeout handler, which can come at any moment."""
    found: set[str] = set()
    for rpc in facts.flow.rpcs.values():
        found |= _sets(rpc.handler)
        found |= {e.attribute for _, d, _ in with_otherwise(rpc.decisions) for e in _writes(d)}
    return found | (_written(facts.flow.on_timeout) if facts.flow.on_timeout is not None else set())


def _written(step: Step) -> set[str]:
    """What the step may write, on whatever way."""
    wait = step.wait_for
    found = _sets(step.execute) | (_sets(wait.handler) if wait is not None else set())
    found |= {e.attribute for e in (wait.effects if wait is not None else ()) if isinstance(e, SetAttribute)}
    return found | {e.attribute for _, d, _ in with_otherwise(step.decisions) for e in _writes(d)}


def _sets(handler: Handler | None) -> set[str]:
    return set(handler.may.set) if handler is not None and handler.may is not None else set()


def _writes(decision: Decision) -> list[SetAttribute]:
    return [effect for effect in decision.effects if isinstance(effect, SetAttribute)]


def _reached_without(facts: Facts, name: str) -> dict[str, Path]:
    """Steps that the run can come to before anybody has written the attribute, and by which movement."""
    start = facts.flow.start
    found: dict[str, Path] = {}
    left: list[tuple[str, Path]] = [(start, ("start",))] if start is not None else []
    while left:
        step_name, path = left.pop(0)
        if step_name in found:
            continue
        found[step_name] = path
        step = facts.flow.steps[step_name]
        if _is_set_by_wait(step.wait_for, name):
            continue
        left += [(e.recovery, e.path) for e in facts.paths.failure_edges if e.step == step_name]
        if name not in _sets(step.execute):
            for decision in step.decisions:
                left += _moves_without(decision, name)
    return found


def _is_set_by_wait(wait: WaitFor | None, name: str) -> bool:
    if wait is None:
        return False
    effects = {effect.attribute for effect in wait.effects if isinstance(effect, SetAttribute)}
    return name in effects | _sets(wait.handler)


def _moves_without(decision: Decision, name: str) -> Iterator[tuple[str, Path]]:
    if any(effect.attribute == name for effect in _writes(decision)):
        return
    for movement in movements_of(decision):
        yield movement.step, movement.path
    inner = otherwise_of(decision)
    if inner is not None:
        yield from _moves_without(inner, name)


def _need(step: Step, name: str) -> Path | None:
    """Where the step's expressions fail when the attribute is unset; None where they look first."""
    if name in _sets(step.execute) or _is_set_by_wait(step.wait_for, name):
        return None
    values = list(iterate_values((step.wait_for, step.decisions)))
    if any(_looks_first(expression.tree[0], name) for value in values for expression in value.expressions):
        return None
    for value in values:
        for part in value.expressions:
            if _needs(part.tree[0], name, is_needed=_is_inside_text(value, part)):
                return value.path
    return None


def _is_inside_text(value: Value, part: Expression) -> bool:
    return isinstance(value, Interpolation) and part in value.parts


def _needs(node: Node, name: str, *, is_needed: bool) -> bool:
    match node:
        case Read(path=("attributes", str(read), *rest), member=None):
            return read == name and (is_needed or bool(rest))
        case Call(function=function, args=args, target=target):
            strict = function in _NEEDS_VALUES
            on_target = target is not None and _needs(target, name, is_needed=True)
            return on_target or any(_needs(arg, name, is_needed=strict) for arg in args)
        case Fold(variable="#unused"):
            return any(_needs(part, name, is_needed=False) for part in children(node))  # a binding
        case Fold(over=over):
            return _needs(over, name, is_needed=True)
        case Select(is_test=True):
            return False
        case _:
            return any(_needs(part, name, is_needed=False) for part in children(node))


def _looks_first(node: Node, name: str) -> bool:
    """Whether the expression compares the attribute with something, or asks whether it is there."""
    match node:
        case Call(function="_==_" | "_!=_", args=args) if any(_is_read(arg, name) for arg in args):
            return True
        case Read(path=("attributes", str(read), *_), member=str()) if read == name:
            return True
        case Read(path=("attributes",), member=str(read)) if read == name:
            return True
        case _:
            return any(_looks_first(part, name) for part in children(node))


def _is_read(node: Any, name: str) -> bool:
    return isinstance(node, Read) and node.path[:2] == ("attributes", name)


# --- Locks -------------------------------------------------------------------------------------------------


def find_locks_let_go(facts: Facts) -> Iterator[Problem]:
    """DAT006: two steps in a row lock the same attribute, and others get in between."""
    for step in facts.flow.steps.values():
        for movement, _ in movements_from(step):
            target = facts.flow.steps[movement.step]
            shared = [
                (lock, other)
                for lock in (step.execute.locks if step.execute is not None else ())
                for other in (target.execute.locks if target.execute is not None else ())
                if lock.attribute == other.attribute and lock.key == other.key
            ]
            if not shared or target is step or not facts.crowds.has([step.name]):
                continue
            first, second = shared[0]
            yield facts.problem(
                "DAT006",
                f"the lock of `{step.name}` on `{first.attribute}` is let go before `{target.name}` takes it:"
                " others can write in between",
                second.path,
                also=[(first.path, "held only while this handler runs")],
                help="what must not be disturbed over several steps is a critical section: take a token from"
                " a channel",
            )


RULES: list[Rule] = [find_reads_before_writes, find_locks_let_go]
