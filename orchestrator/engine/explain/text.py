"""An explanation as text, from its JSON form: the verdict first, then each execution, then what helps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from orchestrator.engine.explain.outlook import TITLES, Verdict
from orchestrator.engine.explain.words import names

Paint = Callable[..., str]
"""`paint(text, *styles)`; styles as the terminal names them."""

_COLOURS = {
    Verdict.PROGRESSING: "green",
    Verdict.TIMER: "blue",
    Verdict.SUBFLOW: "blue",
    Verdict.OUTSIDE: "yellow",
    Verdict.STUCK: "red",
    Verdict.CLOSED: "dim",
}
_COMMAND_WITH_ID = re.compile(r"((?:skip-timer|retry-now) \S+) (\S+)")
_ACTORS = {"client": "{}", "rpc": "RPC {}", "step": "step {}", "timeout_handler": "{}"}


def plain(text: str, *styles: str) -> str:
    return text


def explanation_as_text(explanation: Mapping[str, Any], paint: Paint = plain) -> str:
    return "\n".join(_Text(explanation, paint).lines())


class _Text:
    def __init__(self, explanation: Mapping[str, Any], paint: Paint) -> None:
        self._explanation = explanation
        self._paint = paint

    def lines(self) -> Iterator[str]:
        explained = self._explanation
        verdict = Verdict(explained["verdict"])
        yield f"{self._paint(explained['flow_id'], 'bold')}  {explained['flow']}  {explained['status']}"
        title = self._paint(f"{TITLES[verdict]}:", _COLOURS[verdict], "bold")
        yield f"{title} {explained['summary']}"
        for members in self._alike():
            yield ""
            yield from self._execution(members)
        due = explained["next_due"]
        if due is not None:
            yield ""
            yield f"{self._paint('next', 'bold')}  {due['text']}"
        if explained["help"]:
            yield ""
            yield self._paint("what may be done", "bold")
            yield from self._advice(explained["help"], "  ")

    def _alike(self) -> list[list[Mapping[str, Any]]]:
        """Executions that would read the same, but for their ids, are shown once."""
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for execution in self._explanation["active"]:
            own_id = execution["step_execution_id"]
            lines = (_without_id(line, own_id) for line in self._body(execution))
            text = "\n".join([execution["step"], execution["text"], *lines])
            groups.setdefault(text, []).append(execution)
        return list(groups.values())

    def _execution(self, members: list[Mapping[str, Any]]) -> Iterator[str]:
        first = members[0]
        ids = names([each["step_execution_id"] for each in members])
        stuck = f"{self._paint('cannot move', 'red')}, " if first["can_move"] == "never" else ""
        yield f"{self._paint(ids, 'bold')}  {stuck}{first['text']}"
        yield from self._body(first)

    def _body(self, execution: Mapping[str, Any]) -> Iterator[str]:
        failure = execution["last_failure"]
        if failure is not None:
            maximum = failure["maximum_attempts"]
            attempt = f"attempt {failure['attempt']}" + (f" of {maximum}" if maximum else "")
            message = " ".join(str(failure["message"]).split())
            yield f"  {attempt} failed: {failure['type']}: {message}"
        for lock in execution["locks"]:
            holder = f"held by {lock['holder']}" if lock["holder"] else "free"
            yield f"  lock {lock['lock']}: {holder}"
        if execution["wait"] is not None:
            yield from self._wait(execution["wait"])
        if execution["ended_by"]:
            yield f"  may be cancelled by {names(execution['ended_by'], 'or')}"
        yield from self._advice(execution["help"], "  ")

    def _wait(self, wait: Mapping[str, Any]) -> Iterator[str]:
        conditions = wait["conditions"]
        if len(wait["groups"]) > 1 and any(len(group) > 1 for group in wait["groups"]):
            combinations = (" and ".join(conditions[i]["id"] for i in group) for group in wait["groups"])
            yield f"  {'; or '.join(combinations)}"
        width = max(len(condition["id"]) for condition in conditions)
        for condition in conditions:
            holds = f", {self._paint('holds', 'green')}" if condition.get("holds") else ""
            yield f"  {condition['id']:{width}}  {condition['text']}{holds}"
            if condition.get("why"):
                yield f"    {self._paint(condition['why'], 'red' if condition['can'] == 'never' else 'dim')}"
            yield from self._senders(condition["senders"])
            yield from self._advice(condition.get("help", ()), "    ")

    def _senders(self, senders: list[Mapping[str, Any]]) -> Iterator[str]:
        shown = [_ACTORS[sender["kind"]].format(sender["name"]) for sender in senders]
        width = max((len(name) for name in shown), default=0)
        for name, sender in zip(shown, senders, strict=True):
            can = self._paint("cannot", "red") if sender["can"] == "never" else self._paint("can", "green")
            line = f"    {name:{width}}  {can}: "
            if sender["command"] is not None:
                yield line + self._paint(sender["command"], "cyan")
                continue
            at = f"  ({sender['at']})" if sender["at"] is not None else ""
            yield line + sender["because"] + self._paint(at, "dim")

    def _advice(self, advice: Any, indent: str) -> Iterator[str]:
        for each in advice:
            line = f": {self._paint(each['command'], 'cyan')}" if each["command"] else ""
            yield f"{indent}{each['text']}{line}"


def _without_id(line: str, execution_id: str) -> str:
    """A command for this execution, as it would be for any."""
    return _COMMAND_WITH_ID.sub(lambda found: found[1] if found[2] == execution_id else found[0], line)
