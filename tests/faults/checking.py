"""What must be true when everything has settled: nothing lost, nothing twice, nothing left."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.core.changes import StepEnded
from orchestrator.core.codec import decode
from orchestrator.core.evolve import evolve
from orchestrator.core.state import Run, Status
from orchestrator.engine.client import Client
from orchestrator.store.contract import Head
from tests.faults.database import Database
from tests.faults.flows import BY_NAME, CHILD_COUNT, Kind

_MOST_TOLD = 20
CHECKED = (
    "every run that was confirmed to a client is there, and no other",
    "every run is closed as it should be, with the output that it should have",
    "every confirmed message was taken exactly once, one of unknown fate at most once, none is left over",
    "each step execution has ended exactly once; counters and attributes are as expected",
    "versions of the history are without gaps, and what it says is what the tables say",
    "transactional handlers wrote exactly once for each step execution; of the others each was called",
    "no step, lease, worker or message is left",
    "no process has ended by itself, none has complained of a mistake of our own",
)


@dataclass
class Findings:
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """Work done."""

    def demand(self, condition: bool, otherwise: str) -> None:
        if not condition:
            self.wrong.append(otherwise)

    def told(self) -> list[str]:
        rest = len(self.wrong) - _MOST_TOLD
        return self.wrong[:_MOST_TOLD] + ([f"… and {rest} more"] if rest > 0 else [])


@dataclass
class Ledger:
    """What clients have written down."""

    started: set[str] = field(default_factory=set)
    sent: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By run."""
    stored: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def read(cls, directory: Path) -> Ledger:
        ledger = cls()
        for path in directory.glob("*.ledger"):
            for line in path.read_text().splitlines():
                what, about = json.loads(line)
                if what == "started":
                    ledger.started.add(about)
                else:
                    getattr(ledger, what)[about.partition("/")[0]].add(about)
        return ledger


def check(client: Client, database: Database, directory: Path) -> Findings:
    findings = Findings()
    inspector = _Inspector(client, findings, Ledger.read(directory), read_calls(directory))
    inspector.inspect_runs()
    _check_left(findings, database)
    _check_effects(findings, database, inspector.paid)
    _check_logs(findings, directory)
    findings.counts["handler calls"] = sum(inspector.calls.values())
    return findings


def read_calls(directory: Path) -> Counter[tuple[str, str]]:
    """How often the handlers of each step execution were called, by run and execution."""
    calls: Counter[tuple[str, str]] = Counter()
    for path in directory.glob("*.calls"):
        for line in path.read_text().splitlines():
            flow_id, execution_id, _ = line.split(" ")
            calls[flow_id, execution_id] += 1
    return calls


class _Inspector:
    """Looks at every run."""

    def __init__(
        self, client: Client, findings: Findings, ledger: Ledger, calls: Counter[tuple[str, str]]
    ) -> None:
        self.calls = calls
        self.paid: set[tuple[str, str]] = set()
        """Transactional executions that have completed."""
        self._client = client
        self._ledger = ledger
        self._demand = findings.demand
        self._counts = findings.counts

    def inspect_runs(self) -> None:
        found = set()
        with self._client.engine.store.reading() as reading:
            heads = list(reading.heads())
        for head in heads:
            if head.flow != "Child":
                found.add(head.flow_id)
            self._inspect(head)
        self._counts["runs"] = len(heads)
        started = self._ledger.started
        self._demand(found == started, f"started and stored differ: {found ^ started}")
        parents, children = sum(head.flow == "Asking" for head in heads), len(heads) - len(found)
        self._demand(children == CHILD_COUNT * parents, f"{parents} parents have {children} children")

    def _inspect(self, head: Head) -> None:
        flow_id, kind = head.flow_id, BY_NAME[head.flow]
        with self._client.engine.store.reading() as reading:
            rows = reading.history(head.run)
            run = reading.load(head).run
        if run.status is Status.RUNNING:
            self._demand(False, f"{flow_id} is open: {_explain(self._client, flow_id)}")
            return
        versions = [row.version for row in rows]
        self._demand(versions == list(range(1, head.version + 1)), f"{flow_id} has versions {versions}")
        self._counts["commits"] += len(rows)
        replayed = Run()
        ended: list[tuple[str, str]] = []
        for row in rows:
            changes = decode(row.body)
            evolve(replayed, changes)
            ended += [(each.execution_id, each.how) for each in changes if isinstance(each, StepEnded)]
        self._demand(replayed == run, f"{flow_id}: its history says something else than its tables")
        self._check_outcome(run, kind)
        self._check_executions(run, kind, ended)

    def _check_outcome(self, run: Run, kind: Kind) -> None:
        flow_id, outputs = run.flow_id, [each.output for each in run.outputs]
        if kind.is_stopped:
            self._demand(run.status is Status.CANCELED, f"{flow_id} is {run.status}, not CANCELED")
        elif run.status is not Status.COMPLETED or len(outputs) != 1:
            self._demand(False, f"{flow_id} is {run.status} with {outputs}: {run.error}")
        elif kind.is_fed:
            self._check_messages(flow_id, outputs[0])
        elif kind.name != "Child":
            self._demand(outputs[0] == kind.output, f"{flow_id} gave {outputs[0]}, not {kind.output}")

    def _check_messages(self, flow_id: str, taken: Any) -> None:
        self._counts["messages"] += len(taken)
        twice = [message for message, count in Counter(taken).items() if count > 1]
        self._demand(not twice, f"{flow_id} has taken twice: {twice}")
        lost = self._ledger.stored[flow_id] - set(taken)
        self._demand(not lost, f"{flow_id} has never taken {sorted(lost)}")
        foreign = set(taken) - self._ledger.sent[flow_id]
        self._demand(not foreign, f"{flow_id} has taken what nobody sent: {foreign}")

    def _check_executions(self, run: Run, kind: Kind, ended: list[tuple[str, str]]) -> None:
        flow_id, how = run.flow_id, dict(ended)
        self._counts["step executions"] += len(how)
        self._demand(len(how) == len(ended), f"{flow_id}: one has ended more than once: {ended}")
        counters = run.counters.items()
        queued = {f"{step}-{number + 1}" for step, count in counters for number in range(count)}
        differing = queued - set(how) if run.status is Status.COMPLETED else set(how) - queued
        self._demand(not differing, f"{flow_id}: queued and ended differ: {differing}")
        for execution_id, way in ended:
            step = kind.flow.steps[execution_id.rpartition("-")[0]]
            if step.execute is None or way != "completed":
                continue
            self._demand(self.calls[flow_id, execution_id] > 0, f"{flow_id}/{execution_id} was never called")
            if step.execute.transactional:
                self.paid.add((flow_id, execution_id))


def _explain(client: Client, flow_id: str) -> str:
    explanation = client.explain(flow_id)
    return json.dumps({name: explanation[name] for name in ("verdict", "summary", "active")}, default=str)


# --- The rest ---


def _check_left(findings: Findings, database: Database) -> None:
    for table in ("steps", "workers", "messages", "projections"):
        count = database.number(f"SELECT count(*) FROM {table}")
        findings.demand(count == 0, f"{count} rows are left in {table}")


def _check_effects(findings: Findings, database: Database, paid: set[tuple[str, str]]) -> None:
    rows = Counter(database.ask("SELECT flow_id, execution_id FROM effects"))
    findings.counts["transactional effects"] = len(rows)
    twice = [each for each, count in rows.items() if count > 1]
    findings.demand(not twice, f"written twice: {twice}")
    findings.demand(set(rows) == paid, f"effects and results differ: {sorted(set(rows) ^ paid)}")


_COMPLAINTS = ("reason of our own", "cannot be decided", "no snapshot of", "InternalError", "Traceback")


def _check_logs(findings: Findings, directory: Path) -> None:
    for path in sorted(directory.glob("*.log")):
        text = path.read_text(errors="replace")
        for complaint in _COMPLAINTS:
            at = text.find(complaint)
            findings.demand(at < 0, f"{path.name}: {text[max(0, at - 300) : at + 1200]}")
