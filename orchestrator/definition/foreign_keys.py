"""Keys that are not known where they stand: what other languages call by that name, and where it belongs.

For the help of SCH001. `go_to` in `execute` stands one level up, `retry` on a step stands under `execute`;
`next` is `go_to` here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orchestrator.definition.keys import KEYS, Named

_ENDS = "`dead_end: true` ends this path, `graceful_complete: output` completes the run"
_OUTCOME_WORDS = {
    "next": "go_to",
    "then": "go_to",
    "to": "go_to",
    "transition": "go_to",
    "transitions": "decide",
    "on_success": "go_to",
    "if": "when",
    "condition": "when",
    "parallel": "go_to_many",
    "fan_out": "go_to_many",
    "foreach": "go_to_many",
    "emit": "publish",
    "send": "publish",
    "signal": "publish",
    "assign": "set",
    "fail": "force_fail",
    "raise": "force_fail",
    "complete": "graceful_complete",
    "succeed": "graceful_complete",
    "return": "graceful_complete",
    "end": _ENDS,
    "final": _ENDS,
    "terminal": _ENDS,
    "stop": _ENDS,
}
_STEP_WORDS = {
    **_OUTCOME_WORDS,
    **dict.fromkeys(
        ("action", "activity", "call", "do", "function", "run", "script", "task", "uses"), "execute"
    ),
    **dict.fromkeys(("catch", "except", "fallback", "on_error", "rescue"), "on_failure"),
    **dict.fromkeys(("await", "pause", "sleep", "wait", "wait_until"), "wait_for"),
    **dict.fromkeys(("branches", "cases", "choices", "match", "switch"), "decide"),
    **dict.fromkeys(
        ("kind", "type"), "steps have no kinds: keys such as `wait_for` and `execute` say what they do"
    ),
    **dict.fromkeys(
        ("args", "arguments", "parameters", "params", "with"),
        "who goes to a step gives its input: `go_to: {step: …, input: …}`",
    ),
    **dict.fromkeys(
        ("after", "depends", "depends_on", "needs", "requires"),
        "steps say what follows (`go_to`), not what they need; a `join` waits for several",
    ),
}
_MOVEMENT_WORDS = {
    "go_to": "step",
    "to": "step",
    "name": "step",
    "target": "step",
    "with": "input",
    "args": "input",
    "parameters": "input",
    "if": "when",
    "foreach": "for_each",
    "each": "for_each",
    "items": "for_each",
    "item": "as",
}
_CONDITION_WORDS = {
    **dict.fromkeys(("event", "message", "queue", "signal"), "channel"),
    **dict.fromkeys(("after", "delay", "duration", "sleep"), "timer"),
    **dict.fromkeys(("at", "deadline"), "timer_at"),
    **dict.fromkeys(("child", "workflow"), "subflow"),
    "count": "for",
    "min": "at_least",
    "max": "at_most",
    "if": "when",
}
_WORDS: dict[str, dict[str, str]] = {
    "flow": {
        **dict.fromkeys(("id", "name", "workflow"), "flow"),
        **dict.fromkeys(("activities", "jobs", "nodes", "stages", "states", "tasks"), "steps"),
        **dict.fromkeys(("entry", "entrypoint", "first", "initial", "start_at"), "start"),
        **dict.fromkeys(("events", "queues", "signals", "topics"), "channels"),
        **dict.fromkeys(("context", "state", "variables", "vars"), "attributes"),
        **dict.fromkeys(("methods", "queries", "updates"), "rpcs"),
        **dict.fromkeys(("code", "module", "modules"), "handlers"),
        **dict.fromkeys(("comment", "doc", "summary", "title"), "description"),
        **dict.fromkeys(("definitions", "schemas"), "types"),
    },
    "attribute": {"default": "initial", "value": "initial", "schema": "type"},
    "channel": {"schema": "type", "public": "external", "limit": "capacity", "size": "capacity"},
    "step": _STEP_WORDS,
    "on_timeout": _STEP_WORDS,
    "decision": {
        **_OUTCOME_WORDS,
        "case": "when",
        **dict.fromkeys(
            ("default", "else"), "the last decision of the list, without `when`, is taken when no other is"
        ),
    },
    "execute": {
        **dict.fromkeys(("call", "function", "name", "run"), "handler"),
        **dict.fromkeys(("attempts", "max_attempts", "retries"), "`retry: {maximum_attempts: …}`"),
    },
    "retry": {
        **dict.fromkeys(("attempts", "max_attempts", "retries"), "maximum_attempts"),
        **dict.fromkeys(("delay", "interval"), "initial_interval"),
        **dict.fromkeys(("backoff_rate", "factor", "multiplier"), "backoff_coefficient"),
        **dict.fromkeys(("max_delay", "max_interval"), "maximum_interval"),
    },
    "wait_for": {"any": "any_of", "or": "any_of", "all": "all_of", "and": "all_of"},
    "route": _MOVEMENT_WORDS,
    "target": _MOVEMENT_WORDS,
    "movement": _MOVEMENT_WORDS,
    "publish": {"to": "channel", "name": "channel", "message": "value", "payload": "value", "body": "value"},
    "set": {"name": "attribute", "to": "value"},
    **{kind: _CONDITION_WORDS for kind in KEYS if kind.endswith("condition")},
}
_RARE = ("on_timeout", "rpcs", "verify", "otherwise")
"""What has the same keys as something that was more likely meant."""
_SPELLED_OUT = str.maketrans("", "", "_-")


def key_meant(key: str, kind: str) -> str | None:
    """The key of `kind` that other languages call so."""
    word = _word(key, kind)
    return word if word in KEYS[kind] else None


def hint(key: str, kind: str) -> str:
    """What to write for `key`, or where; empty: nothing is known of it."""
    if meant := key_meant(key, kind):
        return f"here it is called `{meant}`"
    return (
        _word(key, kind)
        or _below(key, kind, _children(kind))
        or _above(key, kind)
        or _below(key, kind, _grandchildren(kind))
    )


def _word(key: str, kind: str) -> str:
    plain = key.translate(_SPELLED_OUT).lower()
    for word, said in _WORDS.get(kind, {}).items():
        if word.translate(_SPELLED_OUT) == plain and (said in KEYS[kind] or "`" in said):
            return said
    return ""


def _below(key: str, kind: str, places: Iterable[tuple[tuple[str, ...], str]]) -> str:
    """It stands in a mapping that is in this one."""
    found = sorted((place for place, inner in places if key in KEYS[inner]), key=_is_unlikely)
    if not found:
        return ""
    if kind == "flow" and found[0][0] == "steps":
        return "it belongs to a step" + "".join(f", under `{name}`" for name in found[0][1:])
    return "it stands under " + " or ".join(f"`{': '.join(place)}`" for place in found[:2])


def _is_unlikely(place: tuple[str, ...]) -> bool:
    return "execute" not in place


def _above(key: str, kind: str) -> str:
    """It stands beside what this mapping stands under."""
    kind = "condition" if kind.endswith(" condition") else kind
    beside = [
        name for outer in KEYS for (name,), inner in _children(outer) if inner == kind and key in KEYS[outer]
    ]
    return f"it stands one level up, beside `{beside[0]}`" if beside else ""


def _children(kind: str) -> Iterator[tuple[tuple[str], str]]:
    """Keys of `kind` with mappings of the language under them: place, kind of mapping."""
    for name, shape in KEYS[kind].items():
        inner = shape.of if isinstance(shape, Named) else shape
        if isinstance(inner, str) and name not in _RARE:
            yield (name,), inner


def _grandchildren(kind: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for place, inner in _children(kind):
        for further, innermost in _children(inner):
            yield (*place, *further), innermost
