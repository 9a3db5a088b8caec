"""The answer to "why is this run where it is", as `explain -o json` gives it."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import Struct

from orchestrator.definition.model import Json


class Advice(Struct, frozen=True):
    """What somebody may do."""

    text: str
    command: str | None = None


class ExplainedSender(Struct, frozen=True):
    """Somebody who, by the definition, publishes to the channel that a condition waits for."""

    kind: str
    """client, rpc, step or timeout_handler."""
    name: str
    can: str
    """now, timer, subflow, outside or never."""
    because: str
    command: str | None
    at: str | None
    """Where the definition says so, `file:line`."""


class ExplainedCondition(Struct, frozen=True, omit_defaults=True):
    id: str
    kind: str
    holds: bool = msgspec.field()
    can: str = msgspec.field()
    text: str = msgspec.field()
    channel: str | None = None
    key: str | None = None
    have: int | None = None
    """Unread messages, or reports."""
    need: int | str | None = None
    fires_at: datetime | None = None
    round: str | None = None
    branches: int | None = None
    counting: tuple[str, ...] = ()
    """Executions that can still report to the round."""
    missed: int | None = None
    is_starved: bool = False
    subflow: str | None = None
    """Flow id of the child."""
    status: str | None = None
    why: str | None = None
    """Why it can never hold, or what its child waits for."""
    senders: tuple[ExplainedSender, ...] = ()
    help: tuple[Advice, ...] = ()


class ExplainedWait(Struct, frozen=True):
    combinator: str
    groups: tuple[tuple[int, ...], ...]
    """Positions in `conditions`; one group that holds ends the wait."""
    conditions: tuple[ExplainedCondition, ...]


class ExplainedFailure(Struct, frozen=True):
    type: str
    message: str
    attempt: int
    maximum_attempts: int | None
    """None: unlimited."""


class ExplainedLock(Struct, frozen=True):
    lock: str
    holder: str | None


class ExplainedExecution(Struct, frozen=True):
    step: str
    step_execution_id: str
    phase: str
    can_move: str
    text: str
    """Its phase in words."""
    attempt: int
    maximum_attempts: int | None
    due_at: datetime | None
    last_failure: ExplainedFailure | None
    locks: tuple[ExplainedLock, ...]
    """Those that it waits for."""
    wait: ExplainedWait | None
    ended_by: tuple[str, ...]
    """Who can still cancel it."""
    help: tuple[Advice, ...]
    paused: bool = False
    queue: str | None = None
    """The queue that a call of its handler stands in, when it is ready and no worker has it."""
    held_back: str | None = None
    """Why no worker has taken it."""


class NextDue(Struct, frozen=True):
    """What time brings next."""

    what: str
    """timer, retry, start or deadline."""
    at: datetime
    step_execution_id: str
    text: str


class Cycle(Struct, frozen=True):
    """Executions that wait for what only they, or what comes after them, could send."""

    step_execution_ids: tuple[str, ...]
    text: str


class Explanation(Struct, frozen=True):
    flow_id: str
    run_id: str
    flow: str
    status: str
    at: datetime
    """When the run was looked at."""
    verdict: str
    summary: str
    active: tuple[ExplainedExecution, ...]
    cycles: tuple[Cycle, ...]
    next_due: NextDue | None
    help: tuple[Advice, ...]


def as_json(explanation: Explanation) -> dict[str, Json]:
    described: dict[str, Json] = msgspec.json.decode(msgspec.json.encode(explanation))
    for execution in described["active"]:
        wait = execution["wait"]
        for condition in wait["conditions"] if wait else ():
            condition.setdefault("senders", [])
    return described
