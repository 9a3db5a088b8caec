"""What an expression sees (language.md 6.1): names, computed when read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from orchestrator.core.draft import Draft
from orchestrator.core.state import Child, ConditionResult, Execution, PendingCondition, Wait
from orchestrator.core.tasks import step_of
from orchestrator.definition.model import (
    Condition,
    JoinCondition,
    Json,
    SubflowCondition,
    TimerCondition,
    WaitFor,
)


class Frame(Mapping[str, Any]):
    """The scope of the expressions of one decision, wait or RPC, on the run as the draft has it now."""

    __slots__ = ("_draft", "_execution", "_names")

    def __init__(self, draft: Draft, execution: Execution, names: dict[str, Any] | None = None) -> None:
        """`names`: becomes its own."""
        self._draft = draft
        self._execution = execution
        self._names: dict[str, Any] = {} if names is None else names

    def with_name(self, name: str, value: Json) -> Frame:
        """The same scope with one name more, such as the `as` name of a `for_each`."""
        return Frame(self._draft, self._execution, {**self._names, name: value})

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            self._names[name] = _NAMES[name](self._draft, self._execution)
        return self._names[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**_NAMES, **self._names})

    def __len__(self) -> int:
        return len({**_NAMES, **self._names})


class AttributesView(Mapping[str, Json]):
    """Every declared attribute; unset ones are null, a map is the mapping of its set entries."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def __getitem__(self, name: str) -> Json:
        if self._draft.flow.attributes[name].is_map:
            return dict(self._draft.map_entries(name))  # a value must not change with the run
        return self._draft.attribute(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._draft.flow.attributes)

    def __len__(self) -> int:
        return len(self._draft.flow.attributes)


class ChannelsView(Mapping[str, Json]):
    """`channels.<name>.size`."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def __getitem__(self, name: str) -> Json:
        return {"size": self._draft.channel_size(name)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._draft.flow.channels)

    def __len__(self) -> int:
        return len(self._draft.flow.channels)


def wait_results(wait_for: WaitFor | None, wait: Wait | None) -> dict[str, Json]:
    """`wait` of expressions and handlers: a result for every declared condition (language.md 4)."""
    if wait_for is None:
        return {}
    by_id: dict[str, list[tuple[PendingCondition, ConditionResult]]] = {}
    if wait is not None:
        results = wait.results or [_NO_RESULT] * len(wait.conditions)
        for pending, result in zip(wait.conditions, results, strict=True):
            by_id.setdefault(pending.id, []).append((pending, result))
    return {
        declared.id: _declared_result(declared, by_id.get(declared.id, ()))
        for declared in wait_for.conditions
    }


_NO_RESULT = ConditionResult()


def _declared_result(
    declared: Condition, results: Sequence[tuple[PendingCondition, ConditionResult]]
) -> Json:
    if declared.for_each is not None:
        return [_element_result(declared, pending, result) for pending, result in results]
    if not results:
        return _result(declared, _NO_RESULT, None)
    return _result(declared, results[0][1], results[0][0].child)


def _element_result(declared: Condition, pending: PendingCondition, result: ConditionResult) -> Json:
    value = _result(declared, result, pending.child)
    value["item"] = pending.item
    if pending.key is not None:
        value["key"] = pending.key
    return value


def _result(declared: Condition, result: ConditionResult, child: Child | None) -> dict[str, Json]:
    value: dict[str, Json] = {"satisfied": result.is_satisfied}
    if isinstance(declared, SubflowCondition):
        return value | _child_result(child)
    if isinstance(declared, TimerCondition):
        value["fired"] = result.has_fired
    else:
        values = [m.value for m in result.messages] + [r.value for r in result.reports]
        value["messages"] = values
        if len(values) <= 1:  # reading `message` of several is an error
            value["message"] = values[0] if values else None
    if isinstance(declared, JoinCondition):
        value["by_branch"] = _by_branch(result)
    return value


def _child_result(child: Child | None) -> dict[str, Json]:
    """Rules 175, 81; reading `output` of several is an error."""
    if child is None:
        return {"status": None, "outputs": [], "output": None, "error": None, "flow_id": None}
    outputs = list(child.outputs)
    value: dict[str, Json] = {"status": child.status, "outputs": outputs}
    if len(outputs) <= 1:
        value["output"] = outputs[0] if outputs else None
    return value | {"error": child.error, "flow_id": child.flow_id}


def _by_branch(result: ConditionResult) -> list[Json]:
    """The oldest report of each branch, null where none came."""
    oldest: dict[int, Json] = {}
    for report in result.reports:
        oldest.setdefault(report.branch, report.value)
    return [oldest.get(branch) for branch in range(result.branch_count)]


def _wait(draft: Draft, execution: Execution) -> Json:
    return wait_results(step_of(draft.flow, execution).wait_for, execution.wait)


def _failure(_: Draft, execution: Execution) -> Json:
    return None if execution.failure is None else msgspec.to_builtins(execution.failure)


def _run(draft: Draft, _: Execution) -> Json:
    run = draft.run
    return {
        "flow_id": run.flow_id,
        "run_id": run.run_id,
        "attempt": run.attempt,
        "started_at": run.started_at,
        "input": run.input,
    }


def _step(_: Draft, execution: Execution) -> Json:
    return {"name": execution.step, "execution_id": execution.id, "attempt": execution.attempt}


_NAMES: dict[str, Callable[[Draft, Execution], Any]] = {
    "input": lambda draft, execution: execution.input,
    "attributes": lambda draft, execution: AttributesView(draft),
    "channels": lambda draft, execution: ChannelsView(draft),
    "local": lambda draft, execution: execution.locals,
    "wait": _wait,
    "failure": _failure,
    "wait_for_failed": lambda draft, execution: execution.has_wait_for_failed,
    "run": _run,
    "step": _step,
    "now": lambda draft, execution: draft.at,
}
