"""Small mistakes planted into definitions: what lint and verify are to notice.

A mutant is the document of a flow with one thing changed:

* each publish dropped, and doubled;
* each failure route to each other step, and removed; each `wait_for.on_failure` turned round;
* each count of a wait on a channel one more, and one less;
* each report dropped; a report made already where its branch goes on to the step that reports;
* each `need` of a join replaced by every other;
* a cancel of each step that waits, or that may hold what a wait took, added to the first decision of each
  other step.

What a mutant is called says where it was changed, so that a table of mutants can be read.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from orchestrator.definition.parse import read_document

Document = dict[str, Any]
Place = tuple[str | int, ...]
_COUNTS = ("for", "at_least", "at_most")
_NEEDS = ("all", "active", "first", 2)
_COMBINATORS = ("any_of", "all_of")


@dataclass(frozen=True, slots=True)
class Mutant:
    kind: str
    subject: str
    """Channel, join or step that the change is about."""
    place: Place
    change: str
    document: Document

    @property
    def name(self) -> str:
        return f"{'.'.join(map(str, self.place))}: {self.change}"

    @property
    def text(self) -> str:
        return text_of(self.document)


def document_of(path: Path) -> Document:
    _, document, problems = read_document(path.read_text(encoding="utf-8"), str(path))
    assert not problems, [problem.concise() for problem in problems]
    assert isinstance(document, dict)
    return document


def text_of(document: Document) -> str:
    """JSON is YAML; what lint and verify say depends on no layout."""
    return json.dumps(document, indent=1, ensure_ascii=False)


def mutants_of(document: Document) -> Iterator[Mutant]:
    for place, decision in _decisions(document):
        yield from _of_publishes(document, place, decision)
        yield from _of_reports(document, place, decision)
    for name, step in document.get("steps", {}).items():
        wait = step.get("wait_for")
        if isinstance(wait, dict):
            yield from _of_publishes(document, ("steps", name, "wait_for"), wait)
            yield from _of_conditions(document, ("steps", name, "wait_for"), wait)
        yield from _of_routes(document, name, step)
    for victim in _victims(document):
        yield from _of_cancels(document, victim)


# --- Where decisions and conditions stand -----------------------------------------------------------------


def _decisions(document: Document) -> Iterator[tuple[Place, Document]]:
    """Steps and RPCs too: effects beside `decide` are part of every decision."""
    for group in ("steps", "rpcs"):
        for name, element in document.get(group, {}).items():
            yield from _decisions_of((group, name), element)
    if "on_timeout" in document:
        yield from _decisions_of(("on_timeout",), document["on_timeout"])


def _decisions_of(place: Place, decision: Any) -> Iterator[tuple[Place, Document]]:
    if not isinstance(decision, dict):
        return
    yield place, decision
    for number, listed in enumerate(decision.get("decide") or ()):
        yield from _decisions_of((*place, "decide", number), listed)
    if "otherwise" in decision:
        yield from _decisions_of((*place, "otherwise"), decision["otherwise"])
    empty = decision.get("force_complete_if_channels_empty")
    if isinstance(empty, dict):
        yield from _decisions_of(
            (*place, "force_complete_if_channels_empty", "otherwise"), empty["otherwise"]
        )


def _conditions(wait: Document) -> Iterator[tuple[Place, Document]]:
    if "until" in wait:
        yield ("until",), wait["until"]
    for combinator in _COMBINATORS:
        for number, condition in enumerate(wait.get(combinator) or ()):
            yield (combinator, number), condition
    for id, condition in (wait.get("conditions") or {}).items():
        yield ("conditions", id), condition


# --- Publishes --------------------------------------------------------------------------------------------


def _of_publishes(document: Document, place: Place, holder: Document) -> Iterator[Mutant]:
    written = holder.get("publish")
    if not written:
        return
    listed = _as_list(document, written)
    for number, effect in enumerate(listed):
        where = (*place, "publish")
        for kind, kept in (
            ("drop publish", listed[:number] + listed[number + 1 :]),
            ("double publish", [*listed[: number + 1], *listed[number:]]),
        ):
            change = f"{kind.split()[0]} {effect['channel']} ({number})"
            make = partial(_set, value=kept) if kept else _remove
            yield _mutant(document, kind, effect["channel"], where, change, make)


def _as_list(document: Document, written: Any) -> list[Document]:
    if isinstance(written, list):
        return written
    listed = []
    for channel, value in written.items():
        declared = document["channels"][channel]
        if isinstance(declared, dict) and declared.get("map"):
            listed += [{"channel": channel, "key": key, "value": each} for key, each in value.items()]
        else:
            listed.append({"channel": channel, "value": value})
    return listed


# --- Counts -----------------------------------------------------------------------------------------------


def _of_conditions(document: Document, place: Place, wait: Document) -> Iterator[Mutant]:
    for at, condition in _conditions(wait):
        if "channel" in condition:
            yield from _of_counts(document, (*place, *at), condition)
        elif "join" in condition:
            yield from _of_needs(document, (*place, *at), condition)


def _of_counts(document: Document, place: Place, condition: Document) -> Iterator[Mutant]:
    keys = [key for key in _COUNTS if key in condition] or ["for"]
    for key in keys:
        for difference in (1, -1):
            count = _changed(condition.get(key, 1), difference)
            if count is None:
                continue
            change = f"count {condition['channel']} {difference:+d}"
            make = partial(_set, value=count)
            yield _mutant(document, "change count", condition["channel"], (*place, key), change, make)


def _changed(count: Any, difference: int) -> Any:
    if isinstance(count, int):
        return count + difference if count + difference >= 0 else None
    assert isinstance(count, str) and count.startswith("${") and count.endswith("}")
    return f"${{{count[2:-1]} {difference:+d}}}".replace("+", "+ ").replace("-", "- ")


def _of_needs(document: Document, place: Place, condition: Document) -> Iterator[Mutant]:
    present = condition.get("need", "all")
    others = [need for need in _NEEDS if need != present]
    for need in others:
        make = partial(_set, value=need)
        yield _mutant(document, "change need", condition["join"], (*place, "need"), f"need {need}", make)


# --- Reports ----------------------------------------------------------------------------------------------


def _of_reports(document: Document, place: Place, decision: Document) -> Iterator[Mutant]:
    for join in decision.get("report") or ():
        where = (*place, "report", join)
        yield _mutant(document, "drop report", join, where, "drop", _remove)
        reporter = place[1] if place[0] == "steps" else None
        for earlier, going in _decisions(document):
            if earlier[0] == "steps" and earlier[1] != reporter and _goes_to(going, reporter):
                added = partial(_add_report, join=join, value=decision["report"][join])
                change = f"report {join} already here"
                yield _mutant(document, "double report", join, earlier, change, added)


def _goes_to(decision: Document, step: Any) -> bool:
    target = decision.get("go_to")
    return bool((target.get("step") if isinstance(target, dict) else target) == step)


def _add_report(holder: Any, key: str | int, *, join: str, value: Any) -> None:
    holder[key]["report"] = {**holder[key].get("report", {}), join: value}


# --- Routes and cancels -----------------------------------------------------------------------------------


def _of_routes(document: Document, name: str, step: Document) -> Iterator[Mutant]:
    route = step.get("on_failure")
    if route is not None:
        place: Place = ("steps", name, "on_failure")
        yield _mutant(document, "drop route", name, place, "drop", _remove)
        target = route["step"] if isinstance(route, dict) else route
        for other in document["steps"]:
            if other not in (target, name):
                value = {**route, "step": other} if isinstance(route, dict) else other
                change = f"to {other} instead of {target}"
                yield _mutant(document, "reroute", name, place, change, partial(_set, value=value))
    wait = step.get("wait_for")
    if isinstance(wait, dict) and "on_failure" in wait:
        other = "proceed" if wait["on_failure"] == "fail" else "fail"
        place = ("steps", name, "wait_for", "on_failure")
        yield _mutant(document, "reroute", name, place, other, partial(_set, value=other))


def _victims(document: Document) -> list[str]:
    """Steps that wait, and those that come after a wait for messages without waiting again."""
    steps = document.get("steps", {})
    waiting = {name for name, step in steps.items() if any(_conditions(step.get("wait_for") or {}))}
    holding = {
        name
        for name in waiting
        if any("channel" in condition for _, condition in _conditions(steps[name]["wait_for"]))
    }
    while more := {target for name in holding for target in _targets(steps[name])} - waiting - holding:
        holding |= more
    return [name for name in steps if name in waiting | holding]


def _targets(step: Document) -> Iterator[str]:
    """Where single movements and the failure route lead; a fan-out hands nothing on."""
    route = step.get("on_failure")
    found = [route] if route is not None else []
    found += [decision["go_to"] for _, decision in _decisions_of((), step) if "go_to" in decision]
    for target in found:
        yield target["step"] if isinstance(target, dict) else target


def _of_cancels(document: Document, victim: str) -> Iterator[Mutant]:
    for canceller, step in document["steps"].items():
        if canceller == victim:
            continue
        place: Place = ("steps", canceller, "decide", 0) if "decide" in step else ("steps", canceller)
        added = partial(_add_cancel, victim=victim)
        yield _mutant(document, "add cancel", victim, place, f"cancel {victim}", added)


def _add_cancel(holder: Any, key: str | int, *, victim: str) -> None:
    holder[key]["cancel"] = [*holder[key].get("cancel", []), victim]


# --- Changing a document ----------------------------------------------------------------------------------


def _mutant(
    document: Document,
    kind: str,
    subject: str,
    place: Place,
    change: str,
    make: Callable[[Any, str | int], None],
) -> Mutant:
    changed: Any = copy.deepcopy(document)
    holder = changed
    for part in place[:-1]:
        holder = holder[part]
    make(holder, place[-1])
    return Mutant(kind, subject, place, change, changed)


def _set(holder: Any, key: str | int, *, value: Any) -> None:
    holder[key] = value


def _remove(holder: Any, key: str | int) -> None:
    del holder[key]
