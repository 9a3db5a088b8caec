"""Where tokens come from: seeds, and publishers that have no business with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.definition.model import Flow, Path
from orchestrator.graph.cancels import Cancel
from orchestrator.graph.counts import Count, published_by
from orchestrator.graph.crowds import Crowds
from orchestrator.graph.lineages import Lineages, Spot
from orchestrator.graph.section import Finding
from orchestrator.graph.usage import Publisher, Usage


@dataclass(frozen=True, slots=True)
class Seed:
    """A publish by a branch that never took a token."""

    step: str
    number: int
    """Of the decision, from 1; 0: the wait's effects."""
    count: Count
    is_repeated: bool
    """The step can run more than once."""


@dataclass(frozen=True, slots=True)
class Held:
    """What the search for violations goes by."""

    flow: Flow
    channel: str
    capacity: int
    usage: Usage
    lineages: Lineages
    crowds: Crowds
    holders: Mapping[str, int]
    held_on_entry: Mapping[str, int]
    cancels: tuple[Cancel, ...]
    """Of the flow."""


def most_seeded(seeds: list[Seed]) -> int:
    """Decisions of one step exclude each other; what different steps seed adds up."""
    total = 0
    for step in dict.fromkeys(seed.step for seed in seeds):
        own = [seed for seed in seeds if seed.step == step]
        total += max(_seeded_by(own, number) for number in {seed.number for seed in own})
    return total


def _seeded_by(seeds: list[Seed], number: int) -> int:
    return sum(seed.count.minimum for seed in seeds if seed.number in (0, number))


def over_seeded(held: Held, seeds: list[Seed]) -> Iterator[Finding]:
    """TOK010."""
    repeated = [seed for seed in seeds if seed.is_repeated]
    if repeated:
        seed = repeated[0]
        message = f"`{seed.step}` can run more than once, and seeds `{held.channel}` each time"
        yield Finding("TOK010", message, seed.count.path, step=seed.step)
        return
    total = most_seeded(seeds)
    if total > held.capacity:
        last = seeds[-1]
        message = f"{total} tokens of `{held.channel}` are seeded, and {held.capacity} may be out at once"
        also = tuple((seed.count.path, "seeded here too") for seed in seeds[:-1])
        yield Finding("TOK010", message, last.count.path, also=also, step=last.step)


def not_seeded(held: Held, seeds: list[Seed]) -> Iterator[Finding]:
    """TOK001: a wait for a token that nobody ever put there, on some way or on every one."""
    if not seeds:
        if not held.usage.outsiders and not held.flow.channels[held.channel].is_external:
            taker = held.usage.takers[0]
            message = f"`{taker.step}` waits for `{held.channel}`, which no step seeds before"
            also = tuple((p.path, "given back here, once it was taken") for p in held.usage.publishers[:1])
            yield Finding("TOK001", message, taker.condition.path, also=also, step=taker.step)
        return
    found = _way_without_seed(held, seeds)
    if found is not None:
        step, path, origin = found
        message = f"`{step}` waits for `{held.channel}`, which is not seeded on every way there"
        also = ((origin, "this way passes no seed"), (seeds[0].count.path, "seeded here"))
        yield Finding("TOK001", message, path, also=also, step=step)


def _way_without_seed(held: Held, seeds: list[Seed]) -> tuple[str, Path, Path] | None:
    """(step that waits, condition, last movement): a way from the start that no other branch can help."""
    start, visits = held.flow.start, held.lineages.visits
    leading = held.crowds.leading_to({seed.step for seed in seeds})
    left = [Spot(start, (), 0, False)] if start is not None else []
    seen = set(left)
    while left:
        spot = left.pop()
        visit = visits.get(spot)
        if visit is None:
            continue
        if visit.takes:
            return spot.step, visit.takes[0].path, held.lineages.arrivals[spot].path
        numbers = {number for number, _ in visit.seeds}
        if 0 in numbers:
            continue
        for move in visit.moves:
            if move.number in numbers or move.target in seen:
                continue
            together = [m for m in visit.moves if m.number == move.number and m.number > 0]
            if len(together) > 1 and any(m.target.step in leading for m in together):
                return None  # a branch beside this one may seed
            seen.add(move.target)
            left.append(move.target)
    return None


def published_by_canceller(held: Held, seed: Seed) -> Finding:
    """TOK012: it may have cancelled one holder, none or several."""
    message = f"`{seed.step}` cancels steps that hold `{held.channel}` and publishes it for them"
    return Finding("TOK012", message, seed.count.path, step=seed.step)


def published_from_outside(held: Held, *, has_seeds: bool) -> Iterator[Finding]:
    """TOK012: an RPC or the timeout handler, which can always add a token to those that are out."""
    for publisher in held.usage.outsiders if has_seeds else ():
        if not _is_guarded(held, publisher):
            message = f"{publisher.outside} publishes `{held.channel}`, whose tokens only holders give back"
            also = tuple((t.condition.path, "token taken here") for t in held.usage.takers[:1])
            yield Finding("TOK012", message, publisher.path, also=also)


def _is_guarded(held: Held, publisher: Publisher) -> bool:
    """Whether a guard, or the handler, decides if anything is published."""
    if publisher.effect is None:
        handlers = [rpc.handler for rpc in held.flow.rpcs.values() if rpc.handler is not None]
        own = next((h for h in handlers if h.may and publisher.path[: len(h.path)] == h.path), None)
        return own is not None and not any(count.minimum for count in published_by(own, held.channel))
    guards = (publisher.effect.when, publisher.decision.when if publisher.decision is not None else None)
    return any(guard is not None for guard in guards) or publisher.effect.for_each is not None
