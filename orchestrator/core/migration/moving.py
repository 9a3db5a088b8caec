"""Move a live run to another definition: the changes of the one commit that does it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from orchestrator.core import changes as c
from orchestrator.core.image import image_of
from orchestrator.core.migration.comparison import Comparison, stand_of
from orchestrator.core.migration.holdings import check_holdings
from orchestrator.core.migration.rewriting import Rewriting
from orchestrator.core.migration.steps import check_stand
from orchestrator.core.migration.verdicts import Obstacle
from orchestrator.core.rounds import join_of
from orchestrator.core.state import Execution, Round, Run, Status
from orchestrator.errors import Refused


class Unfit(Refused):
    """The run cannot be moved as it stands; `obstacles` say why."""

    type = "unfit"

    def __init__(self, flow_id: str, obstacles: list[Obstacle]) -> None:
        reasons = "; ".join(f"{each.place}: {each.reason}" for each in obstacles)
        super().__init__(f"{flow_id} stays with its definition: {reasons}", flow_id=flow_id)
        self.obstacles = obstacles


def check_run(case: Comparison, run: Run, leased: Collection[str] = ()) -> list[Obstacle]:
    """What stands in the way of moving `run`; `leased`: executions whose handlers are at work."""
    obstacles: dict[Obstacle, None] = {}
    for execution in run.executions.values():
        stand = stand_of(execution, is_leased=execution.id in leased)
        obstacles |= dict.fromkeys(check_stand(case, stand, run))
    obstacles |= dict.fromkeys(check_holdings(case, run))
    if obstacles:
        return list(obstacles)
    return list(_check_moved(case, run, leased))


def _check_moved(case: Comparison, run: Run, leased: Collection[str]) -> Iterator[Obstacle]:
    """Executions that would not be the same afterwards."""
    for old_id, new_id in Rewriting(case, run).moved.items():
        execution = run.executions[old_id]
        place = stand_of(execution, is_leased=old_id in leased).place
        if old_id in leased:
            yield Obstacle(place, f"moving would rewrite {old_id} under its handler: wait until it has ended")
        conditions = execution.wait.conditions if execution.wait is not None else ()
        is_awaiting = any(each.child and each.child.status == Status.RUNNING for each in conditions)
        if old_id != new_id and is_awaiting:
            yield Obstacle(place, f"the child flow that it waits for reports to {old_id}, not to {new_id}")


def migrate(case: Comparison, run: Run, leased: Collection[str] = ()) -> list[c.Change]:
    """The changes that move a running run. Raises Unfit."""
    obstacles = check_run(case, run, leased)
    if obstacles:
        raise Unfit(run.flow_id, obstacles)
    rewriting = Rewriting(case, run)
    image = None if rewriting.is_void else image_of(rewriting.run)
    changed = c.DefinitionChanged(case.old.hash, case.new.hash, image, rewriting.moved)
    return [changed, *_new_counters(case, run, rewriting), *_initial_values(case, rewriting.run)]


def is_live(run: Run) -> bool:
    return run.status is Status.RUNNING


def _new_counters(case: Comparison, run: Run, rewriting: Rewriting) -> Iterator[c.RoundCounted]:
    """Who counts in a round is what the new definition says; nobody ceases to count (check_stand)."""
    counts: dict[str, int] = dict.fromkeys(rewriting.run.rounds, 0)
    for execution in rewriting.run.executions.values():
        for name in _counted(case, execution, rewriting.run.rounds):
            counts[name] += 1
    for name, round in rewriting.run.rounds.items():
        if round.counting != counts[name]:
            yield c.RoundCounted(name, counts[name], round.missed, round.members, round.is_cancelled)


def _counted(case: Comparison, execution: Execution, rounds: dict[str, Round]) -> Iterator[str]:
    levels: dict[str, int] = {}
    for place in reversed(execution.line):
        join = join_of(place.round)
        levels[join] = levels.get(join, 0) + 1
        is_open = place.round in rounds and not rounds[place.round].is_cancelled
        if is_open and case.new_reach.counts(join, levels[join], execution.step):
            yield place.round


def _initial_values(case: Comparison, run: Run) -> Iterator[c.AttributeSet]:
    """Attributes that have got an initial value: what a new run of the definition starts with."""
    old = {case.renaming.attribute(name): each for name, each in case.old.attributes.items()}
    for name, attribute in case.new.attributes.items():
        before = old.get(name)
        is_new = attribute.initial is not None and (before is None or before.initial is None)
        if not is_new or name in run.attributes or run.attribute_maps.get(name):
            continue
        if attribute.is_map:
            for key, value in attribute.initial.items():
                if value is not None:
                    yield c.AttributeSet(name, key, value)
        else:
            yield c.AttributeSet(name, None, attribute.initial)
