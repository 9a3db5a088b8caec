"""What a handler may see of its run, as of the moment it is handed out (rules 51, 54, 102)."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from orchestrator.core.draft import Draft
from orchestrator.core.evaluation import map_key
from orchestrator.core.frame import Frame, wait_results
from orchestrator.core.rpcs import caller_of
from orchestrator.core.state import Execution, Phase, QueueKey, Run
from orchestrator.core.tasks import method_options, step_of
from orchestrator.definition.model import Flow, Handler, Json, Load, Rpc


class Snapshot(Struct, frozen=True, gc=False):
    """Values are the run's own: whoever hands them to a handler copies them."""

    flow: Flow
    flow_id: str
    run_id: str
    run_attempt: int
    execution: Execution
    started_at: datetime | None
    now: datetime
    wait: dict[str, Json] = {}
    attributes: dict[str, Json] = {}
    """Plain attributes that are set."""
    attribute_maps: dict[str, dict[str, Json]] = {}
    """Loaded maps, or loaded entries of them (null where there is none)."""
    partly_loaded: frozenset[str] = frozenset()
    """Maps of which only named entries are loaded."""
    channel_sizes: dict[str, int] = {}
    map_channel_sizes: dict[str, dict[str, int]] = {}
    """Unread messages of each non-empty instance of a channel map."""
    messages: dict[QueueKey, list[Json]] = {}
    """Unread messages of loaded channels; a channel map loaded as a whole also has the key None, empty."""


def take_snapshot(
    flow: Flow,
    run: Run,
    execution: Execution,
    now: datetime,
    options: Handler | None = None,
    *,
    has_viewer: bool = True,
) -> Snapshot:
    """Costs in proportion to the plain attributes, the channels and what `loads` asks for.

    `options`: of its method, if they are known. `has_viewer` False: the handler takes no context.
    """
    loads = (options or method_options(flow, execution)).loads
    if not has_viewer and not loads:
        return Snapshot(flow, run.flow_id, run.run_id, run.attempt, execution, run.started_at, now)
    return _take(flow, run, execution, loads, _wait(flow, execution), now)


def take_rpc_snapshot(flow: Flow, run: Run, rpc: Rpc, input: Json, now: datetime) -> Snapshot:
    """For the handler of an RPC; `input` is checked."""
    loads = rpc.handler.loads if rpc.handler is not None else ()
    return _take(flow, run, caller_of(rpc, input), loads, {}, now)


def _take(
    flow: Flow, run: Run, execution: Execution, loads: tuple[Load, ...], wait: dict[str, Json], now: datetime
) -> Snapshot:
    maps: dict[str, dict[str, Json]] = {}
    partly: frozenset[str] = frozenset()
    messages: dict[QueueKey, list[Json]] = {}
    sizes, map_sizes = _channel_sizes(flow, run)
    if loads:
        draft = Draft(flow, run, now)
        maps, partly = _load_maps(draft, execution, loads)
        messages = _load_messages(draft, execution, loads)
    return Snapshot(
        flow,
        run.flow_id,
        run.run_id,
        run.attempt,
        execution,
        run.started_at,
        now,
        wait=wait,
        attributes=dict(run.attributes),
        attribute_maps=maps,
        partly_loaded=partly,
        channel_sizes=sizes,
        map_channel_sizes=map_sizes,
        messages=messages,
    )


def _channel_sizes(flow: Flow, run: Run) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    sizes: dict[str, int] = {}
    of_maps: dict[str, dict[str, int]] = {}
    for name, channel in flow.channels.items():
        sizes[name] = 0
        if channel.is_map:
            of_maps[name] = {}
    for (name, key), queue in run.queues.items():
        sizes[name] += len(queue)
        if key is not None:
            of_maps[name][key] = len(queue)
    return sizes, of_maps


def _wait(flow: Flow, execution: Execution) -> dict[str, Json]:
    """After a WaitFor failure that proceeds (rule 89) no condition is satisfied, as expressions see it."""
    if execution.phase is not Phase.EXECUTE:
        return {}
    return wait_results(step_of(flow, execution).wait_for, execution.wait)


def _load_maps(
    draft: Draft, execution: Execution, loads: tuple[Load, ...]
) -> tuple[dict[str, dict[str, Json]], frozenset[str]]:
    maps: dict[str, dict[str, Json]] = {}
    whole: set[str] = set()
    for load in loads:
        if load.attribute is None or not draft.flow.attributes[load.attribute].is_map:
            continue
        entries = draft.map_entries(load.attribute)
        if load.key is None:
            maps[load.attribute] = dict(entries)
            whole.add(load.attribute)
        elif load.attribute not in whole:
            key = map_key(load.key, Frame(draft, execution))
            maps.setdefault(load.attribute, {})
            if key is not None:
                maps[load.attribute][key] = entries.get(key)
    return maps, frozenset(set(maps) - whole)


def _load_messages(draft: Draft, execution: Execution, loads: tuple[Load, ...]) -> dict[QueueKey, list[Json]]:
    messages: dict[QueueKey, list[Json]] = {}
    for load in loads:
        if load.channel is not None:
            key = map_key(load.key, Frame(draft, execution))
            messages[load.channel, key] = draft.unread((load.channel, key))
            if key is None:
                for instance in draft.queue_keys(load.channel):
                    messages[load.channel, instance] = draft.unread((load.channel, instance))
    return messages
