"""Writes the cards: what a step waits for, does, and decides, in short lines."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.definition.durations import format_duration
from orchestrator.definition.model import (
    Combinator,
    DeadEnd,
    Decision,
    Flow,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    ForceFail,
    GoTo,
    GoToMany,
    GracefulComplete,
    Handler,
    Lock,
    Movement,
    Rpc,
    Step,
    WaitFor,
)
from orchestrator.graph.labels import empty_words, remaining_guard, value_text
from orchestrator.graph.query import read_names, with_otherwise
from orchestrator.render.cards import Card, Entry, Row, Tap
from orchestrator.render.effect_rows import EffectWriter, handler_entries, lock_entries, option_entries
from orchestrator.render.metrics import shorten, wrap
from orchestrator.render.overlay import Mark, MarkState, RunOverlay
from orchestrator.render.style import NAME_SIZE, SMALL_SIZE, TEXT_SIZE, WRAP_WIDTH
from orchestrator.render.wait_rows import wait_entries

_FINAL_TONES = {
    GracefulComplete: "graceful",
    ForceComplete: "forced",
    ForceFail: "failed",
    DeadEnd: "dead_end",
    ForceCompleteIfChannelsEmpty: "forced",
}


def movement_multiplicity(movement: Movement) -> str:
    return f"× each {movement.as_name}" if movement.for_each is not None else ""


class Pen:
    """Knows the flow, the layers and the run; one card at a time."""

    def __init__(self, flow: Flow, layers: frozenset[str], overlay: RunOverlay | None) -> None:
        self._flow = flow
        self._layers = layers
        self._overlay = overlay
        colors = {name: str(number) for number, name in enumerate(flow.channels)}
        self._effects = EffectWriter(layers, colors)

    # --- Cards ---

    def step_card(self, step: Step) -> Card:
        rows = []
        if step.wait_for is not None:
            rows.append(self._wait_row(step, step.wait_for))
        rows.append(self._title_row(step))
        rows += self._status_rows(step.name)
        rows += self._failure_rows(step)
        rows += self._decision_rows(step.name, step.decisions)
        state = ""
        if self._overlay is not None:
            state = self._overlay.state_of(step.name) or "unreached"
        return Card(f"step:{step.name}", "step", tuple(rows), step.description or step.name, state)

    def rpc_card(self, rpc: Rpc) -> Card:
        called = Entry("a client calls", "entry", SMALL_SIZE, 600, icon="client")
        head = Row("entry", (called,), "in", "entry", title="remote procedure call")
        locks = () if rpc.handler is not None else rpc.locks
        body = self._body_row(rpc.name, rpc.description, rpc.handler, (rpc.let, rpc.decisions), locks)
        rows = (head, body, *self._decision_rows(f"rpc:{rpc.name}", rpc.decisions))
        return Card(f"rpc:{rpc.name}", "rpc", rows, rpc.description or rpc.name)

    def timeout_card(self, handler: Step) -> Card:
        timeout = self._flow.timeout
        after = (
            f"open after {format_duration(timeout.after)}"
            if timeout is not None
            else "over its start's timeout"
        )
        called = Entry(f"the run is {after}", "entry", SMALL_SIZE, 600, icon="clock")
        head = Row("entry", (called,), "in", "entry", title="timeout of the run")
        reading = (handler.let, handler.decisions)
        body = self._body_row("on timeout", handler.description, handler.execute, reading)
        rows = (head, body, *self._decision_rows("on_timeout", handler.decisions))
        title = "runs once when the run's time is over"
        return Card("timeout_handler:on_timeout", "timeout_handler", rows, title)

    def _body_row(
        self,
        name: str,
        description: str,
        handler: Handler | None,
        reading: object,
        locks: tuple[Lock, ...] = (),
    ) -> Row:
        """`locks`: those that no handler has."""
        entries = [*self._name_entries(name, description), *handler_entries(handler), *lock_entries(locks)]
        entries += self._effects.may_entries(handler)
        if "attributes" in self._layers:
            entries += self._read_entries(reading)
        return Row("title", tuple(entries), "t")

    # --- Rows ---

    def _wait_row(self, step: Step, wait: WaitFor) -> Row:
        entries = wait_entries(wait, "channels" in self._layers)
        entries += self._effects.may_entries(wait.handler) + self._effects.effect_entries(wait.effects)
        if "attributes" in self._layers:
            entries += self._read_entries((wait.conditions, wait.effects))
        title = (
            "waits before it runs"
            if wait.combinator is not Combinator.NONE
            else "commits effects before it runs"
        )
        return Row("wait", tuple(entries), "w", "wait", f"wait:{step.name}", title)

    def _title_row(self, step: Step) -> Row:
        entries = [*self._name_entries(step.name, step.description), *handler_entries(step.execute)]
        first, *others = entries
        tap = Tap(f"failure:{step.name}", True, "execute_failure", f"{step.name} recovers")
        if "failure" in self._layers and self._is_recovery(step.name):
            first = Entry(first.text, first.tone, first.size, first.weight, tap=tap)
        entries = [first, *others, *self._effects.may_entries(step.execute)]
        if "attributes" in self._layers:
            entries += self._read_entries((step.let, step.decisions, step.execute))
        done = self._overlay.done_count(step.name) if self._overlay is not None else 0
        badge = f"×{done}" if done else ""
        return Row("title", tuple(entries), "t", badge=badge)

    def _is_recovery(self, name: str) -> bool:
        routes = (step.on_failure for step in self._flow.steps.values())
        return any(route is not None and route.step == name for route in routes)

    def _name_entries(self, name: str, description: str) -> list[Entry]:
        lines = wrap(description, WRAP_WIDTH, SMALL_SIZE, max_lines=5)
        names = wrap(name, 280, NAME_SIZE, 700)
        return [Entry(part, "ink", NAME_SIZE, 700) for part in names] + [
            Entry(line, "muted", SMALL_SIZE) for line in lines
        ]

    def _read_entries(self, element: object) -> list[Entry]:
        return [
            Entry(
                f"reads {name}",
                "attribute",
                SMALL_SIZE,
                tap=Tap(f"attribute:{name}", True, "read", f"reads {name}"),
            )
            for name in read_names(element, "attributes")
        ]

    def _failure_rows(self, step: Step) -> list[Row]:
        route = step.on_failure
        if route is None or "failure" not in self._layers:
            return []
        tap = Tap(f"failure:{route.step}", False, "execute_failure", f"failure of {step.name} → {route.step}")
        head, *others = wrap(route.step, WRAP_WIDTH - 17, SMALL_SIZE, 600)
        first = Entry(head, "failure", SMALL_SIZE, 600, "alert", "on failure: ", tap=tap)
        lines = [Entry(line, "failure", SMALL_SIZE, 600, indent=17) for line in others]
        return [Row("failure", (first, *lines), "f", "failure", title=tap.title)]

    def _status_rows(self, name: str) -> list[Row]:
        if self._overlay is None:
            return []
        rows = []
        for number, mark in enumerate(self._overlay.marks.get(name, ())):
            if mark.state is MarkState.DONE and not mark.text:
                continue
            lines = wrap(_mark_text(mark), WRAP_WIDTH, SMALL_SIZE, 600, 4)
            tone = _MARK_TONES.get(mark.state, mark.state.value)
            entries = tuple(Entry(line, tone, SMALL_SIZE, 600) for line in lines)
            rows.append(Row("status", entries, f"s{number}", tone, title=mark.text))
        return rows

    # --- Decisions ---

    def _decision_rows(self, name: str, decisions: Sequence[Decision]) -> list[Row]:
        rows = []
        is_choice = len(decisions) > 1
        if is_choice:
            hint = Entry("the first that holds", "muted", SMALL_SIZE - 1)
            rows.append(
                Row("one_of", (hint,), "o", "plain", title="exactly one of these is taken", is_choice=True)
            )
        for suffix, decision, parent in with_otherwise(decisions):
            number, _, rest = suffix.partition("/")
            port = "d" + number + "o" * rest.count("otherwise")
            entries = self._decision_entries(decisions, int(number) - 1, decision, parent is not None)
            taken = self._overlay.taken.get(f"{name}/{suffix}", 0) if self._overlay is not None else 0
            tone = _FINAL_TONES.get(type(decision.outcome), "failed" if decision.reject is not None else "")
            rows.append(
                Row(
                    "decision",
                    tuple(entries),
                    port,
                    tone or "plain",
                    f"decision:{name}/{suffix}",
                    _decision_title(decisions, int(number) - 1, parent is not None),
                    f"×{taken}" if taken else "",
                    is_final=bool(tone),
                    is_choice=is_choice,
                    is_faded=self._overlay is not None and self._overlay.is_passed_by(name, suffix),
                )
            )
        return rows

    def _decision_entries(
        self, decisions: Sequence[Decision], index: int, decision: Decision, is_otherwise: bool
    ) -> list[Entry]:
        entries = []
        guard = _guard_text(decisions, index, is_otherwise)
        if guard:
            entries += [
                Entry(line, "guard", TEXT_SIZE, 600) for line in wrap(guard, WRAP_WIDTH, TEXT_SIZE, 600, 5)
            ]
        entries += self._effects.effect_entries(decision.effects)
        entries += [
            Entry(f"cancel {', '.join(names)}{where}", "muted", SMALL_SIZE, icon="cancel")
            for names, where in ((decision.cancel, ""), (decision.cancel_siblings, " beside it"))
            if names
        ]
        if decision.cancel_round is not None:
            entries.append(
                Entry(f"cancel the round of {decision.cancel_round}", "muted", SMALL_SIZE, icon="cancel")
            )
        return entries + _outcome_entries(decision)


_MARK_TONES = {MarkState.FAILED: "failed_run", MarkState.MISSED: "cancelled"}


def _mark_text(mark: Mark) -> str:
    """The badge tells how many are done."""
    if mark.state in (MarkState.DONE, MarkState.MISSED):
        return mark.text
    count = f"{mark.count} " if mark.count > 1 else ""
    return f"{count}{mark.state}" + (f": {mark.text}" if mark.text else "")


def _guard_text(decisions: Sequence[Decision], index: int, is_otherwise: bool) -> str:
    decision = decisions[index]
    if is_otherwise:
        return "if nothing is left to start" if isinstance(decision.outcome, GoToMany) else "if not empty"
    parts = [f"chose {decision.choice}"] if decision.choice is not None else []
    if decision.when is not None:
        parts.append(f"when {' '.join(decision.when.text.split())}")
    elif any(rival.choice == decision.choice for rival in decisions[:index]):
        parts.append("otherwise")
    return " ".join(parts)


def _decision_title(decisions: Sequence[Decision], index: int, is_otherwise: bool) -> str:
    if is_otherwise:
        return "otherwise"
    return remaining_guard(decisions, index) or "always"


def _outcome_entries(decision: Decision) -> list[Entry]:
    match decision.outcome:
        case GoTo(movement=movement):
            return _movement_entries(movement, "arrow")
        case GoToMany(movements=movements, join=join):
            word = f"start in parallel, as a round of {join}" if join else "start in parallel"
            tap = Tap(f"join:{join}", False, "opens", f"opens a round of {join}") if join else None
            head = Entry(word, "ink", TEXT_SIZE, 600, "fork", tap=tap)
            return [head, *(entry for movement in movements for entry in _movement_entries(movement, ""))]
        case GracefulComplete(output=output):
            return _final_entries("complete when all else is done", "graceful", "complete", output)
        case ForceComplete(output=output):
            return _final_entries("complete now", "forced", "complete", output)
        case ForceFail(reason=reason):
            return _final_entries("fail the run", "failed", "fail", reason)
        case DeadEnd():
            return _final_entries("this branch ends", "dead_end", "end", None)
        case ForceCompleteIfChannelsEmpty(channels=channels, output=output):
            return _final_entries(f"complete now if {empty_words(channels)}", "forced", "complete", output)
        case _:
            return _reply_entries(decision)


def _movement_entries(movement: Movement, icon: str) -> list[Entry]:
    repeats = ""
    if movement.for_each is not None:
        repeats = f" × each {movement.as_name} in {value_text(movement.for_each)}"
    guard = f" when {movement.when.text.strip()}" if movement.when is not None else ""
    text = shorten(movement.step + repeats + guard, WRAP_WIDTH, TEXT_SIZE)
    first = Entry(text, "ink", TEXT_SIZE, icon=icon, indent=0 if icon else 17)
    return [first, *option_entries(movement.options)]


def _final_entries(words: str, tone: str, icon: str, value: object) -> list[Entry]:
    lines = wrap(words, WRAP_WIDTH, TEXT_SIZE, 600)
    entries = [Entry(lines[0], tone, TEXT_SIZE, 600, icon)]
    entries += [Entry(line, tone, TEXT_SIZE, 600, indent=17) for line in lines[1:]]
    if value is not None:
        text = value_text(value)  # type: ignore[arg-type]
        entries += [
            Entry(line, "muted", SMALL_SIZE, indent=17)
            for line in wrap(text, WRAP_WIDTH - 17, SMALL_SIZE, max_lines=2)
        ]
    return entries


def _reply_entries(decision: Decision) -> list[Entry]:
    """Of an RPC that starts nothing."""
    if decision.reject is not None:
        return _final_entries("reject the call", "failed", "fail", decision.reject)
    if decision.returns is not None:
        text = f"return {' '.join(value_text(decision.returns).split())}"
        first, *others = wrap(text, WRAP_WIDTH, TEXT_SIZE, max_lines=4)
        head = Entry(first, "ink", TEXT_SIZE, icon="reply")
        return [head, *(Entry(line, "ink", TEXT_SIZE, indent=17) for line in others)]
    return [Entry("return", "ink", TEXT_SIZE, icon="reply")]
