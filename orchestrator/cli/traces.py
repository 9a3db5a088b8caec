"""Counterexamples drawn on the diagrams of their flows (`--trace-image`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from pathlib import Path

from orchestrator.cli.commands.render import BINARY, SUFFIXES, Picture, write
from orchestrator.cli.terminal import note, warn
from orchestrator.cli.verifying import Verification, Verified
from orchestrator.core.state import TIMEOUT_STEP
from orchestrator.definition.model import Flow
from orchestrator.definition.problem import Problem
from orchestrator.errors import UsageError
from orchestrator.render.content import ON_TIMEOUT, port_of
from orchestrator.render.image import render
from orchestrator.render.overlay import Mark, MarkState, RunOverlay, Trace, TraceMark
from orchestrator.verify.problems import trace_title
from orchestrator.verify.report import Counterexample, Event, EventKind, PropertyReport
from orchestrator.verify.wording import describe, shown_id, tell_stuck, thread_of

PICTURES = (Picture.SVG, *BINARY)


def draw_traces(verification: Verification, problems: Sequence[Problem], file: str) -> None:
    """One picture for each violation that is reported: `out.svg`, `out-2.svg`, …"""
    path = Path(file)
    wanted = SUFFIXES.get(path.suffix.lstrip(".").lower())
    if wanted not in PICTURES:
        raise UsageError(
            f"--trace-image: name a file that ends in {', '.join(f'.{each}' for each in PICTURES)}"
        )
    number = 0
    for verified in verification.verified:
        for index, problem in verified.problems.items():
            found = verified.report.properties[index]
            if found.counterexample is None or not any(_is_same(problem, each) for each in problems):
                continue
            number += 1
            target = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
            overlay = overlay_of(verified, found, found.counterexample)
            image = render(verified.report.flow, wanted.value, overlay=overlay, tell=warn)
            write(image, str(target), wanted)
    if not number:
        note("--trace-image: there is no counterexample to draw")


def _is_same(one: Problem, other: Problem) -> bool:
    """The severity may be another: settings weigh problems."""
    return (one.code, one.path, one.span, one.message) == (other.code, other.path, other.span, other.message)


def overlay_of(verified: Verified, found: PropertyReport, counterexample: Counterexample) -> RunOverlay:
    flow = verified.report.flow
    events = [*counterexample.events, *counterexample.cycle]
    title = f"{found.rule} {found.name}: {trace_title(verified.report, counterexample)}"
    marks = tuple(
        TraceMark(
            number,
            thread_of(event),
            " ".join(describe(flow, event).split()),
            *_place(event),
            frozenset(f"step:{_step_of(each)}" for each in event.starts),
            frozenset(f"channel:{name}" for name in event.channels),
        )
        for number, event in enumerate(events, start=1)
    )
    return RunOverlay(
        title=f"{found.rule} {found.name}",
        marks=_states(flow, counterexample, events),
        taken=_taken(events),
        queued=dict(counterexample.channels),
        trace=Trace(title, marks, tuple(tell_stuck(flow, counterexample))),
    )


def _place(event: Event) -> tuple[str, str]:
    """The card, and the row on it, where the event happens."""
    step = event.step or ""
    match event.kind:
        case EventKind.PUBLISHED:
            return f"channel:{event.channel}", ""
        case EventKind.RPC:
            return f"rpc:{step}", _port(event) or "in"
        case EventKind.TIMED_OUT:
            return ON_TIMEOUT, _port(event) or "in"
        case EventKind.COMPLETED:
            return "", ""
    card = ON_TIMEOUT if step == TIMEOUT_STEP else f"step:{step}"
    if event.kind is EventKind.DECIDED:
        return card, _port(event) or "t"
    return card, "f" if event.kind is EventKind.FAILED else "w"


def _port(event: Event) -> str:
    if event.decision is None:
        return ""
    return port_of("/".join([str(event.decision), *["otherwise"] * event.otherwise_count]))


def _states(
    flow: Flow, counterexample: Counterexample, events: Sequence[Event]
) -> dict[str, tuple[Mark, ...]]:
    """How often each step was executed, who failed, and who is active in the end, with what troubles it."""
    done = Counter(event.step for event in events if event.kind is EventKind.DECIDED)
    failed = Counter(event.step for event in events if event.kind is EventKind.FAILED)
    reasons = {stuck.step_execution_id: stuck.reason for stuck in counterexample.stuck}
    begun = {event.step_execution_id for event in events if event.kind is EventKind.SATISFIED}
    active = Counter(
        (_step_of(each), _state_of(flow, each, begun), reasons.get(each, ""))
        for each in counterexample.active
    )
    marks: dict[str, list[Mark]] = {}
    for step, count in done.items():
        marks.setdefault(step or "", []).append(Mark(MarkState.DONE, count))
    for step, count in failed.items():
        marks.setdefault(step or "", []).append(Mark(MarkState.FAILED, count))
    for (step, state, reason), count in active.items():
        said = "" if reason == "is executing" else reason
        marks.setdefault(step, []).append(Mark(state, count, said))
    return {step: tuple(found) for step, found in marks.items()}


def _state_of(flow: Flow, execution_id: str, begun: Set[str | None]) -> MarkState:
    step = flow.steps.get(_step_of(execution_id))
    waits = step is not None and step.wait_for is not None and execution_id not in begun
    return MarkState.WAITING if waits else MarkState.ACTIVE


def _taken(events: Sequence[Event]) -> Counter[str]:
    """By decision, as the diagram names them."""
    found: Counter[str] = Counter()
    for event in events:
        card, port = _place(event)
        if event.decision is not None and port.startswith("d"):
            owner = {"step": "", "rpc": "rpc:"}.get(card.partition(":")[0])
            name = "on_timeout" if owner is None else owner + card.partition(":")[2]
            suffix = "/".join([str(event.decision), *["otherwise"] * event.otherwise_count])
            found[f"{name}/{suffix}"] += 1
    return found


def _step_of(execution_id: str) -> str:
    return shown_id(execution_id).rpartition("-")[0]
