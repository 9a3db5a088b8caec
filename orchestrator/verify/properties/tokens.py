"""Tokens of critical sections: never lost, never doubled, never held by more than there is room for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.definition.model import Delivery, Path
from orchestrator.graph.cancels import cancels
from orchestrator.graph.section import Section
from orchestrator.verify.analysis import Analysis, Held
from orchestrator.verify.properties import Check
from orchestrator.verify.properties.findings import kept, proved, violated
from orchestrator.verify.report import PropertyReport
from orchestrator.verify.state import Counts, Outcome, State
from orchestrator.verify.tracing import counterexample


def check_conservation(analysis: Analysis) -> Iterator[PropertyReport]:
    """Unread tokens and held ones are together always what was seeded."""
    for section in analysis.sections:
        found = _find_imbalance(analysis, section)
        if found is None:
            if section.is_conserved:
                message = (
                    f"tokens of {section.channel} are neither lost nor doubled, for any number of branches"
                )
                yield proved("token_conservation", "TOK002", message)
            else:
                yield kept(
                    analysis,
                    "token_conservation",
                    "TOK002",
                    f"tokens of {section.channel} are neither lost nor doubled",
                )
            continue
        trace = counterexample(analysis.graph, found.number, found.edge)
        is_lost = found.after < found.before
        yield violated(
            "token_conservation",
            "TOK002" if is_lost else "TOK003",
            f"a token of `{section.channel}` is {'lost' if is_lost else 'doubled'}: "
            f"there are {found.after} instead of {found.before}",
            trace.events[-1].path if trace.events else section.entries[0].path,
            trace,
            also=_entries(section),
            help=f"publish `{section.channel}` exactly once on every way out of the section",
        )


def check_exclusion(analysis: Analysis) -> Iterator[PropertyReport]:
    """Never more inside than there are tokens."""
    for section in analysis.sections:
        crowded = _find_crowd(analysis, section)
        rooms = "one branch" if section.capacity == 1 else f"{section.capacity} branches"
        message = f"at most {rooms} at a time hold{'s' if section.capacity == 1 else ''} `{section.channel}`"
        if crowded is None:
            invariant = analysis.proof_of_bound(section.members, section.capacity)
            if section.is_conserved:
                yield proved("mutual_exclusion", "VER006", f"{message}, for any number of branches")
            elif invariant is not None:
                yield proved(
                    "mutual_exclusion", "VER006", f"{message}, for any number of branches: {invariant}"
                )
            else:
                yield kept(analysis, "mutual_exclusion", "VER006", message)
            continue
        trace = counterexample(analysis.graph, crowded, blamed=section.members)
        held = analysis.inside(analysis.graph.states[crowded].marking, section)
        yield violated(
            "mutual_exclusion",
            "VER006",
            f"{held} branches are inside the section of `{section.channel}` at once, where there is room for "
            f"{section.capacity}",
            trace.stuck[0].path if trace.stuck else trace.events[-1].path,
            trace,
            also=_entries(section),
            help=f"seed `{section.channel}` once and publish it exactly once on every way out",
        )


def check_cancelled_holder(analysis: Analysis) -> Iterator[PropertyReport]:
    """A cancel ends somebody who holds a token that nobody gives back."""
    for section in analysis.sections:
        is_unsure = not analysis.graph.is_complete and any(True for _ in cancels(analysis.flow))
        if not is_unsure and not any(outcome.cancels for outcome in analysis.outcomes):
            return
        found = _find_lost_by_cancel(analysis, section)
        if found is None:
            message = f"no cancel hits a holder of `{section.channel}`"
            yield kept(analysis, "cancelled_holder", "TOK007", message)
            continue
        number, outcome, target = found
        trace = counterexample(analysis.graph, number, (outcome, target))
        victims = ", ".join(trace.events[-1].cancels)
        yield violated(
            "cancelled_holder",
            "TOK007",
            f"{victims} is cancelled while holding `{section.channel}`: nobody gives the token back",
            trace.events[-1].path,
            trace,
            also=_entries(section),
            help="cancel only steps that hold no token, or publish it beside the cancel",
        )


def _find_crowd(analysis: Analysis, section: Section) -> int | None:
    """The first state with more holders than tokens: there is one more than in the state before it."""
    states = analysis.graph.states
    entering = {outcome for outcome in analysis.outcomes if analysis.inside(outcome.places, section) > 0}
    for number, parent in enumerate(analysis.graph.parents):
        if parent is not None and parent[1] not in entering:
            continue
        state = states[number]
        if state.is_running and analysis.inside(state.marking, section) > section.capacity:
            return number
    return None


class _Imbalance(NamedTuple):
    """An event, and how many tokens there were before it and after."""

    number: int
    edge: tuple[Outcome, int]
    before: int
    after: int


def _find_imbalance(analysis: Analysis, section: Section) -> _Imbalance | None:
    """The first event, other than that of a step that seeds, which makes tokens more or fewer."""
    suspects = {outcome for outcome in analysis.outcomes if _may_unbalance(analysis, section, outcome)}
    states = analysis.graph.states
    for number, outcome, target in analysis.edges() if suspects else ():
        if outcome not in suspects or not states[target].is_running:
            continue
        before, after = (_total_in(analysis, section, states[each]) for each in (number, target))
        if after.least > before.most:
            return _Imbalance(number, (outcome, target), before.most, after.least)
        if after.most < before.least:
            return _Imbalance(number, (outcome, target), before.least, after.most)
    return None


def _may_unbalance(analysis: Analysis, section: Section, outcome: Outcome) -> bool:
    """Could there be more than at most before, or fewer than for certain?"""
    if any(seed.step == outcome.step for seed in section.seeds):
        return False
    if analysis.flow.channels[section.channel].delivery is Delivery.TRANSIENT:
        return True  # messages may be gone beside what the event does
    change = _total(analysis, section, outcome.places, outcome.queues)
    return change.least > 0 or change.most < 0


def _total_in(analysis: Analysis, section: Section, state: State) -> Held:
    return _total(analysis, section, state.marking, state.queues)


def _total(analysis: Analysis, section: Section, marking: Counts, queues: Counts) -> Held:
    """Unread tokens and held ones."""
    unread, held = analysis.unread(queues, section.channel), analysis.held(marking, section)
    return Held(unread + held.least, unread + held.most)


def _find_lost_by_cancel(analysis: Analysis, section: Section) -> tuple[int, Outcome, int] | None:
    hitting = {
        outcome
        for outcome in analysis.outcomes
        if any(section.holders.get(place.step, 0) for place, _ in outcome.cancels)
    }
    states = analysis.graph.states
    for number, outcome, target in analysis.edges() if hitting else ():
        if outcome not in hitting or not states[target].is_running:
            continue
        before, after = (_total_in(analysis, section, states[each]) for each in (number, target))
        if after.most < before.least:
            return number, outcome, target
    return None


def _entries(section: Section) -> tuple[tuple[Path, str], ...]:
    return tuple((entry.path, "token taken here") for entry in section.entries)


CHECKS: dict[str, Check] = {
    "token_conservation": check_conservation,
    "mutual_exclusion": check_exclusion,
    "cancelled_holder": check_cancelled_holder,
}
