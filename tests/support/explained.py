"""Explanations of runs played in tests, each checked against its schema."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

from orchestrator.engine.explain.explaining import explain_run
from orchestrator.engine.explain.explanation import Explanation, as_json
from orchestrator.engine.explain.text import explanation_as_text
from orchestrator.engine.explain.verdicts import find_verdict
from tests.support.play import Play

_SCHEMA = Path(__file__).parents[2] / "schemas" / "explain.schema.json"
_FITS = Draft7Validator(json.loads(_SCHEMA.read_text(encoding="utf-8")))


class Explained:
    """Why `play`'s run is where it is; `children`: explanations of other runs, by flow id."""

    def __init__(self, play: Play, leased: Iterable[str] = (), **known: Any) -> None:
        self.explanation: Explanation = explain_run(play.flow, play.run, leased, play.now, **known)
        self.json = as_json(self.explanation)
        assert [error.message for error in _FITS.iter_errors(self.json)] == []
        self.text = explanation_as_text(self.json)
        self.verdict: str = self.json["verdict"]
        self.summary: str = self.json["summary"]
        if not known:
            self._check_quick_verdict(play)

    def _check_quick_verdict(self, play: Play) -> None:
        """The one that `run` looks at first may take a retry for progress, nothing else."""
        quick = find_verdict(play.flow, play.run, play.now)
        moving = {"progressing", "waiting_for_timer"}
        assert quick == self.verdict or {str(quick), self.verdict} <= moving

    def execution(self, id: str) -> dict[str, Any]:
        found: dict[str, Any] = {each["step_execution_id"]: each for each in self.json["active"]}[id]
        return found

    def condition(self, id: str, condition: str) -> dict[str, Any]:
        conditions = self.execution(id)["wait"]["conditions"]
        found: dict[str, Any] = next(each for each in conditions if each["id"] == condition)
        return found

    def senders(self, id: str, condition: str) -> dict[str, tuple[str, str]]:
        """`can` and `because`, by name."""
        senders = self.condition(id, condition)["senders"]
        return {sender["name"]: (sender["can"], sender["because"]) for sender in senders}

    @property
    def commands(self) -> list[str]:
        """Of the advice for the whole run."""
        return [advice["command"] for advice in self.json["help"] if advice["command"]]


def explain(text: str, input: Any = None, **started: Any) -> Explained:
    """Of a flow that has done all it does without handlers."""
    return Explained(settled(text, input, **started))


def settled(text: str, input: Any = None, **started: Any) -> Play:
    play = Play(text, input, **started)
    play.settle()
    return play
