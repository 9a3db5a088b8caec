"""Expectations of a rehearsal against the run at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from orchestrator.core.state import TIMEOUT_STEP, Run
from orchestrator.definition.durations import format_duration, parse_duration
from orchestrator.definition.model import Flow, Json, Path
from orchestrator.simulate.compare import Difference, compare, one_line, unmatched
from orchestrator.simulate.record import SimulatedRun, step_of_id
from orchestrator.simulate.script import Expectation, PathMatch

Check = Callable[[SimulatedRun, Json, Path], Iterator["Difference | None"]]


def differences(simulated: SimulatedRun, expectations: tuple[Expectation, ...]) -> list[Difference]:
    """In the order of the expectations."""
    return [
        difference
        for expectation in expectations
        for difference in _CHECKS[expectation.key](simulated, expectation.value, expectation.path)
        if difference is not None
    ]


def _status(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    yield compare("status", expected, simulated.run.status.value, path)


def _output(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    outputs = _outputs_of(simulated)
    if len(outputs) == 1:
        yield compare("output", expected, outputs[0], path)
    else:
        count = "no output" if not outputs else f"{len(outputs)} outputs"
        yield Difference(
            "output", path, f"output: expected exactly one, there is {count}", [expected], outputs
        )


def _outputs(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    if isinstance(expected, dict):
        run = simulated.run
        actual = {output.step_execution_id: output.output for output in run.outputs}
        yield compare("outputs", expected, actual if run.status == "COMPLETED" else {}, path)
        return
    actual_list = _outputs_of(simulated)
    missing, extra = unmatched(expected, actual_list)
    if missing or extra:
        at: Path = (*path, missing[0]) if missing else path
        parts = [f"{one_line(expected[index])} did not come" for index in missing]
        parts += [f"{one_line(value)} came" for value in extra]
        yield Difference("outputs", at, f"outputs: {'; '.join(parts)}", expected, actual_list)


def _outputs_of(simulated: SimulatedRun) -> list[Json]:
    """Rule 127: only a completed run has outputs."""
    run = simulated.run
    return [output.output for output in run.outputs] if run.status == "COMPLETED" else []


def _error(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    error = simulated.run.error
    if expected is None:
        if error is not None:
            message = f"error: expected none, it is {error.type}: {error.message}"
            yield Difference("error", path, message, None, {"type": error.type, "message": error.message})
        return
    if error is None:
        yield Difference("error", path, "error: expected one, there is none", expected, None)
        return
    for key in ("type", "step_execution_id"):
        if key in expected:
            yield compare(f"error.{key}", expected[key], getattr(error, key), (*path, key))
    wanted = expected.get("message")
    if wanted is not None and wanted not in error.message:
        message = f"error.message: {one_line(wanted)} is not in: {error.message}"
        yield Difference("error.message", (*path, "message"), message, wanted, error.message)


def _path(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    actual: list[Json] = list(simulated.completed())
    if isinstance(expected, list):
        yield compare("path", expected, actual, path)
        return
    begin = expected.get(PathMatch.STARTS_WITH)
    if begin is not None:
        yield compare("path", begin, actual[: len(begin)], (*path, PathMatch.STARTS_WITH.value))
    for index, wanted in enumerate(expected.get(PathMatch.CONTAINS, ())):
        if wanted not in actual:
            at = (*path, PathMatch.CONTAINS.value, index)
            yield Difference("path", at, f"path: {wanted} was not executed", wanted, actual)


def _counts(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    counts = Counter(step_of_id(execution_id) for execution_id in simulated.completed())
    for step, count in expected.items():
        yield compare(f"counts.{step}", count, counts[step], (*path, step))


def _attributes(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    for name, value in expected.items():
        actual = attribute_of(simulated.flow, simulated.run, name)
        wanted = value or {} if simulated.flow.attributes[name].is_map else value
        yield compare(f"attributes.{name}", wanted, actual, (*path, name))


def attribute_of(flow: Flow, run: Run, name: str) -> Json:
    if flow.attributes[name].is_map:
        return dict(run.attribute_maps.get(name, {}))
    return run.attributes.get(name)


def _messages(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    for channel, value in expected.items():
        if not simulated.flow.channels[channel].is_map:
            actual: Json = unread_of(simulated.run, channel, None)
        else:
            keys = {key for of, key in simulated.run.queues if of == channel} | set(value)
            queues = {key: unread_of(simulated.run, channel, key) for key in sorted(map(str, keys))}
            actual = {key: queue for key, queue in queues.items() if queue or key in value}
        yield compare(f"messages.{channel}", value, actual, (*path, channel))


def unread_of(run: Run, channel: str, key: str | None) -> list[Json]:
    return [message.value for message in run.queues.get((channel, key), ())]


def _active(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    executions = simulated.run.executions.values()
    actual: list[Json] = sorted(each.id for each in executions if each.step != TIMEOUT_STEP)
    if sorted(expected) != actual:
        yield Difference(
            "active",
            path,
            f"active: expected {one_line(expected)}, it is {one_line(actual)}",
            sorted(expected),
            actual,
        )


def _took(simulated: SimulatedRun, expected: Json, path: Path) -> Iterator[Difference | None]:
    run = simulated.run
    if run.closed_at is None or run.started_at is None:
        yield Difference("took", path, "took: the run is not closed", expected, None, has_values=False)
        return
    actual = run.closed_at - run.started_at
    if actual != parse_duration(expected):
        text = format_duration(actual)
        yield Difference("took", path, f"took: expected {expected}, it is {text}", expected, text)


_CHECKS: dict[str, Check] = {
    "status": _status,
    "output": _output,
    "outputs": _outputs,
    "error": _error,
    "path": _path,
    "counts": _counts,
    "attributes": _attributes,
    "messages": _messages,
    "active": _active,
    "took": _took,
}
