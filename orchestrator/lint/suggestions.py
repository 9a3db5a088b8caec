"""What a fix may write where a message or report is missing: a guess, good enough to be offered."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.definition.model import (
    DeadEnd,
    Decision,
    GoTo,
    GracefulComplete,
    Movement,
    Path,
    Publish,
    Report,
    Step,
)
from orchestrator.definition.problem import Edit, Fix
from orchestrator.definition.types import Type
from orchestrator.definition.values import Literal, Value
from orchestrator.graph.query import movements_of, with_otherwise
from orchestrator.lint.adding import added_effect, added_publish
from orchestrator.lint.editing import added_item, entry_span, is_flow_style
from orchestrator.lint.facts import Facts
from orchestrator.lint.rounds import Exit

_OUTCOMES = ("dead_end", "graceful_complete", "go_to", "go_to_many")


def report_fix(facts: Facts, way: Exit, join: str) -> Fix | None:
    """Reports to the join in the decision that leaves the round; behind a failure route, in its step."""
    if any(way.target == waiting.name for waiting, _ in facts.rounds.waits[join]):
        return None  # it goes to the joining step: JON008
    step, found = way.step, _decision_at(way.path)
    if found is None and way.target is not None:
        step, found = way.target, _only_end(facts, way.step, way.target)
    value = report_text(facts, step, join)
    if found is None or value is None:
        return None
    edit = added_effect(facts.source, *found, "report", join, value)
    message = f"report to `{join}` " + ("here" if step == way.step else f"in `{step}`")
    return Fix(message, (edit,), is_safe=False) if edit is not None else None


def _only_end(facts: Facts, failing: str, recovery: str) -> tuple[Path, str] | None:
    """Of a recovery step that only this one leads to, and that does nothing but end its branch."""
    decisions = facts.flow.steps[recovery].decisions
    if facts.crowds.before.get(recovery) != [failing] or recovery in facts.paths.roots or len(decisions) != 1:
        return None
    outcome = {DeadEnd: "dead_end", GracefulComplete: "graceful_complete"}.get(type(decisions[0].outcome))
    return (decisions[0].path, outcome) if outcome is not None else None


def publish_fix(facts: Facts, step: str, place: Path, channel: str) -> Fix | None:
    """Publishes to the channel in the decision to whose outcome `place` leads."""
    found = _decision_at(place)
    value = _message_text(facts, step, channel)
    if found is None or value is None or facts.flow.channels[channel].is_map:
        return None
    edit = added_publish(facts.source, *found, channel, value)
    return Fix(f"publish `{channel}` here", (edit,), is_safe=False) if edit is not None else None


def seed_fix(facts: Facts, takers: frozenset[str], channel: str, token: str | None) -> Fix | None:
    """Puts the first token there when the run starts, on every way to those who take it."""
    flow = facts.flow
    start = flow.steps.get(flow.start) if flow.start is not None else None
    if start is None or token is None or start.name in takers or flow.channels[channel].is_map:
        return None
    if any(start.name in targets for targets in facts.paths.edges.values()):
        return None  # it would seed again
    leading = facts.crowds.leading_to(takers)
    edits = []
    for decision in start.decisions:
        targets = [movement for movement in movements_of(decision) if movement.step in leading]
        if not targets:
            continue
        found = _decision_at(targets[0].path)
        edit = added_publish(facts.source, *found, channel, token) if found is not None else None
        if edit is None:
            return None
        edits.append(edit)
    message = f"publish `{channel}` in `{start.name}`"
    return Fix(message, tuple(edits), is_safe=False) if edits else None


def join_fix(facts: Facts, joiner: Step, join: str, place: Path) -> Fix | None:
    """A branch that goes to the joining step reports instead; that step is started beside the branches."""
    openings = facts.rounds.openings[join]
    name = str(place[1]) if place[:1] == ("steps",) and place[-1] == "go_to" else None
    if name is None or len(openings) != 1 or len(place) < 3:
        return None
    opening = openings[0]
    if name not in facts.crowds.reached_from(movement.step for movement in opening.branches):
        return None
    decision = _written_at(facts.flow.steps[name], place[:-1])
    if decision is None:
        return None
    edit = _reporting(facts, name, decision, join)
    edits = [edit] if edit is not None else []
    if not _is_started_by(facts, opening.path, joiner.name):
        added = added_item(facts.source, (*opening.path, "go_to_many"), joiner.name)
        if added is None or joiner.input is not None:
            return None
        edits.append(added)
    message = f"report to `{join}` here, and start `{joiner.name}` beside the branches"
    return Fix(message, tuple(edits), is_safe=False) if edit is not None else None


def _reporting(facts: Facts, step: str, decision: Decision, join: str) -> Edit | None:
    """`report` and `dead_end` in place of the `go_to`; what was to be its input is reported."""
    assert isinstance(decision.outcome, GoTo)
    place = (*decision.path, "go_to")
    span = entry_span(facts.source, place)
    reported = {effect.join for effect in decision.effects if isinstance(effect, Report)}
    if reported == {join}:
        return Edit(span, "dead_end: true")
    value = _given_text(facts, decision.outcome.movement) or report_text(facts, step, join)
    if value is None or reported or span.line != span.end_line:
        return None
    is_flow = is_flow_style(facts.source, decision.path)
    between = ", " if is_flow else f"\n{' ' * (span.column - 1)}"
    return Edit(span, f"report: {{{join}: {value}}}{between}dead_end: true")


def _given_text(facts: Facts, movement: Movement) -> str | None:
    if movement.input is None:
        return None
    return _one_line(facts.source.text_at(facts.span(movement.input.path)))


def _is_started_by(facts: Facts, opening: Path, step: str) -> bool:
    for owner in facts.flow.steps.values():
        for _, decision, _ in with_otherwise(owner.decisions):
            if decision.path == opening:
                return any(movement.step == step for movement in movements_of(decision))
    return False


def _written_at(step: Step, path: Path) -> Decision | None:
    for _, decision, _ in with_otherwise(step.decisions):
        if decision.path == path and isinstance(decision.outcome, GoTo):
            return decision
    return None


def _decision_at(place: Path) -> tuple[Path, str] | None:
    """The decision and its outcome's key, of a place at the outcome or at one of its movements."""
    for depth in (1, 2):
        if len(place) > depth and place[-depth] in _OUTCOMES:
            return place[:-depth], str(place[-depth])
    return None


# --- Values ------------------------------------------------------------------------------------------------


def report_text(facts: Facts, step: str, join: str) -> str | None:
    def written(effect: object) -> Value | None:
        return effect.value if isinstance(effect, Report) and effect.join == join else None

    return _suggested(facts, facts.flow.steps[step], facts.flow.joins[join].type, written)


def _message_text(facts: Facts, step: str, channel: str) -> str | None:
    def written(effect: object) -> Value | None:
        return effect.value if isinstance(effect, Publish) and effect.channel == channel else None

    return _suggested(facts, facts.flow.steps[step], facts.flow.channels[channel].type, written)


def _suggested(
    facts: Facts, step: Step, asked: Type, written: Callable[[object], Value | None]
) -> str | None:
    """What all others write, else the step's result, its input, or null: whichever has the right type."""
    values = [
        value
        for other in facts.flow.steps.values()
        for _, decision, _ in with_otherwise(other.decisions)
        for effect in decision.effects
        if (value := written(effect)) is not None
    ]
    texts = {facts.source.text_at(facts.span(value.path)) for value in values if isinstance(value, Literal)}
    if len(texts) == 1 and (text := _one_line(texts.pop())) is not None:
        return text
    if step.result.type is not None and step.result.type.fits(asked) is None:
        return f'"${{{step.result.name}}}"'
    if step.input is not None and step.input.fits(asked) is None:
        return '"${input}"'
    return "null" if asked.admits_null else None


def _one_line(text: str) -> str | None:
    return text if text and "\n" not in text else None
