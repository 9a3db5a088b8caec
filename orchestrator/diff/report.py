"""A difference as JSON, and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.core.migration.verdicts import Obstacle, Verdict, worst
from orchestrator.definition.model import Flow, Json
from orchestrator.diff.change import Change, ChangeKind, Place
from orchestrator.diff.places import PlaceVerdict

SCHEMA = 1
_SIGNS = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.RENAMED: "~", ChangeKind.CHANGED: "~"}
_WORDS = {
    Verdict.COMPATIBLE: "compatible",
    Verdict.NEEDS_MAPPING: "needs a mapping",
    Verdict.IMPOSSIBLE: "impossible",
}


@dataclass(frozen=True, slots=True)
class Difference:
    old: Flow
    new: Flow
    changes: tuple[Change, ...]
    places: tuple[PlaceVerdict, ...]
    run_count: int | None = None
    """Live runs of the old version; None: no store was looked at."""
    movable_count: int = 0

    @property
    def verdict(self) -> Verdict:
        """The worst of the places that count (PlaceVerdict.counts)."""
        return worst(each.verdict for each in self.places if each.counts)


def as_json(difference: Difference) -> Json:
    runs = None
    if difference.run_count is not None:
        runs = {"live": difference.run_count, "movable": difference.movable_count}
    return {
        "schema": SCHEMA,
        "flow": difference.new.name,
        "old": _version(difference.old),
        "new": _version(difference.new),
        "verdict": difference.verdict.value,
        "runs": runs,
        "changes": [_change(each) for each in difference.changes],
        "places": [_place(each) for each in difference.places],
    }


def _version(flow: Flow) -> Json:
    return {"path": flow.source.path if flow.source is not None else None, "definition": flow.hash}


def _change(change: Change) -> Json:
    return {
        "change": change.kind.value,
        "what": change.what,
        "name": change.name,
        "old_name": change.old_name or None,
        "text": change.text,
        "old": _position(change.old),
        "new": _position(change.new),
    }


def _position(place: Place | None) -> Json:
    return None if place is None else {"line": place.line, "column": place.column}


def _place(each: PlaceVerdict) -> Json:
    reasons = [
        {"reason": o.reason, "verdict": o.verdict.value, "mapping": o.mappings} for o in each.obstacles
    ]
    found: dict[str, Json] = {"place": each.place, "verdict": each.verdict.value, "reasons": reasons}
    if each.run_count is not None:
        found |= {"runs": each.run_count, "stuck": each.stuck_count}
    return found


def as_text(difference: Difference) -> str:
    return "\n".join([*_changes_text(difference), "", *_places_text(difference), "", _conclusion(difference)])


def _changes_text(difference: Difference) -> Iterator[str]:
    if not difference.changes:
        yield (
            "nothing changed"
            if difference.old.hash == difference.new.hash
            else "nothing that is told changed"
        )
        return
    rows = [(_lines(change), f"{_SIGNS[change.kind]} {_told(change)}") for change in difference.changes]
    width = max(len("lines"), *(len(lines) for lines, _ in rows))
    yield f"{'lines'.rjust(width)}  changes"
    for lines, text in rows:
        yield f"{lines.rjust(width)}  {text}"


def _told(change: Change) -> str:
    if change.kind in (ChangeKind.ADDED, ChangeKind.REMOVED):
        return f"{change.text} is {change.kind}"
    return change.text


def _lines(change: Change) -> str:
    """`52→47`; of what is only in one version, that one's."""
    old = str(change.old.line) if change.old is not None else ""
    new = str(change.new.line) if change.new is not None else ""
    return f"{old}→{new}"


def _places_text(difference: Difference) -> Iterator[str]:
    troubled = [each for each in difference.places if each.verdict is not Verdict.COMPATIBLE]
    well = [each for each in difference.places if each.verdict is Verdict.COMPATIBLE]
    yield "where a run may be"
    alike: dict[tuple[object, ...], list[PlaceVerdict]] = {}
    for each in troubled:
        alike.setdefault(tuple((o.reason, o.mapping) for o in each.obstacles), []).append(each)
    for places in alike.values():
        verdict = worst(each.verdict for each in places)
        yield f"  {'; '.join(_grouped(places))}: {_WORDS[verdict]}"
        yield from _reasons(places[0].obstacles)
    if well:
        yield "  compatible"
        yield from (f"    {line}" for line in _grouped(well))


def _grouped(places: Sequence[PlaceVerdict]) -> Iterator[str]:
    """The phases of a step on one line."""
    lines: dict[str, list[str]] = {}
    for each in places:
        subject, slash, phase = each.place.partition("/")
        lines.setdefault(subject if slash else "", []).append(f"{phase if slash else subject}{_counts(each)}")
    for subject, said in lines.items():
        yield f"{subject} ({', '.join(said)})" if subject else ", ".join(said)


def _counts(each: PlaceVerdict) -> str:
    if not each.run_count:
        return ""
    stuck = f", {each.stuck_count} stuck" if each.stuck_count else ""
    return f" [{each.run_count} live run{'' if each.run_count == 1 else 's'}{stuck}]"


def _reasons(obstacles: Sequence[Obstacle]) -> Iterator[str]:
    for obstacle in obstacles:
        yield f"    {obstacle.reason}"
        if obstacle.mapping is not None:
            yield f"      help: --map {obstacle.mapping}"


def _conclusion(difference: Difference) -> str:
    if difference.run_count is None:
        said = {
            Verdict.COMPATIBLE: "every run can go on under the new version, wherever it is",
            Verdict.NEEDS_MAPPING: "some runs can go on only with a mapping",
            Verdict.IMPOSSIBLE: "some runs could not go on under the new version",
        }
        return said[difference.verdict]
    if not difference.run_count:
        return "no live run has the old version"
    return f"{difference.movable_count} of {difference.run_count} live runs can go on under the new version"
