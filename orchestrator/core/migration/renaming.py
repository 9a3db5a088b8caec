"""Which name of the old definition is which of the new: what `--map` says."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from orchestrator.definition.model import Flow
from orchestrator.definition.nearness import did_you_mean
from orchestrator.errors import UsageError

DROPPED = ""
_DROPPABLE = ("channel", "attribute")


class Renaming(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """New names by old ones; what is not listed keeps its name."""

    steps: dict[str, str] = {}
    channels: dict[str, str] = {}
    """To the empty name: unread messages are dropped."""
    attributes: dict[str, str] = {}
    """To the empty name: the value is dropped."""
    joins: dict[str, str] = {}
    conditions: dict[str, str] = {}
    """`Step/condition` of the old definition → condition of the new."""

    def step(self, name: str) -> str:
        return self.steps.get(name, name)

    def channel(self, name: str) -> str:
        return self.channels.get(name, name)

    def attribute(self, name: str) -> str:
        return self.attributes.get(name, name)

    def join(self, name: str) -> str:
        return self.joins.get(name, name)

    def condition(self, step: str, name: str) -> str:
        return self.conditions.get(f"{step}/{name}", name)


NO_RENAMING = Renaming()


def parse_renaming(texts: Iterable[str], old: Flow, new: Flow) -> Renaming:
    """`step:Old=New`, `channel:a=b`, `attribute:a=b`, `join:a=b`, `condition:Step/a=b`. Raises UsageError."""
    found: dict[str, dict[str, str]] = {kind: {} for kind in _KINDS}
    for text in texts:
        kind, colon, names = text.partition(":")
        before, equals, after = names.partition("=")
        if not colon or not equals or kind not in _KINDS or not before:
            raise UsageError(f"--map: `{text}` is not KIND:OLD=NEW, with KIND one of {', '.join(_KINDS)}")
        if kind == "condition":
            _check_condition(text, before, after, old, new, found["step"])
        else:
            _check(text, kind, before, after, old, new)
        found[kind][before] = after
    for kind, names_of in found.items():
        _check_unique(kind, names_of)
    return Renaming(
        steps=found["step"],
        channels=found["channel"],
        attributes=found["attribute"],
        joins=found["join"],
        conditions=found["condition"],
    )


_KINDS = ("step", "channel", "attribute", "join", "condition")


def _declared(kind: str, flow: Flow) -> Iterable[str]:
    return {"step": flow.steps, "channel": flow.channels, "attribute": flow.attributes, "join": flow.joins}[
        kind
    ]


def _check(text: str, kind: str, before: str, after: str, old: Flow, new: Flow) -> None:
    _demand(text, kind, before, _declared(kind, old), "OLD")
    if after == DROPPED and kind in _DROPPABLE:
        if before in _declared(kind, new):
            raise UsageError(f"--map: `{text}`: NEW has the {kind} {before}; only what is gone is dropped")
        return
    if after == DROPPED:
        raise UsageError(f"--map: `{text}`: a {kind} cannot be dropped; say which of NEW takes its place")
    _demand(text, kind, after, _declared(kind, new), "NEW")
    if kind != "step" and after in _declared(kind, old) and after != before:
        raise UsageError(f"--map: `{text}`: OLD has a {kind} {after} as well; two cannot become one")


def _demand(text: str, kind: str, name: str, known: Iterable[str], which: str) -> None:
    if name not in known:
        help = did_you_mean(name, known) or f"it has: {', '.join(sorted(known)) or 'none'}"
        raise UsageError(f"--map: `{text}`: {which} has no {kind} {name}; {help}")


def _check_condition(text: str, before: str, after: str, old: Flow, new: Flow, steps: dict[str, str]) -> None:
    step, slash, condition = before.partition("/")
    if not slash:
        raise UsageError(f"--map: `{text}` is not condition:STEP/OLD=NEW")
    _demand(text, "step", step, old.steps, "OLD")
    for flow, name, wanted, which in (
        (old, step, condition, "OLD"),
        (new, steps.get(step, step), after, "NEW"),
    ):
        wait = flow.steps[name].wait_for if name in flow.steps else None
        _demand(text, f"condition of {name}:", wanted, [c.id for c in wait.conditions] if wait else [], which)


def _check_unique(kind: str, names: dict[str, str]) -> None:
    """Steps may become one; other things may not."""
    if kind in ("step", "condition"):
        return
    targets = [name for name in names.values() if name != DROPPED]
    for name in targets:
        if targets.count(name) > 1:
            raise UsageError(f"--map: two {kind}s become {name}")
