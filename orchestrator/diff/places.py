"""Every place where a run of the old version may be, and whether it can go on under the new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from orchestrator.core.migration.comparison import Comparison, Stand
from orchestrator.core.migration.holdings import check_holdings
from orchestrator.core.migration.steps import check_stand
from orchestrator.core.migration.verdicts import Obstacle, Standing, Verdict, worst
from orchestrator.core.state import TIMEOUT_STEP
from orchestrator.definition.model import Step


@dataclass(frozen=True, slots=True)
class PlaceVerdict:
    place: str
    """`step:Approve/waiting`, `channel:orders`, `attribute:total`, `join:reviews`, `deadline`, `run`."""
    obstacles: tuple[Obstacle, ...] = ()
    run_count: int | None = None
    """Live runs that are there; None: nobody has looked."""
    stuck_count: int = 0
    """Those of them that something at this place keeps from being moved."""

    @property
    def verdict(self) -> Verdict:
        return worst(obstacle.verdict for obstacle in self.obstacles)

    @property
    def counts(self) -> bool:
        """For the exit code: where nobody has looked, every place; else those where live runs are."""
        return self.run_count is None or self.run_count > 0


def judge_places(case: Comparison) -> list[PlaceVerdict]:
    """By what the two definitions say alone."""
    stands = (stand for step in case.old.steps.values() for stand in _stands(step))
    found: dict[str, dict[Obstacle, None]] = {}
    for stand in stands:
        found.setdefault(stand.place, {}).update(dict.fromkeys(check_stand(case, stand)))
    if case.old.timeout is not None or case.old.on_timeout is not None:
        deadline = Stand(TIMEOUT_STEP, Standing.WAITING)
        found["deadline"] = {replace_place(each, "deadline"): None for each in check_stand(case, deadline)}
    held = ((kind, name) for kind, names in _holdings(case) for name in names)
    found |= {f"{kind}:{name}": {} for kind, name in held}
    found["run"] = {}
    for obstacle in check_holdings(case):
        found.setdefault(obstacle.place, {})[obstacle] = None
    return [PlaceVerdict(place, tuple(obstacles)) for place, obstacles in found.items()]


def replace_place(obstacle: Obstacle, place: str) -> Obstacle:
    return Obstacle(place, obstacle.reason, obstacle.mapping)


def count_runs(
    places: Iterable[PlaceVerdict], runs: Iterable[tuple[Iterable[str], Iterable[Obstacle]]]
) -> list[PlaceVerdict]:
    """What live runs say, each by its places and its obstacles, in the stead of what may be."""
    known = {each.place: replace(each, run_count=0) for each in places}
    seen: dict[str, dict[Obstacle, None]] = {}
    for stood, obstacles in runs:
        blocked = {obstacle.place for obstacle in obstacles}
        for place in {_shown(each) for each in stood} | {_shown(each) for each in blocked}:
            before = known.get(place) or PlaceVerdict(place, run_count=0)
            is_stuck = any(_shown(each) == place for each in blocked)
            count = (before.run_count or 0) + 1
            known[place] = replace(before, run_count=count, stuck_count=before.stuck_count + is_stuck)
        for obstacle in obstacles:
            seen.setdefault(_shown(obstacle.place), {})[replace_place(obstacle, _shown(obstacle.place))] = (
                None
            )
    return [
        replace(each, obstacles=tuple(seen.get(place, ()))) if each.run_count else each
        for place, each in known.items()
    ]


def _shown(place: str) -> str:
    return "deadline" if place.startswith(f"step:{TIMEOUT_STEP}/") else place


def _stands(step: Step) -> Iterator[Stand]:
    if step.wait_for is not None:
        yield Stand(step.name, Standing.WAIT_FOR)
        yield Stand(step.name, Standing.WAITING)
        if step.wait_for.handler is not None:
            yield Stand(step.name, Standing.RUNNING, is_calling_wait_for=True)
    if step.execute is not None or step.wait_for is None:
        yield Stand(step.name, Standing.EXECUTE)
    if step.execute is not None:
        yield Stand(step.name, Standing.RUNNING)


def _holdings(case: Comparison) -> list[tuple[str, Iterable[str]]]:
    return [("channel", case.old.channels), ("attribute", case.old.attributes), ("join", case.old.joins)]
