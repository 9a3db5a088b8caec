"""Counterexamples played with real data: found for the trace, written as rehearsals."""

from __future__ import annotations

import os
import re
from pathlib import Path

from orchestrator.binding.invoke import BoundHandler
from orchestrator.cli.rehearsal_text import write_rehearsal
from orchestrator.core.state import TIMEOUT_STEP
from orchestrator.definition.model import Flow
from orchestrator.errors import DefinitionInvalid, UsageError
from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.performance import rehearse
from orchestrator.simulate.rehearsal import SUFFIX, parse_rehearsals
from orchestrator.simulate.retelling import retell
from orchestrator.simulate.script import CallKey
from orchestrator.simulate.storyline import Beat, BeatKind, Given, Storyline
from orchestrator.simulate.takes import Take
from orchestrator.verify.problems import Replay
from orchestrator.verify.report import Counterexample, Event, EventKind, FlowReport, PropertyReport
from orchestrator.verify.wording import tell

_AT_REST = frozenset(["deadlock", "zombie"])
"""Properties whose violation is that nothing moves any more."""


def replay_all(report: FlowReport, directory: Path | None) -> dict[int, Replay]:
    """By position of the property. With a directory what could be played is written there."""
    replays = {}
    names: set[str] = set()
    for index, found in enumerate(report.properties):
        if found.counterexample is not None and found.counterexample.events:
            name = _free_name(f"{report.flow.name}.{found.name}", names)
            replays[index] = replay(report.flow, found, found.counterexample, directory, name)
    return replays


def _free_name(wanted: str, taken: set[str]) -> str:
    stem = name = re.sub(r"[^\w.-]+", "-", wanted)
    number = 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


def replay(
    flow: Flow, found: PropertyReport, counterexample: Counterexample, directory: Path | None, name: str
) -> Replay:
    """Raises UsageError for a directory that cannot be written to."""
    home = Path(flow.source.path).parent if flow.source is not None else Path()
    retelling = retell(flow, storyline(counterexample, found.name), FlowSource(flow, home))
    if retelling.take is None:
        return Replay(False, reason=retelling.reason)
    if flow.source is None or not Path(flow.source.path).is_file():
        return Replay(True)  # from standard input: nothing that a rehearsal could name
    path = _prepared(directory or home) / (name + SUFFIX)
    text = _script(flow, found, counterexample, retelling.take, path)
    reason = _trial(flow, text, path)
    if reason is not None:
        return Replay(False, reason=reason)
    if directory is None:
        return Replay(True)
    _write(path, text)
    return Replay(True, str(path))


def _script(flow: Flow, found: PropertyReport, counterexample: Counterexample, take: Take, path: Path) -> str:
    assert flow.source is not None
    steps = tell(flow, counterexample, found.name)
    width = max(len(step.thread) for step in steps)
    lines = [f"{number:>3} {step.thread.ljust(width)}  {step.text}" for number, step in enumerate(steps, 1)]
    return write_rehearsal(
        take,
        flow_path=os.path.relpath(flow.source.path, path.parent),
        name=f"{found.name} of {flow.name}",
        description=f"{found.rule}: {found.message}",
        comment=[
            f"What is wrong with {flow.name}, found by `orchestrator verify`: {found.rule} {found.name}.",
            *lines,
            "It passes as long as the flow does this. Mended, the flow goes another way: then drop the file.",
        ],
    )


class NoHandlers(BoundFlows):
    """Verifying never runs the handlers of a flow."""

    def handler(self, flow: Flow, key: CallKey) -> BoundHandler:
        raise DefinitionInvalid(f"{key.text} is called more often than the counterexample has it", ())


def _trial(flow: Flow, text: str, path: Path) -> str | None:
    """Why the file, once written, would not do as it says."""
    parsed = parse_rehearsals(text, path)
    if parsed.file is None:
        return parsed.problems[0].message
    if parsed.file.flow.hash != flow.hash:
        return "the flow's file has another content"
    performance = rehearse(parsed.file, parsed.file.rehearsals[0], bound=NoHandlers())
    return performance.differences[0].message if performance.differences else None


def _prepared(directory: Path) -> Path:
    """It is there: paths of flows lead out of it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {directory}: {error.strerror}") from None
    return directory


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


# --- As a story ---------------------------------------------------------------------------------------------


def storyline(counterexample: Counterexample, property: str) -> Storyline:
    return Storyline(
        beats=tuple(map(_beat, counterexample.events)),
        status=counterexample.status,
        active=tuple(each for each in counterexample.active if not each.startswith(TIMEOUT_STEP)),
        unread=dict(counterexample.channels),
        is_at_rest=property in _AT_REST and not counterexample.cycle,
        cycle=tuple(map(_beat, counterexample.cycle)),
    )


def _beat(event: Event) -> Beat:
    name = event.channel if event.kind is EventKind.PUBLISHED else event.step
    return Beat(
        kind=BeatKind(event.kind.value),
        name=name or "",
        execution_id=event.step_execution_id or "",
        decision=event.decision,
        otherwise_count=event.otherwise_count,
        conditions=event.conditions,
        starts=event.starts,
        given=tuple(Given(guess.what, guess.value) for guess in event.guesses),
    )
