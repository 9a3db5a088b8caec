"""`ctx.wait` and `ctx.local`: what the wait of this execution brought (rules 47, 79-83)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.binding.convert import copy_json
from orchestrator.binding.mistakes import (
    HandlerMistake,
    UnknownName,
    demand_name,
    hint,
    shown,
    written_by_item,
)
from orchestrator.binding.staging import Staging, as_json
from orchestrator.definition.model import Json


class ConditionView:
    """The result of a condition: `.satisfied`, of a timer `.fired`, of a channel `.message`, `.messages`."""

    __slots__ = ("_id", "_result")

    def __init__(self, condition_id: str, result: Mapping[str, Json]) -> None:
        self._id = condition_id
        self._result = result

    def __getattr__(self, name: str) -> Any:
        if name in ConditionView.__slots__:
            raise AttributeError(name)  # of a copy in the making
        if name == "message" and "messages" in self._result:
            return self._single_message()
        if name in self._result:
            return copy_json(self._result[name])
        known = set(self._result) | ({"message"} if "messages" in self._result else set())
        raise UnknownName(f"the result of `{self._id}` has no `{name}`{hint(name, known)}")

    def __getitem__(self, name: str) -> Any:
        demand_name("field", name, self._result)
        return getattr(self, name)

    def __repr__(self) -> str:
        return f"<{self._id}: {dict(self._result)}>"

    def _single_message(self) -> Any:
        messages = self._result["messages"]
        if len(messages) > 1:
            raise HandlerMistake(f"`{self._id}` took {len(messages)} messages: read `.messages`")
        return copy_json(messages[0]) if messages else None


class WaitResults:
    """Results by condition id, as attribute or item; of a condition with `for_each` a list of them."""

    __slots__ = ("_owner", "_results")

    def __init__(self, owner: str, results: Mapping[str, Json] | None) -> None:
        self._owner = owner
        self._results = results

    def __getattr__(self, condition_id: str) -> Any:
        if condition_id.startswith("__") or condition_id in WaitResults.__slots__:
            raise AttributeError(condition_id)
        return self[condition_id]

    def __getitem__(self, condition_id: str) -> Any:
        results = self._results
        if results is None:
            raise HandlerMistake(f"{self._owner} has no results yet: they are for the step's execute")
        demand_name("condition", condition_id, results)
        if condition_id not in results:
            advice = hint(condition_id, results)
            raise UnknownName(f"{self._owner} waits for no condition `{condition_id}`{advice}")
        result = results[condition_id]
        if isinstance(result, list):
            return [ConditionView(condition_id, each) for each in result]
        return ConditionView(condition_id, result)

    def __iter__(self) -> Iterator[str]:
        return iter(self._results or {})

    def __len__(self) -> int:
        return len(self._results or {})


class Locals:
    """Values that one execution keeps from its wait_for to its execute; written by wait_for handlers only."""

    __slots__ = ("_committed", "_is_writable", "_owner", "_staging")

    def __init__(
        self, owner: str, committed: Mapping[str, Json], staging: Staging, *, is_writable: bool
    ) -> None:
        self._owner = owner
        self._committed = committed
        self._staging = staging
        self._is_writable = is_writable

    def __getitem__(self, name: str) -> Any:
        demand_name("local", name, self)
        if name in self._staging.locals:
            return copy_json(self._staging.locals[name])
        if name in self._committed:
            return copy_json(self._committed[name])
        raise UnknownName(f"{self._owner} has no local `{name}`{hint(name, set(self))}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in Locals.__slots__:
            raise AttributeError(name)
        return self[name]

    if not TYPE_CHECKING:
        __setattr__ = written_by_item("locals are written by item: ctx.local[{name!r}] = …")

        def __delitem__(self, name: str) -> None:
            raise HandlerMistake(f"a local is not deleted: ctx.local[{name!r}] = None")

    def __setitem__(self, name: str, value: Any) -> None:
        if not self._is_writable:
            raise HandlerMistake(f"{self._owner} cannot write `{name}`: only wait_for handlers write locals")
        if not isinstance(name, str) or not (name.isidentifier() and name.isascii()):
            raise HandlerMistake(f"the name of a local is an identifier, not {shown(name)}")
        self._staging.locals[name] = as_json(value, f"the local `{name}`")

    def __contains__(self, name: str) -> bool:
        return name in self._staging.locals or name in self._committed

    def __iter__(self) -> Iterator[str]:
        return iter({**self._committed, **self._staging.locals})

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except UnknownName:
            return default
