"""`expect:` of a rehearsal: checked for shape and names here, compared at the end of the run."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.definition.model import Flow, Json, Path
from orchestrator.definition.reading import Reading, shown
from orchestrator.simulate.forms import ERROR, ERROR_TYPES, EXPECT, STATUSES, read_execution_id, read_keys
from orchestrator.simulate.script import ON_TIMEOUT, Expectation, PathMatch

Check = Callable[[Reading, Json, Path, Flow], None]


def read_expectations(reading: Reading, node: Json, path: Path, flow: Flow) -> tuple[Expectation, ...]:
    """In the order written. Without a status the run is expected to end as the other keys imply."""
    fields = read_keys(reading, node, path, EXPECT, "`expect`")
    if fields is None:
        return ()
    if "output" in fields:
        fields.exclude("output", ["outputs"])
    for key, value in fields.values.items():
        if key in _CHECKS:
            _CHECKS[key](reading, value, fields.at(key), flow)
    found = tuple(Expectation(key, value, fields.at(key)) for key, value in fields.values.items())
    return found if "status" in fields else (implied_status(fields.values, path), *found)


def implied_status(expected: dict[str, Json], path: Path) -> Expectation:
    if expected.get("active"):
        status = "RUNNING"
    elif expected.get("error"):
        status = "FAILED"
    else:
        status = "COMPLETED"
    return Expectation("status", status, path)


def _check_status(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    reading.read_word(node, path, "`status`", STATUSES)


def _check_outputs(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    if isinstance(node, dict):
        for key in node:
            _check_execution(reading, key, (*path, key), flow)
    else:
        reading.read_list(node, path, "`outputs`", allows_empty=True)


def _check_error(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    if node is None:
        return
    fields = read_keys(reading, node, path, ERROR, "`error`")
    if fields is not None and "type" in fields:
        reading.read_word(fields["type"], fields.at("type"), "the type of the error", ERROR_TYPES)
    if fields is not None:
        fields.text("message")


def _check_path(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    if isinstance(node, dict):
        keys = [PathMatch.STARTS_WITH.value, PathMatch.CONTAINS.value]
        fields = read_keys(reading, node, path, keys, "`path`")
        for key, value in fields.values.items() if fields is not None else ():
            _check_executions(reading, value, (*path, key), flow)
    else:
        _check_executions(reading, node, path, flow)


def _check_executions(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    for index, item in enumerate(reading.read_list(node, path, "this", allows_empty=True) or []):
        _check_execution(reading, item, (*path, index), flow)


def _check_execution(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    if node != ON_TIMEOUT or flow.on_timeout is None:
        read_execution_id(reading, node, path, flow.steps)


def _check_counts(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    for name, value, at in reading.read_named(node, path, "`counts`"):
        if name != ON_TIMEOUT or flow.on_timeout is None:
            reading.read_reference(name, at, "step", is_key=True)
        reading.read_integer(value, at, "a count")


def _check_attributes(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    for name, value, at in reading.read_named(node, path, "`attributes`"):
        attribute = reading.read_reference(name, at, "attribute", is_key=True)
        if attribute is None or not flow.attributes[attribute].is_map:
            continue
        if value is not None and not isinstance(value, dict):
            reading.report("SCH003", at, f"attribute `{name}` is a map of entries, not {shown(value)}")


def _check_messages(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    for name, value, at in reading.read_named(node, path, "`messages`"):
        channel = reading.read_reference(name, at, "channel", is_key=True)
        if channel is None:
            continue
        if not flow.channels[channel].is_map:
            reading.read_list(value, at, f"the unread messages of `{channel}`", allows_empty=True)
            continue
        for key, queue, key_at in reading.read_named(value, at, f"the unread messages of `{channel}`"):
            reading.read_list(queue, key_at, f"the unread messages of `{channel}[{key}]`", allows_empty=True)


def _check_took(reading: Reading, node: Json, path: Path, flow: Flow) -> None:
    reading.read_duration(node, path, "`took`")


_CHECKS: dict[str, Check] = {
    "status": _check_status,
    "outputs": _check_outputs,
    "error": _check_error,
    "path": _check_path,
    "counts": _check_counts,
    "attributes": _check_attributes,
    "messages": _check_messages,
    "active": _check_executions,
    "took": _check_took,
}
