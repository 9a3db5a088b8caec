"""The whole state of a run as one value, for the commit of a time travel."""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from orchestrator.core.events import Watcher
from orchestrator.core.state import Execution, Output, QueuedMessage, Round, Run, Status
from orchestrator.definition.model import Json


class QueueImage(Struct, frozen=True, array_like=True):
    channel: str
    key: str | None
    messages: tuple[QueuedMessage, ...]


class RunImage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything of a Run but its identity, start, version and indexes."""

    status: Status
    attempt: int
    is_completing: bool = False
    next_seq: int = 1
    next_order: int = 1
    counters: dict[str, int] = {}
    executions: tuple[Execution, ...] = ()
    attributes: dict[str, Json] = {}
    attribute_maps: dict[str, dict[str, Json]] = {}
    queues: tuple[QueueImage, ...] = ()
    outputs: tuple[Output, ...] = ()
    dropped_count: dict[str, int] = {}
    rounds: dict[str, Round] = {}
    answers: dict[str, Json] = {}
    watchers: tuple[Watcher, ...] = ()
    skips: dict[str, tuple[str | int | None, ...]] = {}
    config: dict[str, Json] = {}


def image_of(run: Run) -> RunImage:
    return RunImage(
        status=run.status,
        attempt=run.attempt,
        is_completing=run.is_completing,
        next_seq=run.next_seq,
        next_order=run.next_order,
        counters=dict(run.counters),
        executions=tuple(run.executions.values()),
        attributes=dict(run.attributes),
        attribute_maps={name: dict(entries) for name, entries in run.attribute_maps.items()},
        queues=tuple(QueueImage(name, key, tuple(queue)) for (name, key), queue in run.queues.items()),
        outputs=tuple(run.outputs),
        dropped_count=dict(run.dropped_count),
        rounds=dict(run.rounds),
        answers=dict(run.answers),
        watchers=tuple(run.watchers),
        skips=dict(run.skips),
        config=dict(run.config),
    )


def restore(run: Run, image: RunImage) -> None:
    """Make the run what the image says; the caller rebuilds the indexes."""
    run.status, run.attempt, run.is_completing = image.status, image.attempt, image.is_completing
    run.closed_at, run.error = None, None
    run.next_seq, run.next_order = image.next_seq, image.next_order
    run.counters = dict(image.counters)
    run.executions = {execution.id: execution for execution in image.executions}
    run.attributes = dict(image.attributes)
    run.attribute_maps = {name: dict(entries) for name, entries in image.attribute_maps.items()}
    run.queues = {(queue.channel, queue.key): deque(queue.messages) for queue in image.queues}
    run.outputs = list(image.outputs)
    run.dropped_count = dict(image.dropped_count)
    run.rounds = {name: _copy(round) for name, round in image.rounds.items()}
    run.answers = dict(image.answers)
    run.watchers = list(image.watchers)
    run.skips = dict(image.skips)
    run.config = dict(image.config)


def _copy(round: Round) -> Round:
    return Round(
        round.join,
        round.branch_count,
        round.counting,
        round.missed,
        round.members,
        round.is_cancelled,
        list(round.reports),
    )
