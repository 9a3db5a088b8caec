"""Critical sections of a flow: which channels carry tokens, who holds them, and where that goes wrong.

A section is not written down; it is seen from how a channel is used (or from `conserved` under `verify`).
The rules and the verifier share what is found. Linear in the size of the flow for each channel of tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from orchestrator.definition.model import Channel, Delivery, Flow
from orchestrator.definition.values import Literal
from orchestrator.graph.cancels import Cancel, cancels
from orchestrator.graph.counts import Count
from orchestrator.graph.crowds import Crowds
from orchestrator.graph.discipline import doubts_of, find_violations
from orchestrator.graph.lineages import Lineages, Spot, Visit
from orchestrator.graph.paths import Paths
from orchestrator.graph.section import Evidence, Place, Section
from orchestrator.graph.seeding import Held, Seed, most_seeded
from orchestrator.graph.usage import Usage, reads_messages, usages


def sections(flow: Flow, crowds: Crowds | None = None) -> tuple[Section, ...]:
    """Of every channel that carries tokens, in the order declared. `crowds`: the flow's, where known."""
    given = _Given(flow, crowds or Crowds(flow, Paths(flow)), tuple(cancels(flow)))
    conserved = {item.get("conserved") for item in flow.verify.get("properties", ())}
    found = []
    for name, usage in usages(flow).items():
        is_declared = name in conserved
        if not usage.takers or not (is_declared or _may_be_tokens(flow.channels[name], usage)):
            continue
        if is_declared or _can_come_back(usage, given.crowds):
            section = _section(given, name, usage, is_declared=is_declared)
            found += [section] if section is not None else []
    return tuple(found)


def _may_be_tokens(channel: Channel, usage: Usage) -> bool:
    """Cheap: the messages come from inside, some are taken one by one, and how many is always known."""
    is_plain = not channel.is_external and not channel.is_map and channel.delivery is Delivery.QUEUED
    counts = [taker.count for taker in usage.takers]
    return is_plain and 1 in counts and all(counts)


def _can_come_back(usage: Usage, crowds: Crowds) -> bool:
    """Whether who takes a message can publish one afterwards."""
    after = crowds.reached_from(taker.step for taker in usage.takers)
    return any(publisher.step in after for publisher in usage.publishers)


@dataclass(frozen=True, slots=True)
class _Given:
    """What all channels of a flow have in common."""

    flow: Flow
    crowds: Crowds
    cancels: tuple[Cancel, ...]


def _section(given: _Given, name: str, usage: Usage, *, is_declared: bool) -> Section | None:
    """None: nobody who took a message ever publishes one."""
    flow, crowds, users = given.flow, given.crowds, usage.steps
    seeds = _seeds(Lineages(flow, name, crowds, users, stops_at_take=True), crowds)
    capacity = _capacity(flow.channels[name], seeds)
    lineages = Lineages(flow, name, crowds, users)
    visits = lineages.visits.values()
    releases = _places((visit.spot, count) for visit in visits for count in visit.releases)
    if not releases and not is_declared:
        return None
    executing, entering = _executing(visits, crowds), _entering(visits, crowds)
    holders, held_on_entry = _most(executing), _most(entering)
    held = Held(flow, name, capacity, usage, lineages, crowds, holders, held_on_entry, given.cancels)
    findings, sound = find_violations(held, seeds)
    if is_declared:
        evidence = Evidence.DECLARED
    else:
        is_seeded_once = not any(seed.is_repeated for seed in sound) if seeds else not usage.outsiders
        has_evidence = (
            is_seeded_once and bool(sound) == bool(seeds) and _looks_like_tokens(flow, usage, crowds)
        )
        evidence = Evidence.STRONG if has_evidence else Evidence.WEAK
    return Section(
        channel=name,
        evidence=evidence,
        capacity=capacity,
        seeded=_seeded(sound),
        entries=_places((visit.spot, count) for visit in visits for count in visit.takes),
        members=_least(executing),
        holders=holders,
        least_on_entry=_least(entering),
        held_on_entry=held_on_entry,
        releases=releases,
        seeds=tuple(Place(seed.step, seed.count.path, seed.count.maximum or 0) for seed in sound),
        findings=findings,
        doubts=doubts_of(held, sound),
    )


def _seeds(lineages: Lineages, crowds: Crowds) -> list[Seed]:
    """Publishes of branches that never took a token, each once."""
    found: dict[tuple[object, ...], Seed] = {}
    for visit in lineages.visits.values():
        for number, count in visit.seeds:
            step = visit.spot.step
            key = (step, number, count.path)
            if key not in found:
                is_repeated = _is_on_a_cycle(lineages, visit.spot) or crowds.has([step])
                found[key] = Seed(step, number, count, is_repeated)
    return list(found.values())


def _is_on_a_cycle(lineages: Lineages, spot: Spot) -> bool:
    seen: set[Spot] = set()
    left = [spot]
    while left:
        visit = lineages.visits.get(left.pop())
        for move in visit.moves if visit is not None else ():
            if move.target == spot:
                return True
            if move.target not in seen:
                seen.add(move.target)
                left.append(move.target)
    return False


def _capacity(channel: Channel, seeds: list[Seed]) -> int:
    """What is declared; the size of a list that is seeded from on purpose; else one."""
    if channel.capacity is not None:
        return max(1, channel.capacity)
    repeated = [seed.count.maximum for seed in seeds if seed.count.is_exact and (seed.count.maximum or 0) > 1]
    return sum(size or 0 for size in repeated) or 1


def _seeded(seeds: list[Seed]) -> int | None:
    if any(seed.is_repeated or not seed.count.is_exact for seed in seeds):
        return None
    return most_seeded(seeds)


def _looks_like_tokens(flow: Flow, usage: Usage, crowds: Crowds) -> bool:
    """The messages carry nothing, and several branches compete for them."""
    effects = [publisher.effect for publisher in usage.publishers if publisher.effect is not None]
    is_blank = all(isinstance(effect.value, Literal) for effect in effects)
    is_read = any(reads_messages(flow.steps[t.step], t.condition.id) for t in usage.takers)
    return is_blank and not is_read and crowds.has({taker.step for taker in usage.takers})


def _places(found: Iterable[tuple[Spot, Count]]) -> tuple[Place, ...]:
    places = (Place(spot.step, count.path, count.minimum) for spot, count in found)
    return tuple(dict.fromkeys(places))


def _executing(visits: Collection[Visit], crowds: Crowds) -> dict[str, set[int]]:
    """How many tokens executions of each step can hold."""
    found: dict[str, set[int]] = {step: {0} for step in _entered_without(visits, crowds)}
    for visit in visits:
        found.setdefault(visit.spot.step, set()).update(visit.executing)
    return found


def _entering(visits: Collection[Visit], crowds: Crowds) -> dict[str, set[int]]:
    """How many tokens branches can come with."""
    found: dict[str, set[int]] = {step: {0} for step in _entered_without(visits, crowds)}
    for visit in visits:
        found.setdefault(visit.spot.step, set()).add(visit.spot.held)
    return found


def _entered_without(visits: Collection[Visit], crowds: Crowds) -> frozenset[str]:
    """Steps behind the point up to which branches without a token were followed: no token is met there."""
    visited = {visit.spot for visit in visits}
    left = (move.target for visit in visits for move in visit.moves if move.target not in visited)
    return crowds.reached_from(target.step for target in left if target.held == 0)


def _most(counts: Mapping[str, set[int]]) -> dict[str, int]:
    return {step: max(held) for step, held in counts.items() if max(held, default=0) > 0}


def _least(counts: Mapping[str, set[int]]) -> dict[str, int]:
    return {step: min(held) for step, held in counts.items() if min(held, default=0) > 0}
