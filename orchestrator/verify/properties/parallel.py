"""What may happen at the same time: handlers that write the same attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.definition.model import Step
from orchestrator.verify.analysis import Analysis
from orchestrator.verify.properties import Check
from orchestrator.verify.properties.findings import kept, violated
from orchestrator.verify.report import PropertyReport
from orchestrator.verify.tracing import counterexample


def check_attribute_race(analysis: Analysis) -> Iterator[PropertyReport]:
    """Two executing handlers that may set one attribute, each from the snapshot it was given."""
    writes = {step.name: _handler_writes(step) for step in analysis.flow.steps.values()}
    writers = {name: written for name, written in writes.items() if written}
    if not writers:
        return
    for number, state in analysis.running():
        found = _clash(analysis.executing(state), writers)
        if found is None:
            continue
        one, other, attribute = found
        trace = counterexample(analysis.graph, number, blamed=(one, other))
        who = f"two executions of `{one}`" if one == other else f"`{one}` and `{other}`"
        yield violated(
            "attribute_race",
            "DAT005",
            f"{who} may write `{attribute}` at the same time: the later write loses the earlier one",
            analysis.flow.steps[one].path,
            trace,
            also=((analysis.flow.steps[other].path, "at the same time"),) if other != one else (),
            help=f"set it in the decision instead (`set: {{{attribute}: …}}` sees the latest value), "
            f"or give both `locks: [{attribute}]`",
        )
        return
    yield kept(analysis, "attribute_race", "DAT005", "no two handlers write an attribute at the same time")


def overlapping(analysis: Analysis) -> frozenset[tuple[str, str]]:
    """Pairs of steps (in alphabetical order) that may execute at the same time."""
    found: set[tuple[str, str]] = set()
    for _, state in analysis.running():
        steps = sorted(
            step for step, count in analysis.executing(state).items() for _ in range(min(count, 2))
        )
        found.update((one, other) for index, one in enumerate(steps) for other in steps[index + 1 :])
    return frozenset(found)


def _clash(
    executing: Mapping[str, int], writers: Mapping[str, Mapping[str, frozenset[str]]]
) -> tuple[str, str, str] | None:
    steps = [step for step in executing if step in writers]
    for index, one in enumerate(steps):
        others = steps[index + 1 :] if executing[one] == 1 else steps[index:]
        for other in others:
            for attribute, locks in writers[one].items():
                if attribute in writers[other] and not locks & writers[other][attribute]:
                    return one, other, attribute
    return None


def _handler_writes(step: Step) -> dict[str, frozenset[str]]:
    """Attributes that its Execute handler may set, and the locks it holds then."""
    handler = step.execute
    if handler is None or handler.may is None:
        return {}
    locks = frozenset(lock.attribute for lock in handler.locks)
    return dict.fromkeys(handler.may.set, locks)


CHECKS: dict[str, Check] = {"attribute_race": check_attribute_race}
