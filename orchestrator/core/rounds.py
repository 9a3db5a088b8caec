"""Rounds of joins as one commit changes them (language.md 5.1). Costs O(nesting) per execution."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, islice

from orchestrator.core import changes as c
from orchestrator.core.reach import reach_of
from orchestrator.core.state import BranchRef, BranchReport, Execution, PendingCondition, Round, Run
from orchestrator.definition.model import Flow


class DraftRound:
    """A round with this commit's reports and counters."""

    __slots__ = (
        "_new_reports",
        "_stored",
        "branch_count",
        "counting",
        "is_cancelled",
        "join",
        "members",
        "missed",
    )

    def __init__(self, stored: Round) -> None:
        self._stored = stored
        self._new_reports: list[BranchReport] = []
        self.join = stored.join
        self.branch_count = stored.branch_count
        self.counting = stored.counting
        self.missed = stored.missed
        self.members = stored.members
        self.is_cancelled = stored.is_cancelled

    @property
    def report_count(self) -> int:
        return len(self._stored.reports) + len(self._new_reports)

    @property
    def reports(self) -> list[BranchReport]:
        return [*self._stored.reports, *self._new_reports]

    def first_reports(self, number: int) -> list[BranchReport]:
        return list(islice(chain(self._stored.reports, self._new_reports), number))

    def add(self, report: BranchReport) -> None:
        self._new_reports.append(report)

    def holds(self, need: str | int | None) -> bool:
        """`all`, `active` (an OR-join), or so many reports."""
        if isinstance(need, int):
            return self.report_count >= need
        return self.counting == 0 and (need == "active" or self.missed == 0)


class DraftRounds:
    """The ledger of rounds of one draft; `flush` records what the commit made of the counters."""

    __slots__ = ("_changes", "_flow", "_run", "_touched", "dirty")

    def __init__(self, flow: Flow, run: Run, changes: list[c.Change]) -> None:
        self._flow = flow
        self._run = run
        self._changes = changes
        self._touched: dict[str, DraftRound] = {}
        self.dirty: dict[str, None] = {}
        """Rounds changed since the waits were last looked at."""

    def find(self, round: str) -> DraftRound:
        """For reading; a round that nothing has changed is not recorded."""
        return self._touched.get(round) or DraftRound(self._run.rounds[round])

    def reported(self, round: str) -> Round:
        """With its reports only: what a wait that is over shows."""
        found = self.find(round)
        return Round(found.join, found.branch_count, reports=found.reports)

    def _touch(self, round: str) -> DraftRound:
        touched = self._touched.get(round)
        if touched is None:
            touched = self._touched[round] = DraftRound(self._run.rounds[round])
        self.dirty[round] = None
        return touched

    def open(self, round: str, join: str, branch_count: int) -> None:
        self._changes.append(c.RoundOpened(round, join, branch_count))
        self._touched[round] = DraftRound(Round(join, branch_count))
        self.dirty[round] = None

    def report(self, execution: Execution, place: BranchRef, report: BranchReport) -> None:
        self._changes.append(c.Reported(execution.id, place.round, report))
        self._touch(place.round).add(report)

    def begin(self, execution: Execution) -> None:
        """A new execution is inside the rounds of its line and faces others."""
        counted = self.counted(execution)
        for place in execution.line:
            touched = self._touch(place.round)
            touched.members += 1
            touched.counting += place.round in counted
        for round in _faced(execution):
            self._touch(round).members += 1

    def end(self, execution: Execution, reported: Iterable[str], started: Iterable[Execution]) -> None:
        """It ended: where it counted without reporting nor starting anything that counts, it is a miss."""
        still_counted = set(reported)
        for successor in started:
            still_counted.update(self.counted(successor))
        counted = self.counted(execution)
        for place in execution.line:
            touched = self._touch(place.round)
            touched.members -= 1
            if place.round in counted:
                touched.counting -= 1
                touched.missed += place.round not in still_counted
        for round in _faced(execution):
            self._touch(round).members -= 1

    def cancel(self, round: str, *, had_members: bool) -> None:
        """Nothing counts in it any more; `all` holds only if nothing had to be cancelled."""
        touched = self._touch(round)
        touched.is_cancelled = True
        touched.counting = 0
        touched.missed += had_members

    def counted(self, execution: Execution) -> list[str]:
        """The rounds to which the execution can still report, innermost first."""
        if not execution.line:
            return []
        reach, step = reach_of(self._flow), execution.step
        counted: list[str] = []
        inner: list[str] = []
        for place in reversed(execution.line):
            join = join_of(place.round)
            inner.append(join)
            if reach.counts(join, inner.count(join), step) and not self._is_cancelled(place.round):
                counted.append(place.round)
        return counted

    def _is_cancelled(self, round: str) -> bool:
        return (self._touched.get(round) or self._run.rounds[round]).is_cancelled

    def flush(self) -> None:
        for round, touched in self._touched.items():
            if touched.members:
                self._changes.append(
                    c.RoundCounted(
                        round, touched.counting, touched.missed, touched.members, touched.is_cancelled
                    )
                )
            else:
                self._changes.append(c.RoundForgotten(round))


@lru_cache(maxsize=4096)
def join_of(round: str) -> str:
    return round.partition("/")[0]


def innermost(line: tuple[BranchRef, ...], join: str) -> int | None:
    """Where on the line the innermost round of `join` stands."""
    for position in range(len(line) - 1, -1, -1):
        if join_of(line[position].round) == join:
            return position
    return None


def is_starved(condition: PendingCondition, round: DraftRound) -> bool:
    """A join condition that can no longer hold."""
    if isinstance(condition.need, int):
        return round.report_count < condition.need and (
            round.counting == 0 or condition.need > round.branch_count
        )
    return condition.need == "all" and round.missed > 0


def _faced(execution: Execution) -> Iterable[str]:
    return dict.fromkeys(execution.faces.values()) if execution.faces else ()
