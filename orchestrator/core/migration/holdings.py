"""What a run holds besides its executions: messages, attributes, rounds, outputs, its input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orchestrator.core.migration.advice import likely_attribute, likely_channel, likely_join, mapping_text
from orchestrator.core.migration.comparison import Comparison
from orchestrator.core.migration.fitting import Holding, known, leaves_unfilled, misfit
from orchestrator.core.migration.renaming import DROPPED
from orchestrator.core.migration.verdicts import Obstacle
from orchestrator.core.state import Run
from orchestrator.definition.model import Attribute, Channel
from orchestrator.definition.types import Type
from orchestrator.graph.query import read_paths


def check_holdings(case: Comparison, run: Run | None = None) -> list[Obstacle]:
    """Of a run, or statically of any run: each declared thing is taken to hold something."""
    return [
        *_check_channels(case, run),
        *_check_attributes(case, run),
        *_check_joins(case, run),
        *_check_outputs(case, run),
        *_check_start_input(case, run),
    ]


def _check_channels(case: Comparison, run: Run | None) -> Iterator[Obstacle]:
    for name, before in case.old.channels.items():
        held = _messages(run, name, before)
        if not held:
            continue
        place, new_name = f"channel:{name}", case.renaming.channel(name)
        if new_name == DROPPED:
            continue
        after = case.new.channels.get(new_name)
        if after is None:
            mapping = mapping_text("channel", name, likely_channel(name, case.old, case.new))
            yield Obstacle(place, f"channel {name} is gone, and unread messages may lie there", mapping)
        elif before.is_map != after.is_map:
            yield Obstacle(place, f"channel {name} has {'become' if after.is_map else 'ceased to be'} a map")
        elif (why := _first_misfit(held, after.type)) is not None:
            yield Obstacle(place, f"an unread message of {name} does not fit: {why}")


def _check_attributes(case: Comparison, run: Run | None) -> Iterator[Obstacle]:
    for name, before in case.old.attributes.items():
        held = _values(run, name, before)
        if not held:
            continue
        place, new_name = f"attribute:{name}", case.renaming.attribute(name)
        if new_name == DROPPED:
            continue
        after = case.new.attributes.get(new_name)
        if after is None:
            mapping = mapping_text("attribute", name, likely_attribute(name, case.old, case.new))
            yield Obstacle(place, f"attribute {name} is gone, and its value would be lost", mapping)
        elif before.is_map != after.is_map:
            yield Obstacle(
                place, f"attribute {name} has {'become' if after.is_map else 'ceased to be'} a map"
            )
        elif (why := _first_misfit(held, after.type)) is not None:
            yield Obstacle(place, f"the value of attribute {name} does not fit: {why}")


def _check_joins(case: Comparison, run: Run | None) -> Iterator[Obstacle]:
    for name, before in case.old.joins.items():
        rounds = [round for round in run.rounds.values() if round.join == name] if run is not None else []
        if run is not None and not rounds:
            continue
        new_name = case.renaming.join(name)
        after = case.new.joins.get(new_name)
        if after is None:
            likely = likely_join(name, case.old, case.new)
            mapping = mapping_text("join", name, likely) if likely is not None else None
            yield Obstacle(f"join:{name}", f"join {name} is gone, and a round of it may be open", mapping)
            continue
        held = [Holding(type=before.type)]
        if run is not None:
            held = [known(report.value) for round in rounds for report in round.reports]
        if (why := _first_misfit(held, after.type)) is not None:
            yield Obstacle(f"join:{name}", f"a report to join {name} does not fit: {why}")


def _check_outputs(case: Comparison, run: Run | None) -> Iterator[Obstacle]:
    """Branches that have completed gracefully have given theirs."""
    if run is not None:
        held = [known(output.output) for output in run.outputs]
    elif case.old.output is not None and case.old.output != case.new.output:
        held = [Holding(type=case.old.output)]
    else:
        return
    if (why := _first_misfit(held, case.new.output)) is not None:
        yield Obstacle("run", f"an output given so far does not fit: {why}")


def _check_start_input(case: Comparison, run: Run | None) -> Iterator[Obstacle]:
    """Kept as it is, for expressions that read `run.input`."""
    asked = case.new.input
    deciders = (*case.new.steps.values(), *case.new.rpcs.values(), case.new.on_timeout)
    is_read = any(path[:2] == ("run", "input") for path in read_paths(deciders))
    if case.old.input == asked or asked is None or not is_read:
        return
    held = known(run.input) if run is not None else Holding(type=case.old.input)
    if (why := misfit(held, asked)) is not None:
        yield Obstacle("run", f"the input that it was started with does not fit: {why}")
    elif leaves_unfilled(held, asked):
        yield Obstacle("run", "the input that it was started with lacks what now has a default")


def _messages(run: Run | None, name: str, declared: Channel) -> list[Holding]:
    if run is None:
        return [Holding(type=declared.type)]
    return [known(m.value) for (channel, _), queue in run.queues.items() if channel == name for m in queue]


def _values(run: Run | None, name: str, declared: Attribute) -> list[Holding]:
    if run is None:
        return [Holding(type=declared.type)]
    if declared.is_map:
        return [known(value) for value in run.attribute_maps.get(name, {}).values()]
    return [known(run.attributes[name])] if name in run.attributes else []


def _first_misfit(held: Iterable[Holding], asked: Type | None) -> str | None:
    return next((why for each in held if (why := misfit(each, asked)) is not None), None)
