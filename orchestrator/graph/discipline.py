"""Violations of a token's discipline, in words."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.definition.model import Path
from orchestrator.graph.counts import Count
from orchestrator.graph.lineages import Kind, Lineages, Spot, Visit
from orchestrator.graph.section import Doubt, Finding
from orchestrator.graph.seeding import (
    Held,
    Seed,
    not_seeded,
    over_seeded,
    published_by_canceller,
    published_from_outside,
)
from orchestrator.graph.victims import cancelled_holders, cancels_holders


def find_violations(held: Held, seeds: list[Seed]) -> tuple[tuple[Finding, ...], list[Seed]]:
    """All findings, each once; and the seeds that are none of them."""
    found = [*_findings_on_the_way(held), *cancelled_holders(held)]
    mixed = [seed for seed in seeds if _comes_both_ways(held, seed.step)]
    found += [_path_dependent(held, step) for step in dict.fromkeys(seed.step for seed in mixed)]
    seeds = [seed for seed in seeds if seed not in mixed]
    by_cancellers = [seed for seed in seeds if cancels_holders(held, seed.step, seed.number)]
    found += [published_by_canceller(held, seed) for seed in by_cancellers]
    seeds = [seed for seed in seeds if seed not in by_cancellers]
    found += published_from_outside(held, has_seeds=bool(seeds))
    found += [*not_seeded(held, seeds), *over_seeded(held, seeds)]
    first = {(finding.code, finding.path, finding.is_key): finding for finding in reversed(found)}
    return tuple(reversed(first.values())), seeds


def doubts_of(held: Held, seeds: list[Seed]) -> tuple[Doubt, ...]:
    """What keeps a section without findings from being proved."""
    what = f"what happens to `{held.channel}` here is known only at run time"
    visits = held.lineages.visits.values()
    found = [Doubt(what, path) for visit in visits for path in visit.doubts]
    channel = held.flow.channels[held.channel]
    if channel.is_external:
        found.append(Doubt(f"clients may publish to `{held.channel}`", channel.path))
    if channel.is_map:
        found.append(Doubt(f"`{held.channel}` is a channel map", channel.path))
    for publisher in held.usage.outsiders:
        message = f"{publisher.outside} may publish `{held.channel}`"
        found.append(Doubt(message, publisher.path))
    unsure = [seed for seed in seeds if seed.is_repeated or not seed.count.is_exact]
    message = f"`{held.channel}` is seeded an unknown number of times"
    found += [Doubt(message, seed.count.path) for seed in unsure]
    return tuple(dict.fromkeys(found))


# --- On the way of a branch --------------------------------------------------------------------------------


def _findings_on_the_way(held: Held) -> Iterator[Finding]:
    for visit in held.lineages.visits.values():
        for violation in visit.violations:
            trail = _trail(held.lineages, visit.spot)
            fork = next((spot.step for spot in trail if _comes_both_ways(held, spot.step)), None)
            if fork is not None and violation.code != "TOK004":
                yield _path_dependent(held, fork)
            else:
                yield _in_words(held, visit, violation, trail)


def _trail(lineages: Lineages, spot: Spot) -> list[Spot]:
    """From the first step of the run to this one."""
    trail = [spot]
    while (origin := lineages.arrivals[trail[-1]].origin) is not None and origin not in trail:
        trail.append(origin)
    return trail[::-1]


def _comes_both_ways(held: Held, step: str) -> bool:
    """Whether branches surely enter the step with a token, and surely without."""
    counts = {
        s.held for s, arrival in held.lineages.arrivals.items() if s.step == step and arrival.is_certain
    }
    return 0 in counts and len(counts) > 1


def _in_words(held: Held, visit: Visit, violation: Kind, trail: list[Spot]) -> Finding:
    step, channel = visit.spot.step, held.channel
    taken = _last(held, trail, "takes", "token taken here")
    match violation.code:
        case "TOK002":
            message = f"`{step}` ends its branch while holding `{channel}`"
            also = taken
        case "TOK003":
            message, also = _double_release(held, visit, violation, trail)
        case "TOK004":
            message = f"`{step}` waits for `{channel}` while its branch holds it: it waits for itself"
            if held.capacity > 1:
                message = f"`{step}` waits for more of `{channel}` while its branch holds some"
            also = _last(held, trail[:-1], "takes", "token taken here")
        case _:
            message = (
                f"`{step}` starts several branches while holding `{channel}`, which only one can give back"
            )
            also = taken
    return Finding(violation.code, message, violation.path, violation.is_key, also, step)


def _double_release(
    held: Held, visit: Visit, violation: Kind, trail: list[Spot]
) -> tuple[str, tuple[tuple[Path, str], ...]]:
    step, channel = visit.spot.step, held.channel
    here = [count.path for count in visit.releases if count.path != violation.path]
    if max(visit.executing, default=0) > 0:
        message = f"`{step}` publishes `{channel}` more often than it holds it"
        return message, tuple((path, "given back here already") for path in here[-1:])
    message = f"`{step}` publishes `{channel}` without holding it"
    return message, _last(held, trail[:-1], "releases", "given back here already")


def _last(held: Held, trail: list[Spot], what: str, label: str) -> tuple[tuple[Path, str], ...]:
    """The last place on the trail where tokens were taken or given back."""
    for spot in reversed(trail):
        visit = held.lineages.visits.get(spot)
        counts: list[Count] = getattr(visit, what) if visit is not None else []
        if counts:
            return ((counts[-1].path, label),)
    return ()


def _path_dependent(held: Held, step: str) -> Finding:
    arrivals = [(s, a) for s, a in held.lineages.arrivals.items() if s.step == step and a.is_certain]
    holding = next(a.path for s, a in arrivals if s.held > 0)
    without = next(a.path for s, a in arrivals if s.held == 0)
    message = f"`{step}` is reached both holding `{held.channel}` and not holding it"
    also = ((holding, "comes holding it"), (without, "comes without it"))
    return Finding("TOK006", message, ("steps", step), True, also, step)
