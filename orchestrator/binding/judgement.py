"""Deeds of a handler that its definition does not allow, or that name what it does not declare."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.binding.context import Context
from orchestrator.binding.loading import judge_reading
from orchestrator.binding.method import Method
from orchestrator.binding.mistakes import hint
from orchestrator.binding.misuse import judge_place, judge_value
from orchestrator.binding.source.deeds import Act, Deed
from orchestrator.binding.verdict import Verdict
from orchestrator.definition.model import May, MayRange

UNDECLARED = "REF011"
UNKNOWN_NAME = "REF012"
LOST_CHANGE = "DAT011"
_NOTHING = May()
_MEMBERS = frozenset(name for name in dir(Context) if not name.startswith("_"))


def judge(method: Method, deed: Deed) -> Verdict | None:
    """None: it is allowed there, or nobody knows what it names."""
    misplaced = judge_place(method, deed)
    if misplaced is not None or deed.name is None or deed.act is Act.SET_LOCAL:
        return misplaced
    if deed.act is Act.MEMBER:
        return _judge_member(deed.name)
    if deed.act is Act.READ_WAIT:
        return _judge_wait(method, deed.name)
    if deed.act in (Act.READ_ENTRIES, Act.READ_MESSAGES):
        return judge_reading(method, deed.act, deed.name)
    known = _known(method, deed.act)
    if deed.name not in known:
        kind = _KINDS[deed.act]
        text = f"{_VERBS[deed.act]} `{deed.name}`, but there is no {kind} of that name"
        return Verdict(UNKNOWN_NAME, text, _advice(deed.name, known))
    if _is_lost(method, deed):
        help = (
            f"assign it back: value = ctx.attributes[{deed.name!r}]; …; ctx.attributes[{deed.name!r}] = value"
        )
        return Verdict(LOST_CHANGE, f"changes a copy of `{deed.name}`, and the change is lost", help)
    verb = _MAY.get(deed.act)
    if verb is None or deed.name in allowed(method, verb):
        return judge_value(method, deed)
    help = f"declare `may: {{{verb}: [{deed.name}]}}` beside the handler, or do it in a decision"
    text = f"{_VERBS[deed.act]} `{deed.name}`, which `may` of {method.owner} does not allow"
    return Verdict(UNDECLARED, text, help)


def _is_lost(method: Method, deed: Deed) -> bool:
    if deed.act is Act.SET_ENTRY:
        return deed.name is not None and not method.flow.attributes[deed.name].is_map
    return deed.act is Act.CHANGE_COPY


def verb_of(deed: Deed) -> str:
    """The key under `may`."""
    return _MAY[deed.act]


def allowed(method: Method, verb: str) -> dict[str, MayRange]:
    may = method.may or _NOTHING
    return dict({"publish": may.publish, "set": may.set, "cancel": may.cancel}[verb])


def acts_of(verb: str) -> tuple[Act, ...]:
    return tuple(act for act, each in _MAY.items() if each == verb)


_VERBS = {
    Act.PUBLISH: "publishes to",
    Act.SET: "writes",
    Act.SET_ENTRY: "writes an entry of",
    Act.CHANGE_COPY: "changes",
    Act.CANCEL: "cancels",
    Act.READ_ATTRIBUTE: "reads",
    Act.READ_CHANNEL: "looks at",
}
_KINDS = {
    Act.PUBLISH: "channel",
    Act.READ_CHANNEL: "channel",
    Act.SET: "attribute",
    Act.SET_ENTRY: "attribute",
    Act.CHANGE_COPY: "attribute",
    Act.READ_ATTRIBUTE: "attribute",
    Act.CANCEL: "step",
}
_MAY = {Act.PUBLISH: "publish", Act.SET: "set", Act.SET_ENTRY: "set", Act.CANCEL: "cancel"}


def _known(method: Method, act: Act) -> Iterable[str]:
    flow = method.flow
    by_kind: dict[str, Iterable[str]] = {
        "channel": flow.channels.keys(),
        "attribute": flow.attributes.keys(),
        "step": flow.steps.keys(),
    }
    return by_kind[_KINDS[act]]


def _judge_member(name: str) -> Verdict | None:
    if name in _MEMBERS or name.startswith("_"):
        return None
    return Verdict(
        UNKNOWN_NAME, f"asks the context for `{name}`, which it does not have", _advice(name, _MEMBERS)
    )


def _judge_wait(method: Method, name: str) -> Verdict | None:
    wait_for = method.flow.steps[method.name].wait_for
    known = [condition.id for condition in wait_for.conditions] if wait_for is not None else []
    if name in known or name in ("get", "keys", "items", "values"):
        return None
    text = f"reads what came of `{name}`, but {method.owner} waits for nothing of that name"
    return Verdict(UNKNOWN_NAME, text, _advice(name, known))


def _advice(name: str, known: Iterable[str]) -> str:
    return hint(name, known).removeprefix("; ")
