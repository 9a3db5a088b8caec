"""What handlers do in a story, as far as it leaves a choice: effects, waits, and what is read of results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from orchestrator.binding.invoke import Returned
from orchestrator.core.events import NO_EFFECTS, HandlerEffects, HandlerWait, Message, Write
from orchestrator.core.state import TIMEOUT_STEP
from orchestrator.definition.model import Flow, Handler, Json, Rpc, Step, WaitFor
from orchestrator.graph.query import read_paths
from orchestrator.simulate.casting import Part
from orchestrator.simulate.samples import Samples, by_deviation
from orchestrator.simulate.storyline import Beat

_EFFECTS_LIMIT = 12
_KEY = "a"
"""Of the instance of a channel map or the entry of an attribute map."""
_COMBINATORS = ("any_combination_of", "any_of", "all_of", "until")


def step_named(flow: Flow, name: str) -> Step:
    if name == TIMEOUT_STEP:
        assert flow.on_timeout is not None
        return flow.on_timeout
    return flow.steps[name]


def reads_of(owner: Step | Rpc, below: Sequence[str] | None = None) -> list[tuple[str, ...]]:
    """What the owner's expressions read of the result, or of what stands `below` another name."""
    prefix = (owner.result.name,) if below is None else tuple(below)
    return sorted(path[len(prefix) :] for path in read_paths(owner) if path[: len(prefix)] == prefix)


def draw_effects(
    flow: Flow, handler: Handler | None, beat: Beat, samples: Samples
) -> Iterator[HandlerEffects]:
    """What the story says that the handler does through its context; where it says nothing, the least."""
    may = handler.may if handler is not None else None
    if may is None:
        yield NO_EFFECTS
        return
    publishes: list[Message] = []
    for channel, range_ in may.publish.items():
        declared = flow.channels[channel]
        message = Message(channel, samples.plainest(declared.type), _KEY if declared.is_map else None)
        publishes += [message] * _count(beat, f"publishes {channel}", range_.minimum)
    cancels = tuple(
        step for step, range_ in may.cancel.items() if _count(beat, f"cancels {step}", range_.minimum)
    )
    slots: list[list[Json]] = []
    for attribute, range_ in may.set.items():
        values = [
            Write(attribute, value, _KEY if flow.attributes[attribute].is_map else None)
            for value in list(samples.of(flow.attributes[attribute].type))[:_EFFECTS_LIMIT]
        ]
        is_needed = _count(beat, f"sets {attribute}", range_.minimum) > 0
        slots.append(values if is_needed else [None, *values])
    for writes in by_deviation(slots, _EFFECTS_LIMIT):
        yield HandlerEffects(tuple(each for each in writes if each is not None), tuple(publishes), cancels)


def _count(beat: Beat, what: str, otherwise: int) -> int:
    found = next((each.value for each in beat.given if each.what == what), otherwise)
    return int(found) if isinstance(found, bool | int) else otherwise


def draw_wait(flow: Flow, wait_for: WaitFor, beat: Beat, part: Part, samples: Samples) -> Returned:
    """The wait that the story's handler returned: a word and condition ids, as in `any_of a b`."""
    effects = next(draw_effects(flow, wait_for.handler, beat, samples), NO_EFFECTS)
    text = next((str(each.value) for each in beat.given if each.what == "wait"), "")
    ids = [condition.id for condition in wait_for.conditions]
    named = [word for word in re.findall(r"\w+", text) if word in ids]
    combinator = next((word for word in _COMBINATORS if word in text), "")
    if not named and part.satisfied is not None:
        named, combinator = list(part.satisfied.conditions), "all_of"
    if not named:
        return Returned(wait=HandlerWait("none"), effects=effects)
    if combinator in ("all_of", "until") or len(named) == 1:
        wait = HandlerWait("until" if len(named) == 1 else "all_of", (tuple(named),))
    elif combinator == "any_combination_of":
        groups = [re.findall(r"\w+", group) for group in re.findall(r"\[([^\[\]]*)\]", text)]
        wait = HandlerWait(combinator, tuple(tuple(group) for group in groups if group) or (tuple(named),))
    else:
        wait = HandlerWait("any_of", tuple((each,) for each in named))
    return Returned(wait=wait, effects=effects)
