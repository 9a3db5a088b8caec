"""Results as text, JSON, JSON lines or YAML."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from orchestrator.cli.options import Format
from orchestrator.cli.terminal import can_write, say, say_data, say_file


def emit(result: Any, output: Format, as_text: Callable[[Any], str]) -> None:
    """Print one result. As `jsonl` a list is one object a line."""
    if output is Format.TEXT:
        text = as_text(result)
        if text:
            say(text)
    elif output is Format.JSON:
        say_data(json.dumps(result, ensure_ascii=False, indent=2))
    elif output is Format.JSONL:
        for entry in result if isinstance(result, list) else [result]:
            say_data(json.dumps(entry, ensure_ascii=False))
    else:
        text = to_yaml(result)
        say_file(f"{text if can_write(text, sys.stdout) else to_yaml(result, is_ascii=True)}\n")


def to_yaml(result: Any, *, is_ascii: bool = False) -> str:
    import yaml

    return str(yaml.safe_dump(result, sort_keys=False, allow_unicode=not is_ascii, width=100)).rstrip("\n")


def compact(value: Any, limit: int = 60) -> str:
    """One line of JSON, cut at `limit` characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def emit_run(run: dict[str, Any], output: Format) -> None:
    from orchestrator.cli.session import now
    from orchestrator.cli.views import run_as_text

    emit(run, output, lambda described: run_as_text(described, now()))


def exit_code_of(run: dict[str, Any]) -> int:
    """0 COMPLETED, 1 closed otherwise."""
    return 0 if run["status"] == "COMPLETED" else 1
