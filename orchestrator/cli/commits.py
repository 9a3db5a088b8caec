"""The commits of a run as text: what each event changed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from shutil import get_terminal_size
from typing import Any

from orchestrator.cli.layout import columns, cut, width_of
from orchestrator.cli.output import compact
from orchestrator.cli.spans import format_until, parse_moment
from orchestrator.cli.terminal import bare, is_terminal
from orchestrator.cli.views import dim
from orchestrator.definition.durations import span_words

Change = Mapping[str, Any]
MIN_DETAIL_WIDTH = 30
INDENT = " " * 6


def history_as_text(commits: Sequence[Mapping[str, Any]]) -> str:
    """`history`: one line a commit, times counted from the first."""
    if not commits:
        return ""
    first = parse_moment(commits[0]["at"])
    rows = []
    for commit in commits:
        at = parse_moment(commit["at"])
        offset = f"+{span_words(at - first)}" if at and first else ""
        rows.append(
            [
                str(commit["version"]).rjust(4),
                offset.rjust(8),
                commit.get("step_execution_id") or "",
                event_text(commit["event"]),
                commit_text(commit),
            ]
        )
    return "\n".join(_line(row) for row in columns(rows))


def _line(row: list[str]) -> str:
    """On a terminal a commit is one line, whatever it changed; two where that leaves no room to tell it."""
    *stem, details = map(bare, row)
    start = "".join(stem)
    if is_terminal(sys.stdout):
        width = get_terminal_size().columns
        room = width - width_of(start)
        if room < MIN_DETAIL_WIDTH and width_of(details) > room:
            below = cut(details, max(width - len(INDENT), MIN_DETAIL_WIDTH))
            return f"{start.rstrip()}\n{INDENT}{dim(below)}"
        details = cut(details, room)
    return f"{start}{dim(details)}".rstrip()


def event_text(event: str) -> str:
    """`WaitForSucceeded` → `wait for succeeded`."""
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in event)
    return spaced.replace("_", " ").strip()


def commit_text(commit: Mapping[str, Any]) -> str:
    """What changed, what matters most first; equal changes together: `→ EnterContractEdit ×5`."""
    own = f"{commit.get('step_execution_id')} "
    sentences = []
    for kind, (verb, describe) in DESCRIBED.items():
        told: dict[str, int] = {}
        for change in commit.get("changes", []):
            text = describe(change, commit).removeprefix(own) if change["change"] == kind else ""
            if text:
                told[text] = told.get(text, 0) + 1
        if told:
            texts = [text if count == 1 else f"{text} ×{count}" for text, count in told.items()]
            sentences.append(f"{verb} {', '.join(texts)}".lstrip())
    return "; ".join(sentences)


def _wait(change: Change, commit: Change) -> str:
    moment = parse_moment(commit["at"])
    parts = []
    for condition in change.get("conditions", []):
        fires_at = parse_moment(condition.get("fires_at"))
        if fires_at is not None and moment is not None:
            parts.append(f"{condition['id']} {format_until(fires_at, moment)}")
        else:
            parts.append(str(condition.get("channel") or condition["id"]))
    joint = " or " if change.get("combinator") == "any_of" else " and "
    return f"{change['execution_id']} waits for {joint.join(parts)}" if parts else ""


def _satisfied(change: Change, commit: Change) -> str:
    count = sum(len(seqs) for _, seqs in change.get("taken", []))
    taken = f", takes {count} message{'s' if count != 1 else ''}" if count else ""
    return f"{change['execution_id']} goes on{taken}"


def _failed(change: Change, commit: Change) -> str:
    due, at = parse_moment(change["due_at"]), parse_moment(commit["at"])
    again = f", again {format_until(due, at)}" if due and at else ""
    return f"{_failure(change['failure'])}{again}"


def _ended(change: Change, commit: Change) -> str:
    if change["how"] == "completed":
        return f"decision {change['decision']}" if change.get("decision", 1) > 1 else ""
    why = f": {_failure(change['failure'])}" if change.get("failure") else ""
    return f"{change['execution_id']} {change['how']}{why}"


def _failure(failure: Mapping[str, Any]) -> str:
    return f"{failure['type']}: {cut(str(failure['message']), 80)}"


def _place(change: Change, name: str) -> str:
    key = change.get("key")
    return f"{change[name]}[{key}]" if key is not None else str(change[name])


DESCRIBED: dict[str, tuple[str, Callable[[Change, Change], str]]] = {
    "run_restored": ("", lambda change, _: f"back to what it was after commit {change['forked_at']}"),
    "definition_changed": ("goes on under", lambda change, _: str(change["new"])[:19]),
    "run_closed": ("", lambda change, _: str(change["status"])),
    "step_ended": ("", _ended),
    "attempt_failed": ("", _failed),
    "wait_skipped": ("goes on without its wait:", lambda change, _: _failure(change["failure"])),
    "step_queued": ("→", lambda change, _: str(change["execution"]["step"])),
    "wait_accepted": ("", _wait),
    "timers_fired": ("timer fires:", lambda change, _: str(change["execution_id"])),
    "wait_satisfied": ("", _satisfied),
    "message_queued": ("publishes to", lambda change, _: _place(change, "channel")),
    "attribute_set": (
        "sets",
        lambda change, _: f"{_place(change, 'name')} = {compact(change.get('value'), 40)}",
    ),
    "attribute_deleted": ("deletes", lambda change, _: _place(change, "name")),
    "reported": ("reports to", lambda change, _: str(change["round"])),
    "messages_returned": ("gives messages back to", lambda change, _: _place(change, "channel")),
    "messages_dropped": ("drops messages of", lambda change, _: _place(change, "channel")),
    "event_recorded": ("records", lambda change, _: str(change["record"]["name"])),
    "completion_requested": ("", lambda change, _: "asks for completion"),
}
"""By kind of change, what matters most first; what is not listed is not worth a word in a line."""
