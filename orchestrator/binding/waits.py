"""What handlers return besides plain values: `choose(...)`, and waits built of declared condition ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeAlias

from msgspec import Struct

from orchestrator.binding.mistakes import InvalidWait, hint, shown
from orchestrator.core.events import HandlerWait

Wait: TypeAlias = HandlerWait
"""What a `wait_for` handler returns: `def ask(ctx: Context) -> Wait`."""


class Choice(Struct, frozen=True):
    """A result together with the word that selects the decision."""

    word: str
    value: Any = None


def choose(word: str, value: Any = None) -> Choice:
    """Take the first decision with `choice: word` whose `when`, if any, holds; `value` is the result."""
    if not isinstance(word, str) or not word:
        raise InvalidWait(f"choose() takes the word of a decision, not {shown(word)}")
    return Choice(word, value)


def until(condition: str) -> HandlerWait:
    """Wait until the declared condition holds."""
    return HandlerWait("until", (_ids("until", (condition,)),))


def all_of(*conditions: str) -> HandlerWait:
    """Wait until every one holds; of none, the wait holds at once (rule 63)."""
    return HandlerWait("all_of", (_ids("all_of", conditions),))


def any_of(*conditions: str) -> HandlerWait:
    """Wait until one holds: timers are tried first, then channels, in this order within a kind (rule 66)."""
    return HandlerWait("any_of", tuple((each,) for each in _ids("any_of", conditions)))


def any_combination_of(*groups: Iterable[str]) -> HandlerWait:
    """Wait until all conditions of one group hold; groups are tried in this order (rule 65)."""
    name = "any_combination_of"
    if not groups:
        raise InvalidWait(f"{name}() needs at least one group, such as {name}(['approval', 'payment'])")
    return HandlerWait(name, tuple(_ids(name, _group(name, group)) for group in groups))


def skip() -> HandlerWait:
    """Wait for nothing: Execute runs at once (rule 46)."""
    return HandlerWait("none")


def _group(name: str, group: Iterable[str]) -> tuple[str, ...]:
    if isinstance(group, str):
        raise InvalidWait(f"{name}() takes groups of condition ids: write [{group!r}], not {group!r}")
    if not isinstance(group, Iterable):
        raise InvalidWait(f"{name}() takes groups of condition ids, such as ['approval'], not {shown(group)}")
    members = tuple(group)
    if not members:
        raise InvalidWait(f"{name}() got an empty group; a group names conditions that hold together")
    return members


def _ids(name: str, conditions: tuple[str, ...]) -> tuple[str, ...]:
    for each in conditions:
        if not isinstance(each, str):
            raise InvalidWait(f"{name}() takes ids of declared conditions, not {shown(each)}")
    if len(set(conditions)) != len(conditions):
        twice = next(each for each in conditions if conditions.count(each) > 1)
        raise InvalidWait(f"{name}() names `{twice}` twice")
    return conditions


def check_wait(returned: object, declared: Collection[str], owner: str) -> HandlerWait:
    """The wait, if it names declared conditions only. Raises InvalidWait."""
    if not isinstance(returned, HandlerWait):
        shown = repr(returned)
        raise InvalidWait(
            f"the wait_for handler of {owner} returned {shown[:60]}; return until(…), any_of(…), all_of(…), "
            "any_combination_of(…) or skip()"
        )
    for group in returned.groups:
        for each in group:
            if each not in declared:
                raise InvalidWait(f"{owner} declares no condition `{each}`{hint(each, declared)}")
    return returned
