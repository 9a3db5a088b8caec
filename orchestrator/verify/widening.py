"""How much comes from outside: as the author says, else 0 to 2, or more where the definition needs more.

A definition that waits for five votes of clients, or in three steps for one each, does not come to its end
with two. What lies behind such a wait would count as checked, and the wait as one that never ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from orchestrator.core.rpcs import is_read_only
from orchestrator.definition.model import ChannelCondition, Flow, Rpc, Step
from orchestrator.definition.values import Literal
from orchestrator.graph.counts import published, published_by
from orchestrator.graph.query import with_otherwise
from orchestrator.graph.subjects import groups_of
from orchestrator.verify.analysis import Analysis
from orchestrator.verify.properties.progress import find_dead
from orchestrator.verify.search import Graph, Progress, explore
from orchestrator.verify.sources import DEFAULT, external_of
from orchestrator.verify.transitions import Transitions

FACTORS = (2, 4)
WIDE_STATES = (2_000, 4, 20_000)
"""What a search with more from outside may cost: the first, or so many times the one before, never more than
the last. Beyond that the one before counts."""

External = dict[str, tuple[int, int]]


def explore_widely(
    flow: Flow, sizes: Sequence[int], max_states: int, progress: Progress | None, depth: int
) -> tuple[Graph, External]:
    """The states, and what may come from outside in them."""
    given = external_of(flow)
    external = {**default_external(flow), **given}
    graph = explore(Transitions(flow, sizes, external), max_states, progress, depth=depth)
    if not graph.is_complete or graph.pumped:
        return graph, external
    dead = len(list(find_dead(Analysis(graph))))
    for wider in _wider(external, given) if dead else ():
        limit = min(max_states, _worthwhile(len(graph.states)))
        wide = explore(Transitions(flow, sizes, wider), limit, progress, depth=depth)
        if not wide.is_complete or wide.pumped:
            break
        left = len(list(find_dead(Analysis(wide))))
        if left < dead:
            graph, external, dead = wide, wider, left
        if not dead:
            break
    return graph, external


def _worthwhile(state_count: int) -> int:
    least, factor, most = WIDE_STATES
    return min(max(least, factor * state_count), most)


def _wider(external: External, given: External) -> Iterator[External]:
    if external.keys() - given.keys():
        for factor in FACTORS:
            yield {
                name: bounds if name in given else (bounds[0], bounds[1] * factor)
                for name, bounds in external.items()
            }


def default_external(flow: Flow) -> External:
    """Of every external channel and every RPC that changes something: enough for each wait by itself."""
    found = {
        name: _enough(_needed(flow, [name])) for name, channel in flow.channels.items() if channel.is_external
    }
    for name, rpc in flow.rpcs.items():
        if not is_read_only(rpc):
            fed = [channel for channel in flow.channels if _feeds(rpc, channel)]
            found[name] = _enough(_needed(flow, fed))
    return found


def _enough(need: int) -> tuple[int, int]:
    return DEFAULT[0], max(DEFAULT[1], need)


def _feeds(rpc: Rpc, channel: str) -> bool:
    effects = [effect for _, each, _ in with_otherwise(rpc.decisions) for effect in each.effects]
    return any(True for _ in (*published(effects, channel, {}), *published_by(rpc.handler, channel)))


def _needed(flow: Flow, channels: Iterable[str]) -> int:
    """The most messages of one of these channels that one wait asks for in so many words."""
    return max((_asked(step, name) for name in channels for step in flow.steps.values()), default=0)


def _asked(step: Step, channel: str) -> int:
    wait = step.wait_for
    if wait is None:
        return 0
    least = {
        each.id: _least(each)
        for each in wait.conditions
        if isinstance(each, ChannelCondition) and each.channel == channel
    }
    groups = groups_of(wait) if wait.handler is None else [frozenset([each]) for each in least]
    return max((sum(least.get(each, 0) for each in group) for group in groups), default=0)


def _least(condition: ChannelCondition) -> int:
    count = condition.exactly if condition.exactly is not None else condition.at_least
    return count.value if isinstance(count, Literal) and type(count.value) is int else 1
