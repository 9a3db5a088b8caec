"""Rules about failing, retrying, cancelling, and runs that never end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from orchestrator.definition.durations import format_duration
from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Durability,
    Handler,
    Path,
    RetryPolicy,
    Step,
)
from orchestrator.definition.problem import Edit, Fix, Problem
from orchestrator.graph.cancels import Cancel, cancels
from orchestrator.graph.paths import movements_from
from orchestrator.graph.section import Section
from orchestrator.lint.adding import added_key
from orchestrator.lint.editing import removal
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule

# --- Failure routes ----------------------------------------------------------------------------------------


def find_failing_branches(facts: Facts) -> Iterator[Problem]:
    """FAI002: others wait for the token, and the failure of one ends them all."""
    recovering = {edge.recovery for edge in facts.paths.failure_edges}
    routed = {edge.step for edge in facts.paths.failure_edges}
    reported: set[str] = set()
    for section in facts.sections:
        for name in section.holders:
            step = facts.flow.steps[name]
            if step.execute is None or name in recovering | routed | reported:
                continue
            reported.add(name)
            yield facts.problem(
                "FAI002",
                f"`{name}` holds `{section.channel}` and has no failure route:"
                " when it fails, the run fails, and with it every other branch",
                ("steps", name),
                is_key=True,
                also=[(place.path, "token taken here") for place in section.entries[:1]],
                help=f"add `on_failure` with a step that publishes `{section.channel}`",
                fix=_route_of_others(facts, section, step),
            )


def _route_of_others(facts: Facts, section: Section, step: Step) -> Fix | None:
    """The one step to which the others of the section go when they fail, if it can take the same input."""
    recoveries = {edge.recovery for edge in facts.paths.failure_edges if edge.step in section.holders}
    if len(recoveries) != 1:
        return None
    recovery = facts.flow.steps[recoveries.pop()]
    gives_back = recovery.name in {place.step for place in section.releases}
    fits = recovery.input is None or (step.input is not None and step.input.fits(recovery.input) is None)
    if not gives_back or not fits:
        return None
    edit = added_key(facts.source, ("steps", step.name), f"on_failure: {recovery.name}", after="execute")
    message = f"add `on_failure: {recovery.name}`, as others of the section have it"
    return Fix(message, (edit,), is_safe=False) if edit is not None else None


def find_steps_without_route(facts: Facts) -> Iterator[Problem]:
    """FAI001: steps after whose failure nobody cleans up, in a branch in which others have a route."""
    recovering = {edge.recovery for edge in facts.paths.failure_edges}
    routed = {edge.step: edge for edge in facts.paths.failure_edges}
    members = {name for section in facts.sections for name in section.holders}
    for step in facts.flow.steps.values():
        if step.execute is None or step.name in recovering or step.name in routed or step.name in members:
            continue
        before = [name for name in routed if step.name in facts.paths.after(name) and name != step.name]
        if not before:
            continue
        edge = routed[before[0]]
        yield facts.problem(
            "FAI001",
            f"when `{step.name}` fails the run fails; `{edge.step}` before it has a failure route",
            ("steps", step.name),
            is_key=True,
            also=[(edge.path, "the route of a step before it")],
            help="add `on_failure`, if what was done before has to be undone here too",
        )


def find_routes_to_themselves(facts: Facts) -> Iterator[Problem]:
    """FAI003: a step that fails for good would begin again, for ever."""
    for edge in facts.paths.failure_edges:
        if edge.step == edge.recovery:
            yield facts.problem(
                "FAI003",
                f"`{edge.step}` is its own failure route: it would fail and start again for ever",
                edge.path,
                help="raise `maximum_attempts` or `total_duration` of its `retry`, or name another step",
            )


def find_async_recoveries(facts: Facts) -> Iterator[Problem]:
    """FAI004: what a step with a failure route declares about durability is without effect."""
    routed = {edge.step: edge for edge in facts.paths.failure_edges}
    for name, edge in routed.items():
        handler = facts.flow.steps[name].execute
        if handler is None or handler.durability is not Durability.ASYNC:
            continue
        place = (*handler.path, "durability")
        yield facts.problem(
            "FAI004",
            f"`{name}` has a failure route, so it is sync; `durability: async` is without effect",
            place,
            also=[(edge.path, "its failure route")],
            help="write `durability: sync`, or leave the key out",
            fix=Fix("write `sync`", (Edit(facts.span(place), "sync"),), is_safe=True),
        )


# --- Retries -----------------------------------------------------------------------------------------------


def find_long_retries(facts: Facts) -> Iterator[Problem]:
    """FAI007: the flow's timeout comes before the retries that the author wrote are over."""
    timeout = facts.flow.timeout
    if timeout is None:
        return
    for step in facts.flow.steps.values():
        for handler in (step.wait_for.handler if step.wait_for is not None else None, step.execute):
            found = _declared_budget(facts, handler)
            if handler is None or found is None or found[0] <= timeout.after:
                continue
            budget, place = found
            yield facts.problem(
                "FAI007",
                f"retries of `{handler.name}` go on for {format_duration(budget)},"
                f" the run may take {format_duration(timeout.after)}",
                place,
                also=[(timeout.path, "the timeout of the run")],
                help="shorten the retries, so that a failure is handled before the run times out",
            )


def _declared_budget(facts: Facts, handler: Handler | None) -> tuple[timedelta, Path] | None:
    """How long the retries go on by what is written, and where; None where nothing is written."""
    if handler is None or not handler.retry.path:
        return None
    policy = handler.retry
    keys = facts.source.parts(policy.path)
    found: list[tuple[timedelta, Path]] = []
    if "total_duration" in keys and policy.total_duration is not None:
        found.append((policy.total_duration, (*policy.path, "total_duration")))
    if "maximum_attempts" in keys and policy.maximum_attempts > 0:
        pause = _pauses(policy)
        if policy.total_duration is None or pause < policy.total_duration:
            found.append((pause, (*policy.path, "maximum_attempts")))
    return min(found, default=None, key=lambda each: each[0])


def _pauses(policy: RetryPolicy) -> timedelta:
    """Between all attempts together."""
    interval, total = policy.initial_interval, timedelta()
    for attempt in range(policy.maximum_attempts - 1):
        if interval >= policy.maximum_interval:
            return total + policy.maximum_interval * (policy.maximum_attempts - 1 - attempt)
        total += interval
        interval = min(interval * policy.backoff_coefficient, policy.maximum_interval)
    return total


# --- Cancels -----------------------------------------------------------------------------------------------


def find_cancels_without_effect(facts: Facts) -> Iterator[Problem]:
    """FAI010, FAI011: nothing that is cancelled can be active at that moment."""
    for cancel in cancels(facts.flow):
        if cancel.step is None or cancel.is_key:
            continue  # RPCs and the timeout handler come at any moment; rounds are another matter
        for victim in cancel.victims:
            if cancel.step not in facts.paths.reached or victim not in facts.paths.reached:
                continue
            if not facts.crowds.can_overlap(cancel.step, victim):
                yield _useless(facts, cancel, victim)


def _useless(facts: Facts, cancel: Cancel, victim: str) -> Problem:
    edit = removal(facts.source, cancel.path) if "may" not in cancel.path else None
    fix = Fix(f"do not cancel `{victim}`", (edit,), is_safe=True) if edit is not None else None
    step = facts.flow.steps[cancel.step or ""]
    started = [movement for movement, _ in movements_from(step) if movement.step == victim]
    if victim == cancel.step:
        message = f"`{victim}` cancels itself: a decision never ends its own execution, and there is no other"
        return facts.problem("FAI010", message, cancel.path, help="use `dead_end` to end the branch", fix=fix)
    if started:
        return facts.problem(
            "FAI010",
            f"`{step.name}` cancels `{victim}`, which it only starts now: no decision cancels what it starts",
            cancel.path,
            also=[(started[0].path, "started here, after the cancel")],
            help=f"leave `{victim}` out of the cancel",
            fix=fix,
        )
    return facts.problem(
        "FAI011",
        f"`{victim}` can never be active when `{cancel.step}` cancels it",
        cancel.path,
        also=[(("steps", victim), "runs before or after it, never beside it")],
        help="leave it out, or start it in a branch of its own",
    )


# --- Runs that never end -----------------------------------------------------------------------------------


def find_open_ends(facts: Facts) -> Iterator[Problem]:
    """FAI013: a run that waits for a call, with no timer beside it and no timeout of the run."""
    flow = facts.flow
    if flow.timeout is not None or flow.verify.get("open_ended"):
        return
    for step in flow.steps.values():
        wait = step.wait_for
        if wait is None or step.name not in facts.paths.reached:
            continue
        if wait.combinator is not Combinator.UNTIL or not isinstance(wait.conditions[0], ChannelCondition):
            continue
        condition = wait.conditions[0]
        usage = facts.usages[condition.channel]
        is_fed_by_calls = bool(usage.outsiders) and len(usage.outsiders) == len(usage.publishers)
        if not is_fed_by_calls or flow.channels[condition.channel].is_external or condition.when is not None:
            continue
        yield facts.problem(
            "FAI013",
            f"`{step.name}` waits for `{condition.channel}`, which only calls of an RPC publish:"
            " a run can wait for ever",
            condition.path,
            also=[(usage.outsiders[0].path, "published here")],
            help="declare a `timeout` of the flow, await a timer too, or write `verify: {open_ended: true}`",
        )
        return


RULES: list[Rule] = [
    find_failing_branches,
    find_steps_without_route,
    find_routes_to_themselves,
    find_async_recoveries,
    find_long_retries,
    find_cancels_without_effect,
    find_open_ends,
]
