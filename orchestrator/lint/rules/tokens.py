"""Rules about critical sections: channels whose messages are tokens, which branches take and give back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from orchestrator.definition.model import Path, Publish, SetAttribute, Step
from orchestrator.definition.problem import Fix, Problem
from orchestrator.definition.values import Literal
from orchestrator.graph.alternatives import proceeds
from orchestrator.graph.cancels import cancels
from orchestrator.graph.lineages import possible_decisions
from orchestrator.graph.paths import cycles, decisions_of
from orchestrator.graph.query import movements_of, with_otherwise
from orchestrator.graph.section import Finding, Section
from orchestrator.graph.truth import Known
from orchestrator.lint.adding import added_key, added_publish
from orchestrator.lint.editing import removal
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule
from orchestrator.lint.suggestions import seed_fix

_HELP = {
    "TOK001": "publish `{c}` once, in the step that starts the branches or before it",
    "TOK002": "add `{c}` to `publish` of this decision",
    "TOK003": "take this publish out: the branch gives `{c}` back once",
    "TOK004": "give `{c}` back before it is taken again, or take at once what both steps need",
    "TOK005": "let one branch keep `{c}`, and start the others before it is taken or after it is given back",
    "TOK006": "give those that hold `{c}` a step of their own",
    "TOK007": "let the holder end by itself, for example by a timer in its own wait; only a step that still"
    " waits for `{c}` can be cancelled without loss",
    "TOK010": "seed one; if more branches may be inside at once, declare `capacity` on the channel",
    "TOK012": "leave it to the holder: every way out of the section publishes `{c}`",
}


def find_breaches(facts: Facts) -> Iterator[Problem]:
    """TOK001-007, TOK010, TOK012: what counting along the ways of a branch shows."""
    for section in facts.sections:
        for finding in section.findings:
            yield facts.problem(
                finding.code,
                finding.message,
                finding.path,
                is_key=finding.is_key,
                also=finding.also,
                help=_HELP[finding.code].format(c=section.channel),
                fix=_fix(facts, section, finding),
            )


def _fix(facts: Facts, section: Section, finding: Finding) -> Fix | None:
    channel = section.channel
    if finding.code == "TOK001" and not section.seeds:
        takers = frozenset(place.step for place in section.entries)
        return seed_fix(facts, takers, channel, _token_text(facts, channel))
    if finding.code == "TOK002":
        value = _token_text(facts, channel)
        *decision, outcome = finding.path
        edit = added_publish(facts.source, tuple(decision), str(outcome), channel, value) if value else None
        return Fix(f"publish `{channel}` here", (edit,), is_safe=True) if edit is not None else None
    if finding.code in ("TOK003", "TOK010"):
        earlier = finding.also[0][0] if finding.also else finding.path
        is_repeated = finding.code == "TOK003" and finding.path[:-1] == earlier[:-1]
        is_late = finding.code == "TOK003" and not is_repeated
        place = earlier if is_late else finding.path
        edit = removal(facts.source, place) if "may" not in place else None
        message = "take the earlier publish out" if is_late else "take this publish out"
        return Fix(message, (edit,), is_safe=is_repeated) if edit is not None else None
    return None


def _token_text(facts: Facts, channel: str) -> str | None:
    """The token as it is written elsewhere; None: not the same everywhere, or not on one line."""
    texts = set()
    for _, decision in decisions_of(facts.flow):
        for effect in decision.effects:
            if isinstance(effect, Publish) and effect.channel == channel:
                is_plain = isinstance(effect.value, Literal)
                texts.add(facts.source.text_at(facts.span(effect.value.path)) if is_plain else "\n")
    text = texts.pop() if len(texts) == 1 else ""
    return text if text and "\n" not in text else None


# --- Steps of a section ------------------------------------------------------------------------------------


def find_cancelled_work(facts: Facts) -> Iterator[Problem]:
    """TOK008: a cancelled taker's token goes to the next branch while its own handler still works."""
    all_cancels = list(cancels(facts.flow)) if facts.sections else []
    for section in facts.sections:
        takers = {place.step: place for place in section.entries}
        for cancel in all_cancels:
            for victim in cancel.victims:
                step = facts.flow.steps[victim]
                if victim not in takers or step.execute is None or cancel.step == victim:
                    continue
                yield facts.problem(
                    "TOK008",
                    f"`{victim}` takes `{section.channel}` and works with it in one step, which"
                    f" {cancel.who} can cancel: the token goes on while the handler may still run",
                    takers[victim].path,
                    also=[(cancel.path, "cancelled here"), (step.execute.path, "the work")],
                    help=f"let `{victim}` only take `{section.channel}`, and do the work in a step after it",
                )


def find_failing_waits(facts: Facts) -> Iterator[Problem]:
    """TOK009: a wait whose handler fails ends the run, and with it all that wait for the token."""
    for section in facts.sections:
        for name in section.held_on_entry:
            wait = facts.flow.steps[name].wait_for
            if wait is None or wait.handler is None or proceeds(wait, None):
                continue
            edit = added_key(facts.source, wait.path, "on_failure: proceed")
            yield facts.problem(
                "TOK009",
                f"the wait of `{name}` fails the run while `{section.channel}` is held",
                wait.handler.path,
                also=[(section.entries[0].path, "token taken here")] if section.entries else (),
                help=f"write `on_failure: proceed` and give `{section.channel}` back when `wait_for_failed`",
                fix=Fix("let Execute run after a failed wait", (edit,), is_safe=False) if edit else None,
            )


def find_crossing_sections(facts: Facts) -> Iterator[Problem]:
    """TOK011: one branch holds the first token and waits for the second, another the other way round."""
    if len(facts.sections) < 2:
        return
    edges: dict[str, dict[str, tuple[str, Section]]] = {}
    for outer in facts.sections:
        for inner in facts.sections:
            for place in inner.entries if inner is not outer else ():
                if place.step in outer.held_on_entry:
                    edges.setdefault(outer.channel, {})[inner.channel] = (place.step, inner)
    for members in cycles(edges):
        if _is_guarded(facts, members, edges):
            continue
        first, *others = sorted(members, key=list(facts.flow.channels).index)
        crossing = [
            (held, taken, *edges[held][taken])
            for held in (first, *others)
            for taken in edges[held]
            if taken in members
        ]
        held, taken, step, section = crossing[0]
        yield facts.problem(
            "TOK011",
            f"`{step}` holds `{held}` and waits for `{taken}`; others hold `{taken}` and wait for `{held}`",
            _entry(section, step),
            also=[(_entry(s, n), f"holds `{h}`, waits for `{t}`") for h, t, n, s in crossing[1:]],
            help="take them in the same order everywhere, or both in one `all_of`",
        )


def _entry(section: Section, step: str) -> Path:
    return next(place.path for place in section.entries if place.step == step)


def _is_guarded(
    facts: Facts, members: Iterable[str], edges: dict[str, dict[str, tuple[str, Section]]]
) -> bool:
    """Whether a further token, of which there is one, is held wherever the others cross."""
    inside = set(members)
    steps = [step for held in inside for taken, (step, _) in edges[held].items() if taken in inside]
    return any(
        outer.channel not in inside
        and outer.capacity == 1
        and all(step in outer.held_on_entry for step in steps)
        for outer in facts.sections
    )


# --- Locks that are none -----------------------------------------------------------------------------------


def find_flags_used_as_locks(facts: Facts) -> Iterator[Problem]:
    """TOK013: a boolean that branches test and set to keep each other out."""
    for name, attribute in facts.flow.attributes.items():
        if attribute.is_map or attribute.type.schema.get("type") != "boolean":
            continue
        writes = list(_writes(facts, name))
        freeing = [path for _, path, value in writes if value in (False, None)]
        taking = [(step, path) for step, path, value in writes if value is True]
        is_contended = bool(freeing) and facts.crowds.has({step.name for step, _ in taking})
        for step, path in taking if is_contended else ():
            test = _test_before(facts, step, name)
            if test is not None:
                yield facts.problem(
                    "TOK013",
                    f"`{step.name}` takes `{name}` for a lock: who finds it set cannot wait for it,"
                    " and a branch that fails leaves it set",
                    path,
                    also=[(test, "tested here"), (freeing[0], "given back here")],
                    help="use a channel with one message: who takes it holds it, and publishes it on every"
                    " way out",
                )
                break


def _writes(facts: Facts, name: str) -> Iterator[tuple[Step, Path, Any]]:
    """By decisions of steps, of literal values."""
    for step in facts.flow.steps.values():
        for _, decision, _ in with_otherwise(step.decisions):
            for effect in decision.effects:
                if isinstance(effect, SetAttribute) and effect.attribute == name:
                    value = effect.value.value if isinstance(effect.value, Literal) else ""
                    yield step, effect.path, value


def _test_before(facts: Facts, step: Step, name: str) -> Path | None:
    """The guard that lets nobody on who finds the flag set: of this step, or of the movement to it."""
    known: Known = {("attributes", name): True}
    for other in facts.flow.steps.values():
        possible = [number for number, _ in possible_decisions(other.decisions, known)]
        for number, decision in enumerate(other.decisions, start=1):
            sets = [e for e in decision.effects if isinstance(e, SetAttribute) and e.attribute == name]
            leads_here = any(movement.step == step.name for movement in movements_of(decision))
            guards = [each.when for each in other.decisions[:number] if each.when is not None]
            if number not in possible and guards and (leads_here or (other is step and sets)):
                return guards[-1].path
    return None


RULES: list[Rule] = [
    find_breaches,
    find_cancelled_work,
    find_failing_waits,
    find_crossing_sections,
    find_flags_used_as_locks,
]
