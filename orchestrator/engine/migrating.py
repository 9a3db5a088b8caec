"""Live runs of one definition: where they stand, whether they could go on under another, and moving them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from orchestrator.core.migration.comparison import Comparison, stand_of
from orchestrator.core.migration.moving import Unfit, check_run
from orchestrator.core.migration.renaming import parse_renaming
from orchestrator.core.migration.verdicts import Obstacle, Verdict, worst
from orchestrator.definition.model import Flow
from orchestrator.engine.engine import Engine
from orchestrator.engine.inside import demand_outside
from orchestrator.engine.search import Search
from orchestrator.engine.submission import Migrate
from orchestrator.errors import OrchestratorError, StoreError, UsageError
from orchestrator.store.contract import Head, Reading, StoredRun

AT_A_TIME = 100
"""Runs that are read, or moved, together."""


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A running run, and what stands in its way."""

    run: int
    flow_id: str
    run_id: str
    places: tuple[str, ...]
    """Where its executions stand, and what it holds, each once: `step:Approve/waiting`, `channel:orders`."""
    obstacles: tuple[Obstacle, ...]

    @property
    def verdict(self) -> Verdict:
        return worst(obstacle.verdict for obstacle in self.obstacles)


@dataclass(frozen=True, slots=True)
class Migration:
    """What became of one run: `run.flow_id`, `run.places`; if it was left, `reason` says why."""

    run: LiveRun
    is_moved: bool
    reason: str = ""
    """Why it was left."""


def survey(
    engine: Engine, case: Comparison, *, flow_ids: Collection[str] = (), where: str | None = None
) -> Iterator[LiveRun]:
    """The running runs of the old definition, oldest first, in batches. Raises UsageError for `where`."""
    search = None if where is None else Search(where, engine.definitions)
    after = -1
    while True:
        with engine.store.reading() as reading:
            heads = reading.live_heads(case.old.hash, after, AT_A_TIME)
            named: Iterable[Head] = [each for each in heads if not flow_ids or each.flow_id in flow_ids]
            wanted = named if search is None else search.choose(reading, named)
            batch = [_look_at(reading, case, head) for head in wanted]
        yield from batch
        if len(heads) < AT_A_TIME:
            return
        after = heads[-1].run


def migrate_runs(engine: Engine, case: Comparison, runs: Iterator[LiveRun]) -> Iterator[Migration]:
    """Move each run that can be, one commit each; what has changed since it was looked at is judged anew."""
    demand_outside()
    while batch := list(islice(runs, AT_A_TIME)):
        asked = [(run, Migrate(run.run, run.flow_id, case)) for run in batch if not run.obstacles]
        for _, migrate in asked:
            engine.committer.submit(migrate)
        engine.lead()  # they come together: one transaction for many commits
        moved = {run.run: _outcome(run, migrate) for run, migrate in asked}
        yield from (moved.get(run.run) or Migration(run, False, reasons(run.obstacles)) for run in batch)


def migrate_flow(
    engine: Engine,
    old: Flow,
    new: Flow,
    mapping: Iterable[str],
    flow_ids: Collection[str],
    where: str | None,
    *,
    dry_run: bool,
) -> list[Migration]:
    """See Client.migrate."""
    if old.name != new.name:
        raise UsageError(f"{old.name} and {new.name} are not two versions of one flow")
    case = Comparison(old, new, parse_renaming(mapping, old, new))
    runs = survey(engine, case, flow_ids=flow_ids, where=where)
    if dry_run:
        return [Migration(run, False, reasons(run.obstacles)) for run in runs]
    return list(migrate_runs(engine, case, runs))


def reasons(obstacles: Collection[Obstacle]) -> str:
    return "; ".join(
        f"{each.place}: {each.reason}" + (f" (--map {each.mapping})" if each.mapping is not None else "")
        for each in obstacles
    )


def _outcome(run: LiveRun, migrate: Migrate) -> Migration:
    try:
        migrate.receipt.result()
    except Unfit as error:
        return Migration(run, False, reasons(error.obstacles))
    except StoreError:
        raise
    except OrchestratorError as error:
        return Migration(run, False, error.message)
    return Migration(run, True)


def _look_at(reading: Reading, case: Comparison, head: Head) -> LiveRun:
    stored = reading.load(head)
    obstacles = tuple(check_run(case, stored.run, stored.leases))
    return LiveRun(head.run, head.flow_id, head.run_id, tuple(dict.fromkeys(_places(stored))), obstacles)


def _places(stored: StoredRun) -> Iterator[str]:
    run = stored.run
    for execution in run.executions.values():
        yield stand_of(execution, is_leased=execution.id in stored.leases).place
    for channel, _ in run.queues:
        yield f"channel:{channel}"
    for name in (*run.attributes, *(name for name, entries in run.attribute_maps.items() if entries)):
        yield f"attribute:{name}"
    for round in run.rounds.values():
        yield f"join:{round.join}"
    yield "run"
