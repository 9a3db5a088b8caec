"""A run that a worker works on until it is closed: when there is nothing more to be done, or to be said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from orchestrator.core.pauses import Pauses
from orchestrator.definition.model import Json
from orchestrator.engine.cache import Entry
from orchestrator.engine.engine import Engine
from orchestrator.engine.explain.outlook import TITLES, Verdict
from orchestrator.engine.explain.verdicts import find_verdict, is_blocked, paused_executions
from orchestrator.errors import Blocked, NotFound
from orchestrator.store.contract import Head, Reading


@dataclass(kw_only=True)
class Standstill:
    """`until_blocked`: it is over also when only the outside can move the run. `on_hold`: see worker.py."""

    engine: Engine
    flow_id: str
    until_blocked: bool
    on_hold: Callable[[dict[str, Json]], None] | None
    _told: list[Json] = field(default_factory=list)
    _told_at: int | None = None
    """The version of the run."""

    def is_worth_a_look(self, entry: Entry) -> bool:
        """It is closed, or this worker cannot move it by itself."""
        verdict = find_verdict(entry.flow, entry.run, self.engine.clock.now())
        return verdict not in (Verdict.PROGRESSING, Verdict.TIMER)

    def look(self) -> bool:
        """At the database, since others may have moved the run. True: it is closed; raises Blocked."""
        now = self.engine.clock.now()
        with self.engine.store.reading() as reading:
            head = reading.find_latest(self.flow_id)
            if head is None:
                raise NotFound(f"there is no run {self.flow_id}", flow_id=self.flow_id)
            flow = self.engine.definitions.of(head.definition, reading)
            stored = reading.load(head)
            pauses = reading.find_pauses()
            paused = paused_executions(flow, stored.run, stored.leases, pauses)
            verdict = find_verdict(flow, stored.run, now, paused)
            if verdict is Verdict.CLOSED:
                return True
            if verdict not in (Verdict.PROGRESSING, Verdict.TIMER):
                self._demand_hope(reading, head, now)
            hold = None if stored.leases else self._hold(reading, pauses, head, now)
        if hold is not None:
            self._tell(hold, head.version)
        return False

    def _demand_hope(self, reading: Reading, head: Head, now: datetime) -> None:
        """Raises Blocked when a worker waits in vain."""
        from orchestrator.engine.explain.explanation import as_json
        from orchestrator.engine.explain.stored import explain_stored

        explanation = explain_stored(reading, self.engine.definitions, head, now)
        verdict, has_active = Verdict(explanation.verdict), bool(explanation.active)
        if is_blocked(verdict, has_active=has_active, until_blocked=self.until_blocked):
            raise Blocked(
                f"{self.flow_id} stands still, {TITLES[verdict]}: {explanation.summary}",
                flow_id=self.flow_id,
                verdict=str(verdict),
                explanation=as_json(explanation),
            )

    def _hold(self, reading: Reading, pauses: Pauses, head: Head, now: datetime) -> dict[str, Json] | None:
        if self.on_hold is None or head.version == self._told_at:
            return None
        from orchestrator.engine.explain.holds import find_hold, may_hold

        hold = find_hold(reading, self.engine.definitions, head, now) if may_hold(pauses, reading) else None
        if hold is None:
            return None
        advice: list[Json] = [{"text": each.text, "command": each.command} for each in hold.help]
        return {"flow_id": self.flow_id, "text": hold.text, "help": advice}

    def _tell(self, hold: dict[str, Json], version: int) -> None:
        """What is to be done is said once."""
        self._told_at = version
        if self.on_hold is not None and hold["help"] not in self._told:
            self._told.append(hold["help"])
            self.on_hold(hold)
