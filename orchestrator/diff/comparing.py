"""What changed between two versions of a flow, in words, with the lines of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from orchestrator.core.migration.renaming import DROPPED, Renaming
from orchestrator.definition.model import Decision, Flow, Path
from orchestrator.diff.change import Change, ChangeKind, Place
from orchestrator.diff.spelling import Said, decision_parts, decision_text, entries_of

ALIKE = 0.6
"""Share of equal entries from which two things of different names are taken to be one, renamed."""
SECTIONS = {"channel": "channels", "attribute": "attributes", "join": "joins", "step": "steps", "rpc": "rpcs"}
_OWN = ("input", "output", "start", "timeout", "durability", "handlers", "types")


def compare(old: Flow, new: Flow, renaming: Renaming) -> list[Change]:
    """`renaming`: what is known to be renamed; the rest is guessed by likeness."""
    comparing = _Comparing(old, new)
    changes = list(comparing.flow())
    for what, section in SECTIONS.items():
        given = {
            before: after
            for before, after in getattr(renaming, section, {}).items()
            if after != DROPPED and after not in getattr(old, section)
        }
        changes += comparing.section(what, getattr(old, section), getattr(new, section), given)
    changes += comparing.timeout_handler()
    return changes


def renamed_steps(changes: Sequence[Change]) -> dict[str, str]:
    """New names by old."""
    return {c.old_name: c.name for c in changes if c.kind is ChangeKind.RENAMED and c.what == "step"}


class _Comparing:
    def __init__(self, old: Flow, new: Flow) -> None:
        self._old = old
        self._new = new

    def flow(self) -> Iterator[Change]:
        before, after = entries_of(self._old), entries_of(self._new)
        for label in dict.fromkeys((*before, *after)):
            if label.partition(".")[0] in _OWN:
                yield from self._entry("flow", self._new.name, label, before.get(label), after.get(label))

    def section(
        self, what: str, old: Mapping[str, Any], new: Mapping[str, Any], given: Mapping[str, str]
    ) -> Iterator[Change]:
        gone = [name for name in old if name not in new and name not in given]
        come = [name for name in new if name not in old and name not in given.values()]
        renamed = {**given, **_guess(gone, come, old, new)}
        for name, element in old.items():
            after = renamed.get(name, name)
            if after not in new or (after in old and after != name and name not in given):
                yield Change(ChangeKind.REMOVED, what, name, old=self._at_old(element.path))
                continue
            target = new[after]
            if after != name:
                places = (self._at_old(element.path), self._at_new(target.path))
                yield Change(ChangeKind.RENAMED, what, after, name, "", *places)
            yield from self._element(what, after, element, target)
        for name in come:
            if name not in renamed.values():
                yield Change(ChangeKind.ADDED, what, name, new=self._at_new(new[name].path))

    def timeout_handler(self) -> Iterator[Change]:
        before, after = self._old.on_timeout, self._new.on_timeout
        if before is not None and after is not None:
            yield from self._element("on_timeout", "", before, after)
        elif before is not None:
            yield Change(ChangeKind.REMOVED, "on_timeout", "", old=self._at_old(before.path))
        elif after is not None:
            yield Change(ChangeKind.ADDED, "on_timeout", "", new=self._at_new(after.path))

    # --- Inside of one thing ---

    def _element(self, what: str, name: str, old: Any, new: Any) -> Iterator[Change]:
        before, after = entries_of(old), entries_of(new)
        for label in dict.fromkeys((*before, *after)):
            yield from self._entry(
                what, name, label, before.get(label), after.get(label), (old.path, new.path)
            )
        if hasattr(old, "decisions"):
            yield from self._decisions(what, name, old.decisions, new.decisions)

    def _entry(
        self,
        what: str,
        name: str,
        label: str,
        old: Said | None,
        new: Said | None,
        within: tuple[Path, Path] = ((), ()),
    ) -> Iterator[Change]:
        if old is not None and new is not None and old.text == new.text:
            return
        words = label.strip() or "wait_for"
        if old is None and new is not None:
            detail = f"{words} {new.text} is added"
        elif new is None and old is not None:
            detail = f"{words} {old.text} is removed"
        else:
            detail = f"{words}: {old.text if old else ''} → {new.text if new else ''}"
        places = (
            self._at_old(old.path if old is not None else within[0]),
            self._at_new(new.path if new is not None else within[1]),
        )
        yield Change(ChangeKind.CHANGED, what, name, "", detail, *places)

    def _decisions(
        self, what: str, name: str, old: Sequence[Decision], new: Sequence[Decision]
    ) -> Iterator[Change]:
        matcher = SequenceMatcher(
            None, [decision_text(d) for d in old], [decision_text(d) for d in new], False
        )
        for kind, i, j, k, m in matcher.get_opcodes():
            if kind == "equal":
                continue
            gone, come = list(old[i:j]), list(new[k:m])
            while gone and come:
                before, after = gone.pop(0), come.pop(0)
                place = f"decision {new.index(after) + 1}: " if len(new) > 1 else ""
                places = (self._at_old(before.path), self._at_new(after.path))
                for detail in _differences(decision_parts(before), decision_parts(after)):
                    yield Change(ChangeKind.CHANGED, what, name, "", place + detail, *places)
            for each in gone:
                detail = f"no longer decides `{decision_text(each)}`"
                yield Change(ChangeKind.CHANGED, what, name, "", detail, self._at_old(each.path))
            for each in come:
                detail = f"may decide `{decision_text(each)}`"
                yield Change(ChangeKind.CHANGED, what, name, "", detail, None, self._at_new(each.path))

    def _at_old(self, path: Path) -> Place | None:
        return _place(self._old, path)

    def _at_new(self, path: Path) -> Place | None:
        return _place(self._new, path)


def _differences(old: list[str], new: list[str]) -> Iterator[str]:
    """Between the parts of two decisions; those at the same place belong together."""
    for kind, i, j, k, m in SequenceMatcher(None, old, new, False).get_opcodes():
        if kind == "equal":
            continue
        for before, after in zip_longest(old[i:j], new[k:m]):
            if before is None:
                yield f"`{after}` is added"
            elif after is None:
                yield f"`{before}` is removed"
            else:
                yield f"`{before}` → `{after}`"


def _place(flow: Flow, path: Path) -> Place | None:
    if flow.source is None:
        return None
    position = flow.source.locate(path)
    span = position.key or position.value
    return Place(span.line, span.column)


def _guess(
    gone: Sequence[str], come: Sequence[str], old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, str]:
    """Pairs that are most alike, each name once."""
    likeness = sorted(
        ((_likeness(old[before], new[after]), before, after) for before in gone for after in come),
        key=lambda each: -each[0],
    )
    found: dict[str, str] = {}
    for share, before, after in likeness:
        if share >= ALIKE and before not in found and after not in found.values():
            found[before] = after
    return found


def _likeness(old: Any, new: Any) -> float:
    before, after = _facts(old), _facts(new)
    return len(before & after) / max(len(before | after), 1)


def _facts(element: Any) -> frozenset[str]:
    facts = {f"{label}: {said.text}" for label, said in entries_of(element).items()}
    facts |= {decision_text(decision) for decision in getattr(element, "decisions", ())}
    return frozenset(facts)
