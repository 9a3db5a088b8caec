"""Errors for people and, with `-o json`, for machines; and their exit codes."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from orchestrator.cli.terminal import bare, bare_all, can_write, note, paint, painter
from orchestrator.errors import Blocked, DefinitionInvalid, OrchestratorError

INTERNAL = 70
INTERRUPTED = 130
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO)


def is_json_asked(arguments: Sequence[str]) -> bool:
    """Does the command line ask for JSON? Read from the words, as it may not even parse."""
    for word, following in zip(arguments, [*arguments[1:], ""], strict=False):
        if word == "--":
            return False
        name, _, value = word.partition("=")
        if word in {"-o", "-f", "--output", "--format"}:
            value = following
        elif word.startswith(("-o", "-f")):
            value = word[2:]
        elif name not in {"--output", "--format"}:
            continue
        if value.lower() in {"json", "jsonl"}:
            return True
    return False


def report(error: BaseException, is_json: bool) -> int:
    """Say what went wrong on stderr; the exit code."""
    if isinstance(error, OrchestratorError):
        _show(error.type, _text_of(error, is_json), _data_of(error), is_json)
        return error.exit_code
    if type(error).__name__ == "NoArgsIsHelpError":  # typer keeps it to itself; its text is the help
        note(str(error).rstrip())
        return 2
    if isinstance(error, typer.TyperException):
        _show("usage", _usage_text(error), {}, is_json)
        return 2
    if isinstance(error, OSError) and error.filename is not None:
        _show("usage", f"{error.filename}: {error.strerror}", {}, is_json)
        return 2
    if isinstance(error, OSError) and error.errno in _UNWRITABLE:
        _show("output", f"the output cannot be written: {error.strerror}", {}, is_json)
        return 1
    _show("internal", _internal_text(error), {}, is_json)
    if os.environ.get("ORCHESTRATOR_DEBUG"):
        traceback.print_exception(error)
    return INTERNAL


def _show(kind: str, text: str, data: dict[str, Any], is_json: bool) -> None:
    if is_json:
        named = {"type": kind, "message": text}
        told = {"error": {**named, **data, **named}}
        text = json.dumps(told, ensure_ascii=False, default=str)
        note(text if can_write(text, sys.stderr) else json.dumps(told, default=str))
    else:
        note(f"{paint('error:', 'red', 'bold', stream=sys.stderr)} {text}")


def _data_of(error: OrchestratorError) -> dict[str, Any]:
    if isinstance(error, DefinitionInvalid):
        return {**error.data, "problems": [problem.concise() for problem in error.problems]}
    return error.data


def _text_of(error: OrchestratorError, is_json: bool) -> str:
    if isinstance(error, DefinitionInvalid) and error.problems:
        listed = "\n".join(_problem_text(problem) for problem in error.problems)
        sums_up = error.message.startswith(error.problems[0].concise())
        return listed.lstrip() if sums_up else f"{error.message}\n{listed}"
    if isinstance(error, Blocked) and "explanation" in error.data and not is_json:
        from orchestrator.engine.explain.text import explanation_as_text

        explanation = explanation_as_text(bare_all(error.data["explanation"]), painter(sys.stderr))
        return f"{bare(error.data['flow_id'])} stands still\n{explanation}"
    return error.message


def _problem_text(problem: Any) -> str:
    advice = f"\n    help: {problem.help}" if problem.help else ""
    return f"  {problem.concise()}{advice}"


def _usage_text(error: typer.TyperException) -> str:
    from orchestrator.cli.foreign_words import named_here

    context = getattr(error, "ctx", None)
    text = named_here(error) or error.format_message()
    return f"{text} (see: {context.command_path} --help)" if context is not None else text


def _internal_text(error: BaseException) -> str:
    where = ""
    package = Path(__file__).parents[1]
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(str(package)):
            where = f" (at {Path(frame.filename).relative_to(package.parent)}:{frame.lineno})"
    lines = str(error).splitlines()
    return (
        f"internal error: {type(error).__name__}: {lines[0] if lines else 'no message'}{where}; "
        "this is a bug of orchestrator, please report it (ORCHESTRATOR_DEBUG=1 shows more)"
    )
