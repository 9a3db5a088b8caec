"""Rules about joins: rounds with reports, and channels whose messages a wait counts."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.reach import reach_of
from orchestrator.definition.model import Combinator, JoinCondition, Step
from orchestrator.definition.problem import Problem
from orchestrator.definition.values import Literal, Value
from orchestrator.graph.counts import size_of_list
from orchestrator.lint.counting import CountingWait, are_comparable, awaited, counting_waits, debts, started
from orchestrator.lint.facts import Facts
from orchestrator.lint.rounds import Exit, Interior, Opening
from orchestrator.lint.rules import Rule
from orchestrator.lint.suggestions import join_fix, publish_fix, report_fix


def find_silent_branches(facts: Facts) -> Iterator[Problem]:
    """JON004: a branch that can report to nobody."""
    flow = facts.flow
    for opening in (opening for each in facts.rounds.openings.values() for opening in each):
        for movement in opening.branches:
            if not reach_of(flow).counts(opening.join, 1, movement.step):
                yield facts.problem(
                    "JON004",
                    f"`{movement.step}` is a branch of `{opening.join}` and can never report to it",
                    movement.path,
                    also=[((*opening.path, "join"), "its round is opened here")],
                    help=f"report to `{opening.join}`, or leave it out of the round: `branch: false`",
                )


def find_misses(facts: Facts) -> Iterator[Problem]:
    """JON004, JON007: ways out of a round without a report, and back to its split."""
    flow = facts.flow
    for join in flow.joins:
        openings = facts.rounds.openings[join]
        interior = Interior(flow, reach_of(flow), join, openings)
        openers = {opening.step for opening in openings}
        waits = sorted(facts.rounds.waits[join], key=lambda wait: _graveness(*wait))
        severity = _SEVERITIES[_graveness(*waits[0])] if waits else "info"
        condition = waits[0][1] if waits else None
        for way in interior.misses.values():
            if way.target in openers:
                yield _return(facts, join, way, "error" if severity == "error" else None)
            else:
                yield _miss(facts, join, way, condition, severity)
        for way in interior.returns.values():
            yield _return(facts, join, way, None)


def _return(facts: Facts, join: str, way: Exit, severity: str | None) -> Problem:
    return facts.problem(
        "JON007",
        f"`{way.step}` goes back to `{way.target}`, which opened the round of `{join}` that it is in",
        way.path,
        also=[((*way.opening.path, "join"), "the round is opened here")],
        help=f"report to `{join}` before, or let the joining step start the next round",
        severity=severity,
    )


_SEVERITIES = ("error", "warning", "info")


def _graveness(step: Step, condition: JoinCondition) -> int:
    """0: without the report the wait never ends; 1: it may not; 2: it does without."""
    wait = step.wait_for
    is_only_way = wait is not None and wait.combinator in (Combinator.UNTIL, Combinator.ALL_OF)
    is_only_way = is_only_way and condition.when is None
    if condition.need == "all":
        return 0 if is_only_way else 1
    return 1 if isinstance(condition.need, Value) and is_only_way else 2


def _miss(facts: Facts, join: str, way: Exit, condition: JoinCondition | None, severity: str) -> Problem:
    where = f"goes on to `{way.target}`, which" if way.target is not None else "ends its branch and"
    message = f"`{way.step}` {where} does not report to `{join}`"
    waits = []
    if condition is not None and severity != "info":
        need = condition.need if isinstance(condition.need, str) else condition.need.text
        message += f": `need: {need}` can then never hold" if need == "all" else ""
        waits = [(condition.path, "awaits the reports")]
    return facts.problem(
        "JON004",
        message,
        way.path,
        is_key=way.is_key,
        also=[((*way.opening.path, "join"), "the round is opened here"), *waits],
        help=f"report to `{join}` here, or write `need: active` where it is awaited",
        severity=severity,
        fix=report_fix(facts, way, join) if severity != "info" else None,  # meant so
    )


def find_oversized_needs(facts: Facts) -> Iterator[Problem]:
    """JON003: a need of more reports than there are branches."""
    for join, openings in facts.rounds.openings.items():
        sizes = [_branch_count(opening) for opening in openings]
        if not sizes or None in sizes:
            continue
        most = max(size for size in sizes if size is not None)
        for step, condition in facts.rounds.waits[join]:
            need = condition.need
            count = need.value if isinstance(need, Literal) else None
            if type(count) is int and count > most:
                yield facts.problem(
                    "JON003",
                    f"`{step.name}` needs {count} reports to `{join}`, and a round has {most} branches",
                    (*condition.path, "need"),
                    also=[((*opening.path, "join"), "a round is opened here") for opening in openings],
                    help="such a wait starves; `need: all` awaits every branch",
                )


def _branch_count(opening: Opening) -> int | None:
    """None: known only at run time."""
    sizes = [size_of_list(movement.for_each) for movement in opening.branches]
    return None if None in sizes else sum(size or 0 for size in sizes)


def find_strangers(facts: Facts) -> Iterator[Problem]:
    """JON008: a step that waits on a join is entered where no round is faced."""
    for join, waits in facts.rounds.waits.items():
        waiting = {
            step.name: condition
            for step, condition in waits
            if condition.when is None and step.wait_for and step.wait_for.combinator is not Combinator.HANDLER
        }
        without = facts.rounds.entered_without(join) if waiting else {}
        opened = [((*o.path, "join"), "a round is opened here") for o in facts.rounds.openings[join][:1]]
        for name, condition in waiting.items():
            if name in without:
                yield facts.problem(
                    "JON008",
                    f"`{name}` waits on `{join}` and is entered here facing no round of it",
                    without[name],
                    also=[(condition.path, "waits on the round faced"), *opened],
                    help=f"start `{name}` beside the branches, in the `go_to_many` that opens the round;"
                    f" branches do not go to it, they `report: {{{join}: …}}`",
                    fix=join_fix(facts, facts.flow.steps[name], join, without[name]),
                )


# --- Channels that are counted -----------------------------------------------------------------------------


def find_miscounts(facts: Facts) -> Iterator[Problem]:
    """JON003, JON004, JON005 where a channel serves as join."""
    for wait in counting_waits(facts.flow, facts.usages, facts.paths):
        expected, given = awaited(wait), started(wait)
        if expected is None or given is None:
            continue
        lineages = debts(facts.flow, wait, facts.crowds, facts.usages[wait.condition.channel].steps)
        if lineages is None:
            continue
        yield from _mismatch(facts, wait)
        if expected == given:
            for visit in lineages.visits.values():
                for violation in visit.violations:
                    place = (violation.path, violation.is_key)
                    yield _owing(facts, wait, violation.code, visit.spot.step, *place)


def _mismatch(facts: Facts, wait: CountingWait) -> Iterator[Problem]:
    expected, given = awaited(wait), started(wait)
    is_quorum = expected is not None and not expected.base and given is not None and expected < given
    if expected is None or given is None or expected == given or not are_comparable(expected, given):
        return
    if is_quorum:
        return  # 2 of 3: meant so
    condition = wait.condition
    messages = "1 message" if str(expected) == "1" else f"{expected} messages"
    branches = f"{given} branches are started that publish one each"
    if str(given) == "1":
        branches = "1 branch is started that publishes one"
    yield facts.problem(
        "JON003",
        f"`{wait.waiter.step}` awaits {messages} of `{condition.channel}`, and {branches}",
        condition.exactly.path if condition.exactly is not None else condition.path,
        also=[(m.path, "branches started here") for m in wait.branches],
        help="count what the branches are started for; a `join` counts by itself",
    )


def _owing(
    facts: Facts, wait: CountingWait, code: str, step: str, path: tuple[str | int, ...], is_key: bool
) -> Problem:
    channel, waiter = wait.condition.channel, wait.waiter.step
    also = [(wait.condition.path, f"{awaited(wait)} messages are awaited here")]
    if code == "TOK002":
        return facts.problem(
            "JON004",
            f"`{step}` ends its branch without publishing `{channel}`, for which `{waiter}` waits",
            path,
            is_key=is_key,
            also=also,
            help=f"publish `{channel}` on every way out of the branch",
            severity="error" if wait.is_only_way else "warning",
            fix=publish_fix(facts, step, path, channel),
        )
    return facts.problem(
        "JON005",
        f"`{step}` publishes `{channel}` a second time: `{waiter}` counts it for another branch",
        path,
        is_key=is_key,
        also=also,
        help=f"publish `{channel}` once on each way, in the step that ends the branch",
    )


RULES: list[Rule] = [
    find_silent_branches,
    find_misses,
    find_oversized_needs,
    find_strangers,
    find_miscounts,
]
