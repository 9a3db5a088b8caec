"""Commands and options as other tools call them, and what they are called here."""

from __future__ import annotations

import re

import typer

_CALLED = {
    **dict.fromkeys(("build", "compile", "test-flow", "validate"), "check"),
    **dict.fromkeys(("format", "fmt", "fix"), "lint --fix"),
    **dict.fromkeys(("prove", "model-check"), "verify"),
    **dict.fromkeys(("diagram", "draw", "dot", "plot", "svg"), "render"),
    **dict.fromkeys(("replay", "simulate", "test"), "rehearse"),
    **dict.fromkeys(("create", "new", "scaffold"), "init"),
    **dict.fromkeys(("exec", "execute"), "run"),
    **dict.fromkeys(("submit", "trigger"), "start"),
    **dict.fromkeys(("dev", "serve", "server", "work"), "worker"),
    **dict.fromkeys(("emit", "notify", "send", "signal"), "publish"),
    **dict.fromkeys(("call", "invoke", "query", "update"), "rpc"),
    **dict.fromkeys(("get", "info", "inspect", "status"), "describe"),
    **dict.fromkeys(("debug", "diagnose", "why"), "explain"),
    **dict.fromkeys(("events", "log", "logs", "trace"), "history"),
    **dict.fromkeys(("instances", "ls", "ps", "runs"), "list"),
    **dict.fromkeys(("follow", "tail"), "watch"),
    **dict.fromkeys(("abort", "cancel", "kill", "terminate"), "stop"),
    **dict.fromkeys(("retry", "rerun"), "retry-now"),
    **dict.fromkeys(("reset", "rewind", "restart"), "time-travel"),
    **dict.fromkeys(("continue", "unpause"), "resume"),
    **dict.fromkeys(("upgrade",), "db upgrade"),
    **dict.fromkeys(("clean", "delete", "gc", "prune", "purge", "remove"), "db prune"),
    **dict.fromkeys(("backup", "dump", "export"), "db export"),
    **dict.fromkeys(("import", "load", "restore"), "db import"),
}
_CALLED_IN = {
    "db": {
        **dict.fromkeys(("create", "init", "install", "migrate", "setup"), "db upgrade"),
        **dict.fromkeys(("clean", "delete", "gc", "purge"), "db prune"),
        **dict.fromkeys(("backup", "dump"), "db export"),
        **dict.fromkeys(("load", "restore"), "db import"),
        **dict.fromkeys(("check", "info", "size"), "db status"),
    },
    "queues": {**dict.fromkeys(("add", "create", "new", "update"), "queues set"), "ls": "queues list"},
    "attributes": {"list": "describe", "show": "describe", "update": "attributes set"},
}
_IDS = dict.fromkeys(("--flow-id", "--name", "--run-id", "--workflow-id"), "`--id`")
_INPUTS = dict.fromkeys(("--args", "--data", "--param", "--params", "--payload"), "`--input`")
_VALUES = dict.fromkeys(
    ("--data", "--input", "--message", "--payload", "--value"), "an argument: CHANNEL VALUE"
)
_OPTIONS = {
    "run": {**_IDS, **_INPUTS, "--attr": "`--attribute`"},
    "start": {**_IDS, **_INPUTS, "--attr": "`--attribute`"},
    "list": {
        **dict.fromkeys(("--filter", "--query", "-q"), "`--where`"),
        "--status": "`--where 'status == \"FAILED\"'`",
        "--state": "`--where 'status == \"FAILED\"'`",
        "--flow": "`--where 'flow == \"…\"'`",
        **dict.fromkeys(("--count", "--max", "-n"), "`--limit`"),
    },
    "worker": {
        **dict.fromkeys(("--parallel", "--threads", "--workers", "-c"), "`--concurrency`"),
        **dict.fromkeys(("--queue", "--task-queue", "-q"), "`--queues`"),
        **dict.fromkeys(("--once", "--drain"), "`--until-idle`"),
    },
    "publish": _VALUES,
}
_UNKNOWN_COMMAND = re.compile(r"No such command '([^']*)'")


def named_here(error: typer.TyperException) -> str | None:
    """What was not understood, with its name here; None where nothing is known of it."""
    context = getattr(error, "ctx", None)
    within = context.info_name if context is not None else ""
    if option := getattr(error, "option_name", None):
        called = _OPTIONS.get(within, {}).get(option)
        return f"No such option: {option}; here it is {called}" if called else None
    unknown = _UNKNOWN_COMMAND.match(error.format_message())
    called = _CALLED_IN.get(within, _CALLED).get(unknown[1]) if unknown else None
    return (
        f"No such command '{unknown[1]}'; here it is `orchestrator {called}`" if unknown and called else None
    )
