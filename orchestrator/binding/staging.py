"""What one call of a handler has done so far, in order; committed with its result or not at all (rule 48)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.binding.convert import NotJson, to_json
from orchestrator.binding.mistakes import HandlerMistake, InvalidResult, UndeclaredEffect, shown
from orchestrator.core.events import HandlerEffects, Message, Record, Write
from orchestrator.definition.json_kinds import Misfit, check_name
from orchestrator.definition.model import Json, May, MayRange
from orchestrator.errors import InvalidValue

if TYPE_CHECKING:
    from orchestrator.definition.types import Type

_NOTHING = May()


class Staging:
    """Collects effects; refuses at once what `may` does not allow."""

    __slots__ = ("_counts", "_may", "_owner", "cancels", "locals", "publishes", "records", "writes")

    def __init__(self, owner: str, may: May | None) -> None:
        self._owner = owner
        self._may = may or _NOTHING
        self._counts: dict[tuple[str, str], int] = {}
        self.writes: list[Write] = []
        self.publishes: list[Message] = []
        self.cancels: list[str] = []
        self.locals: dict[str, Json] = {}
        self.records: dict[str, Record] = {}

    def write(self, write: Write) -> None:
        self._permit("set", write.attribute, self._may.set)
        self.writes.append(write)

    def publish(self, message: Message) -> None:
        self._permit("publish", message.channel, self._may.publish)
        self.publishes.append(message)

    def cancel(self, step: str) -> None:
        if step not in self.cancels:
            self._permit("cancel", step, self._may.cancel)
            self.cancels.append(step)

    def record(self, name: object, value: Any) -> None:
        if not isinstance(name, str) or not name:
            raise HandlerMistake(f"the name of a recorded event is text that is not empty, not {shown(name)}")
        name = _as_text(name, "the name of a recorded event")
        if name in self.records:
            raise HandlerMistake(f"{self._owner} recorded `{name}` twice in one call; name the second anew")
        self.records[name] = Record(name, as_json(value, f"the event `{name}`"))

    def freeze(self) -> HandlerEffects:
        return HandlerEffects(
            tuple(self.writes),
            tuple(self.publishes),
            tuple(self.cancels),
            self.locals,
            tuple(self.records.values()),
        )

    def _permit(self, verb: str, name: str, declared: Mapping[str, MayRange]) -> None:
        allowed = declared.get(name)
        if allowed is None:
            raise UndeclaredEffect(
                f"{self._owner} may not {verb} `{name}`: "
                f"declare `may: {{{verb}: [{name}]}}` beside its handler"
            )
        count = self._counts.get((verb, name), 0) + 1
        if allowed.maximum is not None and count > allowed.maximum:
            times = "once" if allowed.maximum == 1 else f"{allowed.maximum} times"
            raise UndeclaredEffect(f"{self._owner} may {verb} `{name}` at most {times} in one call")
        self._counts[verb, name] = count


def as_json(value: Any, what: str, error: Callable[[str], Exception] = InvalidResult) -> Json:
    try:
        return to_json(value)
    except NotJson as problem:
        raise error(f"{what} is not JSON: {problem}") from problem


def as_declared(value: Any, declared: Type, what: str) -> Json:
    """JSON of the declared type, its defaults filled in. Raises InvalidValue naming `what`."""
    plain = as_json(value, what, InvalidValue)
    try:
        return declared.check(plain)
    except InvalidValue as problem:
        raise InvalidValue(f"{what} is not {declared.text}: {problem.message}", **problem.data) from problem


def as_key(key: object, what: str) -> str:
    """The key of a map entry or channel instance."""
    if isinstance(key, bool) or not isinstance(key, str | int) or key == "":
        raise HandlerMistake(f"a key of {what} is text that is not empty, or an integer, not {shown(key)}")
    return _as_text(key, f"a key of {what}") if isinstance(key, str) else str(int(key))


def _as_text(value: str, what: str) -> str:
    try:
        return str(check_name(value))
    except Misfit as problem:
        raise HandlerMistake(f"{what} is {shown(value)}: {problem.message}") from None
