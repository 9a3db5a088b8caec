"""Keys of rehearsal files, and reading a mapping that has them."""

from __future__ import annotations

from collections.abc import Collection

from orchestrator.definition.model import Json, Path
from orchestrator.definition.nearness import did_you_mean
from orchestrator.definition.reading import Fields, Reading, shown

FILE = ("$schema", "flow", "description", "rehearsals")
REHEARSAL = (
    "name",
    "description",
    "input",
    "attributes",
    "flow_id",
    "timeout",
    "delay",
    "starts_at",
    "handlers",
    "subflows",
    "events",
    "until",
    "expect",
)
EFFECTS = ("publish", "set", "cancel")
RAISING = ("message", "retry_after", "non_retryable")
WAITS = ("until", "any_of", "all_of", "any_combination_of", "skip")
REPLY = ("takes", "real", "raises", *RAISING, *EFFECTS)
EXECUTE_REPLY = (*REPLY, "returns", "choose")
WAIT_FOR_REPLY = (*REPLY, *WAITS, "local")
CHILD = ("status", "output", "outputs", "error", "takes")
TRIGGERS = ("at", "after", "after_wait")
ACTS = ("publish", "rpc", "stop", "skip_timer", "skip_deadline", "retry_now")
EVENT = (*TRIGGERS, *ACTS, "input", "request_id", "execution", "reason", "flow_id", "expect", "description")
ANSWER = ("output", "error", "message")
EXPECT = (
    "status",
    "output",
    "outputs",
    "error",
    "path",
    "counts",
    "attributes",
    "messages",
    "active",
    "took",
)
ERROR = ("type", "message", "step_execution_id")
STATUSES = ("RUNNING", "COMPLETED", "FAILED", "CANCELED", "TERMINATED")
ERROR_TYPES = ("force_fail", "step_failed", "timeout", "stopped", "definition", "internal")


def read_keys(reading: Reading, node: Json, path: Path, keys: Collection[str], what: str) -> Fields | None:
    """A mapping with some of `keys`; unknown ones are reported and dropped, `x-…` are the author's own."""
    if not isinstance(node, dict):
        help = "with keys such as " + ", ".join(f"`{key}`" for key in list(keys)[:4])
        reading.report("SCH003", path, f"{what} is a mapping, not {shown(node)}", help=help)
        return None
    fields = Fields(reading, path, what)
    for key, value in node.items():
        if key in keys:
            fields.values[key] = value
        elif not key.startswith("x-"):
            fields.has_unknown = True
            help = did_you_mean(key, keys) or "known here: " + ", ".join(f"`{known}`" for known in keys)
            message = f"unknown key `{key}` in {what}"
            reading.report("SCH001", (*path, key), message, help=help, is_about_key=True)
    return fields


def read_execution_id(reading: Reading, node: Json, path: Path, steps: Collection[str]) -> str | None:
    """`Charge-2`: a declared step and a number."""
    if not isinstance(node, str):
        reading.report("SCH003", path, f"a step execution is named like `Charge-1`, not {shown(node)}")
        return None
    step, _, number = node.rpartition("-")
    if step in steps and number.isdigit() and int(number) > 0:
        return node
    if node in steps:
        help = f"write `{node}-1` for its first execution"
        reading.report("SCH012", path, f"`{node}` is a step, not one of its executions", help=help)
    elif not step or not number.isdigit() or int(number) == 0:
        near = did_you_mean(node, [f"{name}-1" for name in steps])
        reading.report("SCH012", path, f"a step execution is named like `Charge-1`, not `{node}`", help=near)
    else:
        reading.report("REF001", path, f"no step `{step}` is declared", help=did_you_mean(step, steps))
    return None
