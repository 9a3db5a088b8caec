"""Rules about guards: dead ones, lists without a last word, overlaps (GRA003, GRA004, GRA005)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from orchestrator.definition.model import Decision, GoToMany, Movement, Path, Report, Rpc, Step
from orchestrator.definition.problem import Edit, Fix, Problem
from orchestrator.definition.values import Expression
from orchestrator.graph.guards import GuardTable
from orchestrator.graph.labels import value_text
from orchestrator.graph.query import elements_of, movements_of, with_otherwise
from orchestrator.graph.subjects import Subjects
from orchestrator.lint.editing import added_item, removal
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule

_PAIR_LIMIT = 20
"""Lists with more guards are not searched for overlaps."""


def check_decision_lists(facts: Facts) -> Iterator[Problem]:
    """Decisions of one choice are a list of their own: a handler that chose a word considers no others."""
    for element in elements_of(facts.flow):
        for choice in dict.fromkeys(decision.choice for decision in element.decisions):
            decisions = [decision for decision in element.decisions if decision.choice == choice]
            if all(decision.when is None for decision in decisions) and len(decisions) == 1:
                continue
            subjects = Subjects(facts.setting, element)
            table = GuardTable([decision.when for decision in decisions], subjects)
            yield from _dead_decisions(facts, decisions, table)
            if not isinstance(element, Rpc):
                yield from _missing_else(facts, element, decisions, table)
            yield from _overlaps(facts, decisions, table)


def check_movement_guards(facts: Facts) -> Iterator[Problem]:
    """A fan-out all of whose movements are guarded fails where none of them is left."""
    for element in elements_of(facts.flow):
        if isinstance(element, Rpc):
            continue
        for _, decision, parent in with_otherwise(element.decisions):
            movements = _guarded(decision)
            if not movements:
                continue
            before = _rivals(element, decision) if parent is None else []
            guards = [each.when for each in before] + [decision.when] + [each.when for each in movements]
            table = GuardTable(guards, Subjects(facts.setting, element))
            own = len(before)
            others = [index for index in range(len(guards)) if index != own]
            if table.can([own], others):
                yield facts.problem(
                    "GRA004",
                    f"no movement of `{element.name}` is left{_case(table.case([own], others))}",
                    (*decision.path, "go_to_many"),
                    is_key=True,
                    help="write `otherwise` beside `go_to_many`: what happens then",
                )


def find_fan_outs_over_nothing(facts: Facts) -> Iterator[Problem]:
    """A fan-out over lists alone fails where they are empty; info, since many lists never are."""
    for element in elements_of(facts.flow):
        subjects = Subjects(facts.setting, element)
        for _, decision, _ in with_otherwise(element.decisions if isinstance(element, Step) else ()):
            outcome = decision.outcome
            if not isinstance(outcome, GoToMany) or outcome.otherwise is not None:
                continue
            lists = [each.for_each for each in outcome.movements if each.for_each is not None]
            if len(lists) < len(outcome.movements) or any(not subjects.may_be_empty(each) for each in lists):
                continue
            yield facts.problem(
                "GRA004",
                f"no movement of `{element.name}` is left where `{value_text(lists[0])}` is empty",
                (*decision.path, "go_to_many"),
                is_key=True,
                help="write `otherwise` beside `go_to_many`, or declare the list with `minItems: 1`",
                severity="info",
            )


def check_constant_guards(facts: Facts) -> Iterator[Problem]:
    """Of movements, effects and conditions; those of decisions are checked with their list."""
    seen: set[Path] = set()
    for element in elements_of(facts.flow):
        subjects = Subjects(facts.setting, element)
        for part, what in _guarded_parts(element):
            guard = part.when
            if guard is None or guard.reads or guard.path in seen:
                continue
            seen.add(guard.path)
            always = GuardTable([guard], subjects).constant(0)
            if always is not None:
                yield _constant(facts, guard, always, what, part.path)


# --- GRA003 -------------------------------------------------------------------------------------------------


def _dead_decisions(facts: Facts, decisions: Sequence[Decision], table: GuardTable) -> Iterator[Problem]:
    for index, decision in enumerate(decisions):
        guard = decision.when
        always = table.constant(index) if guard is not None else None
        earlier = list(range(index))
        if guard is not None and (always is False or (always and table.can([index], earlier))):
            yield _constant(facts, guard, always, "decision", decision.path)
            continue
        is_last_word = guard is None and all(table.constant(each) is not True for each in earlier)
        if is_last_word or table.can([index], earlier):
            continue
        by = next((each for each in earlier if not table.can([index], [each])), None)
        shadow = decisions[by] if by is not None else None
        is_plain = by is not None and table.constant(by) is True
        why = "an earlier one always holds" if is_plain else "earlier ones hold first"
        yield facts.problem(
            "GRA003",
            f"this decision is never taken: {why}",
            guard.path if guard is not None else decision.path,
            also=[(shadow.path, "holds whenever this one does")] if shadow is not None else (),
            help="remove it, or move it up",
            fix=_removal(facts, "delete the decision", decision.path),
        )


def _constant(facts: Facts, guard: Expression, always: bool, what: str, path: Path) -> Problem:
    if always:
        fix = _removal(facts, "remove `when`", guard.path)
        message, help = f"the guard of this {what} always holds", "remove `when`"
    else:
        fix = _removal(facts, f"delete the {what}", path) if isinstance(path[-1], int) else None
        message, help = f"the guard of this {what} never holds", f"remove the {what}"
    return facts.problem("GRA003", message, guard.path, help=help, fix=fix)


def _guarded_parts(element: Step | Rpc) -> Iterator[tuple[Any, str]]:
    wait = element.wait_for if isinstance(element, Step) else None
    if wait is not None:
        yield from ((condition, "condition") for condition in wait.conditions)
        yield from ((effect, "effect") for effect in wait.effects if not isinstance(effect, Report))
    for _, decision, _ in with_otherwise(element.decisions):
        yield from ((effect, "effect") for effect in decision.effects if not isinstance(effect, Report))
        yield from ((movement, "movement") for movement in movements_of(decision))


def _removal(facts: Facts, message: str, path: Path) -> Fix | None:
    edit: Edit | None = removal(facts.source, path)
    return Fix(message, (edit,), is_safe=True) if edit is not None else None


# --- GRA004 -------------------------------------------------------------------------------------------------


def _missing_else(
    facts: Facts, element: Step, decisions: Sequence[Decision], table: GuardTable
) -> Iterator[Problem]:
    every = list(range(len(decisions)))
    if not table.can([], every):
        return
    choice = decisions[0].choice
    of = f"choice `{choice}` of `{element.name}`" if choice is not None else f"`{element.name}`"
    unless = f"choice: {choice}, " if choice is not None else ""
    path: Path = (*element.path, "decide") if element.is_listed else decisions[0].path
    text = f"{{{unless}force_fail: no decision of {element.name} holds}}"
    edit = added_item(facts.source, path, text) if element.is_listed else None
    yield facts.problem(
        "GRA004",
        f"no decision of {of} holds{_case(table.case([], every))}",
        path,
        is_key=True,
        help="end the list with a decision that has no `when`",
        fix=Fix("add a last decision that fails the run", (edit,), is_safe=False)
        if edit is not None
        else None,
    )


def _case(case: str | None) -> str:
    return f" where {case}" if case is not None else ": the guards are too many to be shown exhaustive"


def _guarded(decision: Decision) -> tuple[Movement, ...]:
    """All movements, where each has a guard and nothing says what happens without them."""
    outcome = decision.outcome
    if not isinstance(outcome, GoToMany) or outcome.otherwise is not None:
        return ()
    is_guarded = all(each.when is not None and each.for_each is None for each in outcome.movements)
    return outcome.movements if is_guarded else ()


def _rivals(element: Step, decision: Decision) -> list[Decision]:
    """Those that are tried before it."""
    before = element.decisions[: element.decisions.index(decision)]
    return [each for each in before if each.choice == decision.choice]


# --- GRA005 -------------------------------------------------------------------------------------------------


def _overlaps(facts: Facts, decisions: Sequence[Decision], table: GuardTable) -> Iterator[Problem]:
    """Two guards compare the same thing with constants, and neither includes the other: who meant what?

    A guard that includes an earlier one is the usual cascade, and silent.
    """
    by_subject: dict[str, list[int]] = {}
    for index, decision in enumerate(decisions if table.is_known else ()):
        subjects = table.subjects(index)
        if decision.when is not None and len(subjects) == 1:
            by_subject.setdefault(next(iter(subjects)), []).append(index)
    for subject, guarded in by_subject.items():
        if 2 <= len(guarded) <= _PAIR_LIMIT and table.is_comparison(subject):
            yield from _overlapping_pairs(facts, decisions, table, guarded)


def _overlapping_pairs(
    facts: Facts, decisions: Sequence[Decision], table: GuardTable, guarded: Sequence[int]
) -> Iterator[Problem]:
    for first, second in combinations(guarded, 2):
        one, other = decisions[first].when, decisions[second].when
        assert one is not None and other is not None
        if table.can([first, second]) and table.can([first], [second]) and table.can([second], [first]):
            yield facts.problem(
                "GRA005",
                f"`{one.text.strip()}` and `{other.text.strip()}` can both hold; the first one wins",
                other.path,
                also=[(one.path, f"both hold where {table.case([first, second])}")],
                help="let the guards exclude each other",
            )


RULES: list[Rule] = [
    check_decision_lists,
    check_movement_guards,
    find_fan_outs_over_nothing,
    check_constant_guards,
]
