"""What must be true when everything has settled: nothing lost, nothing twice, nothing left."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.core.codec import decode
from orchestrator.core.evolve import evolve
from orchestrator.core.state import Run, Status
from orchestrator.engine.client import Client
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
    ledger = Ledger.read(directory)
    calls = read_calls(directory)
    _check_runs(findings, client, ledger, calls)
    _check_left(findings, database)
    _check_effects(findings, client, database)
    _check_logs(findings, directory)
    findings.counts["handler calls"] = sum(calls.values())
    return findings


def read_calls(directory: Path) -> Counter[tuple[str, str]]:
    """How often the handlers of each step execution were called, by run and execution."""
    calls: Counter[tuple[str, str]] = Counter()
    for path in directory.glob("*.calls"):
        for line in path.read_text().splitlines():
            flow_id, execution_id, _ = line.split(" ")
            calls[flow_id, execution_id] += 1
    return calls


# --- Runs ---


def _check_runs(findings: Findings, client: Client, ledger: Ledger, calls: Counter[tuple[str, str]]) -> None:
    counts, found = findings.counts, set()
    for described in client.search():
        flow_id = str(described["flow_id"])
        kind = BY_NAME[str(described["flow"])]
        counts["runs"] += 1
        if kind.name != "Child":
            found.add(flow_id)
        findings.demand(described["status"] != "RUNNING", f"{flow_id} is open: {_explain(client, flow_id)}")
        if described["status"] == "RUNNING":
            continue
        _check_outcome(findings, client.describe(flow_id), kind, ledger)
        _check_history(findings, client, flow_id, kind, calls)
    findings.demand(found == ledger.started, f"started and stored differ: {found ^ ledger.started}")
    children = counts["runs"] - len(found)
    parents = sum(flow_id.startswith("Asking") for flow_id in found)
    findings.demand(children == CHILD_COUNT * parents, f"{parents} parents have {children} children")


def _explain(client: Client, flow_id: str) -> str:
    explanation = client.explain(flow_id)
    return json.dumps({name: explanation[name] for name in ("verdict", "summary", "active")}, default=str)


def _check_outcome(findings: Findings, run: dict[str, Any], kind: Kind, ledger: Ledger) -> None:
    flow_id = run["flow_id"]
    if kind.is_stopped:
        findings.demand(run["status"] == "CANCELED", f"{flow_id} is {run['status']}, not CANCELED")
        return
    outputs = [each["output"] for each in run["outputs"]]
    findings.demand(
        run["status"] == "COMPLETED" and len(outputs) == 1,
        f"{flow_id} is {run['status']} with {outputs}: {run['error']}",
    )
    if run["status"] != "COMPLETED" or len(outputs) != 1:
        return
    if kind.is_fed:
        _check_messages(findings, flow_id, outputs[0], ledger)
    elif kind.name != "Child":
        findings.demand(outputs[0] == kind.output, f"{flow_id} gave {outputs[0]}, not {kind.output}")


def _check_messages(findings: Findings, flow_id: str, taken: list[str], ledger: Ledger) -> None:
    findings.counts["messages"] += len(taken)
    twice = [message for message, count in Counter(taken).items() if count > 1]
    findings.demand(not twice, f"{flow_id} has taken twice: {twice}")
    lost = ledger.stored[flow_id] - set(taken)
    findings.demand(not lost, f"{flow_id} has never taken {sorted(lost)}")
    foreign = set(taken) - ledger.sent[flow_id]
    findings.demand(not foreign, f"{flow_id} has taken what nobody sent: {foreign}")


def _check_history(
    findings: Findings, client: Client, flow_id: str, kind: Kind, calls: Counter[tuple[str, str]]
) -> None:
    with client.engine.store.reading() as reading:
        head = reading.find_latest(flow_id)
        assert head is not None
        rows = reading.history(head.run)
        stored = reading.load(head).run
    versions = [row.version for row in rows]
    findings.demand(versions == list(range(1, head.version + 1)), f"{flow_id} has versions {versions}")
    replayed = Run()
    for row in rows:
        evolve(replayed, decode(row.body))
    findings.demand(replayed == stored, f"{flow_id}: its history says something else than its tables")
    findings.counts["commits"] += len(rows)
    ended = Counter(_ended(client.history(flow_id)))
    findings.counts["step executions"] += len(ended)
    twice = [execution_id for (execution_id, _), count in ended.items() if count > 1]
    findings.demand(not twice, f"{flow_id}: ended more than once: {twice}")
    if not twice:
        _check_executions(findings, flow_id, kind, stored, ended, calls)


def _ended(commits: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for commit in commits:
        for change in commit["changes"]:
            if change["change"] == "step_ended":
                yield change["execution_id"], change["how"]


def _check_executions(
    findings: Findings,
    flow_id: str,
    kind: Kind,
    run: Run,
    ended: Counter[tuple[str, str]],
    calls: Counter[tuple[str, str]],
) -> None:
    executions = {f"{step}-{number + 1}" for step, count in run.counters.items() for number in range(count)}
    how = dict(ended.keys())
    differing = executions - set(how) if run.status is Status.COMPLETED else set(how) - executions
    findings.demand(not differing, f"{flow_id}: scheduled and ended differ: {differing}")
    for execution_id, way in how.items():
        step = kind.flow.steps[execution_id.rpartition("-")[0]]
        if step.execute is not None and way == "completed":
            findings.demand(calls[flow_id, execution_id] > 0, f"{flow_id}/{execution_id} was never called")


# --- The rest ---


def _check_left(findings: Findings, database: Database) -> None:
    for table in ("steps", "workers", "messages", "projections"):
        count = database.number(f"SELECT count(*) FROM {table}")
        findings.demand(count == 0, f"{count} rows are left in {table}")


def _check_effects(findings: Findings, client: Client, database: Database) -> None:
    rows = Counter(database.ask("SELECT flow_id, execution_id FROM effects"))
    findings.counts["transactional effects"] = len(rows)
    twice = [each for each, count in rows.items() if count > 1]
    findings.demand(not twice, f"written twice: {twice}")
    wanted = set()
    for described in client.search():
        if described["flow"] == "Paying":
            flow_id = str(described["flow_id"])
            ended = _ended(client.history(flow_id))
            wanted |= {
                (flow_id, each) for each, how in ended if each.startswith("Pay-") and how == "completed"
            }
    findings.demand(set(rows) == wanted, f"effects and results differ: {sorted(set(rows) ^ wanted)}")


_COMPLAINTS = ("reason of our own", "cannot be decided", "no snapshot of", "InternalError", "Traceback")


def _check_logs(findings: Findings, directory: Path) -> None:
    for path in sorted(directory.glob("*.log")):
        text = path.read_text(errors="replace")
        for complaint in _COMPLAINTS:
            at = text.find(complaint)
            findings.demand(at < 0, f"{path.name}: {text[max(0, at - 300) : at + 1200]}")
