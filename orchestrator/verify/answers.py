"""What a handler may answer, as far as the definition tells: a word, what its `may` allows, a wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from orchestrator.core.events import HandlerEffects, HandlerWait, Message, Write
from orchestrator.definition.model import Combinator, Flow, Handler, Json, MayRange, Path, Rpc, Step, WaitFor
from orchestrator.verify.oracle import Oracle
from orchestrator.verify.skeleton import ANY_KEY
from orchestrator.verify.unknown import Unknown

_UNBOUNDED_STEPS = 2
"""A handler that may publish any number publishes so many more than it must, at most."""


class Answer(NamedTuple):
    result: Json = None
    choice: str | None = None
    effects: HandlerEffects = HandlerEffects()


class Answers:
    """Guesses the answers of a definition's handlers; every call of a method is part of one event."""

    def __init__(self, flow: Flow, oracle: Oracle, steering_attributes: frozenset[str]) -> None:
        self._flow = flow
        self._oracle = oracle
        self._steering = steering_attributes

    def of(self, decider: Step | Rpc) -> Answer:
        """Of Execute, or of an RPC; a decider without handler has nothing to say."""
        handler = decider.execute if isinstance(decider, Step) else decider.handler
        if handler is None:
            return Answer()
        return Answer(Unknown(decider.result.type), self._choice(decider), self.effects(handler))

    def wait(self, wait_for: WaitFor) -> HandlerWait | None:
        """The wait that a wait_for handler builds: one condition, any, all, or none of them."""
        if wait_for.combinator is not Combinator.HANDLER:
            return None
        assert wait_for.handler is not None
        ids = tuple(condition.id for condition in wait_for.conditions)
        waits = [HandlerWait("until", ((id,),)) for id in ids]
        if len(ids) > 1:
            waits.append(HandlerWait("any_of", tuple((id,) for id in ids)))
            waits.append(HandlerWait("all_of", (ids,)))
        waits.append(HandlerWait("none"))
        words = [_spelled(wait) for wait in waits]
        word = self._oracle.choose(words, wait_for.handler.path, "wait")
        return waits[words.index(word)]

    def effects(self, handler: Handler | None) -> HandlerEffects:
        if handler is None or handler.may is None:
            return HandlerEffects()
        may = handler.may
        return HandlerEffects(
            writes=tuple(self._writes(may.set, may.path)),
            publishes=tuple(self._publishes(may.publish, may.path)),
            cancels=tuple(self._cancels(may.cancel, may.path)),
        )

    def _choice(self, decider: Step | Rpc) -> str | None:
        words = list(dict.fromkeys(decision.choice for decision in decider.decisions))
        return self._oracle.choose(words, decider.path, "choice") if words else None

    def _publishes(self, declared: Mapping[str, MayRange], path: Path) -> Iterator[Message]:
        for channel, allowed in declared.items():
            key = ANY_KEY if self._flow.channels[channel].is_map else None
            count = self._oracle.choose(_counts(allowed), (*path, "publish", channel), f"publishes {channel}")
            for _ in range(count):
                yield Message(channel, Unknown(self._flow.channels[channel].type), key)

    def _writes(self, declared: Mapping[str, MayRange], path: Path) -> Iterator[Write]:
        for name, allowed in declared.items():
            attribute = self._flow.attributes[name]
            count = allowed.minimum
            if name in self._steering and not count:
                count = self._oracle.choose((0, 1), (*path, "set", name), f"sets {name}")
            for _ in range(count):
                yield Write(name, Unknown(attribute.type), ANY_KEY if attribute.is_map else None)

    def _cancels(self, declared: Mapping[str, MayRange], path: Path) -> Iterator[str]:
        for step, allowed in declared.items():
            options = (1,) if allowed.minimum else (0, 1)
            if self._oracle.choose(options, (*path, "cancel", step), f"cancels {step}"):
                yield step


def _counts(allowed: MayRange) -> range:
    most = allowed.minimum + _UNBOUNDED_STEPS
    return range(allowed.minimum, (most if allowed.maximum is None else min(allowed.maximum, most)) + 1)


def _spelled(wait: HandlerWait) -> str:
    return " ".join((wait.combinator, *(id for group in wait.groups for id in group)))
