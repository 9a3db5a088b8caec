"""How many messages of a channel a part of a flow publishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from orchestrator.definition.model import Effect, Handler, Path, Publish
from orchestrator.definition.values import ExpressionFailed, Value
from orchestrator.graph.truth import Known, truth


@dataclass(frozen=True, slots=True)
class Count:
    """Messages published at one place; `maximum` None is any number."""

    minimum: int
    maximum: int | None
    path: Path

    @property
    def is_exact(self) -> bool:
        return self.minimum == self.maximum


def size_of_list(elements: Value | None) -> int | None:
    """How many elements a `for_each` has (none given: one); None: known only at run time."""
    if elements is None:
        return 1
    if elements.reads:
        return None
    try:
        found = elements.evaluate({})
    except ExpressionFailed:
        return None
    return len(found) if isinstance(found, list) else None


def published(effects: Iterable[Effect], channel: str, known: Known) -> Iterator[Count]:
    """What effects publish, in the order written; nothing where a guard is known to be false."""
    for effect in effects:
        if not isinstance(effect, Publish) or effect.channel != channel:
            continue
        holds = truth(effect.when, known)
        size = size_of_list(effect.for_each)
        if holds is not False and size != 0:
            least = size if holds and size is not None else 0
            yield Count(least, size, effect.path)


def published_by(handler: Handler | None, channel: str) -> Iterator[Count]:
    """What one successful call of a handler publishes through its context."""
    if handler is None or handler.may is None or channel not in handler.may.publish:
        return
    declared = handler.may.publish[channel]
    path = (*handler.may.path, "publish", channel) if handler.may.path else handler.path
    if declared.maximum != 0:
        yield Count(declared.minimum, declared.maximum, path)
