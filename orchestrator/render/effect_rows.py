"""What a method or a decision changes: publishes, writes, reports, locks, cancels, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.definition.durations import format_duration
from orchestrator.definition.model import (
    Handler,
    Lock,
    MethodOverride,
    Options,
    Publish,
    Report,
    RetryPolicy,
    SetAttribute,
)
from orchestrator.graph.labels import value_text
from orchestrator.render.cards import Entry, Tap
from orchestrator.render.metrics import shorten, wrap
from orchestrator.render.style import SMALL_SIZE, WRAP_WIDTH

_KEY_WIDTH = 110.0
_ROOM = WRAP_WIDTH - 17
"""Beside an icon."""


@dataclass(frozen=True, slots=True)
class EffectWriter:
    """Publishes are shown in the `channels` layer only; writes and locks always, wired in `attributes`."""

    layers: frozenset[str]
    colors: Mapping[str, str]
    """Pill colour of each channel."""

    def effect_entries(self, effects: Sequence[object]) -> list[Entry]:
        entries = []
        for effect in effects:
            match effect:
                case Publish() if "channels" in self.layers:
                    suffix = _repeats(effect.for_each is not None, effect.as_name, effect.when is not None)
                    if effect.key is not None:
                        suffix = f"[{shorten(value_text(effect.key), _KEY_WIDTH, SMALL_SIZE)}]{suffix}"
                    entries.append(self._publish_entry(effect.channel, "", suffix))
                case SetAttribute():
                    entries += _set_entries(effect.attribute, _set_text(effect))
                case Report():
                    tap = Tap(f"join:{effect.join}", False, "report", f"reports to {effect.join}")
                    entries.append(Entry(effect.join, "join", SMALL_SIZE, 600, "join", "report to ", tap=tap))
                case _:
                    pass
        return entries

    def may_entries(self, handler: Handler | None) -> list[Entry]:
        """Effects that the handler makes itself."""
        if handler is None or handler.may is None:
            return []
        may = handler.may
        channels = may.publish if "channels" in self.layers else ()
        entries = [self._publish_entry(name, "may publish ") for name in channels]
        entries += [entry for name in may.set for entry in _set_entries(name, f"may set {name}")]
        entries += [Entry(f"may cancel {name}", "muted", SMALL_SIZE, icon="cancel") for name in may.cancel]
        return entries

    def _publish_entry(self, channel: str, prefix: str, suffix: str = "") -> Entry:
        tap = Tap(f"channel:{channel}", False, "publish", f"publishes to {channel}")
        pill = self.colors.get(channel, "0")
        return Entry(prefix + channel + suffix, "ink", SMALL_SIZE, 600, icon="publish", pill=pill, tap=tap)


def handler_entries(handler: Handler | None) -> list[Entry]:
    """Its name, its attempts, its locks."""
    if handler is None:
        return []
    text = " · ".join(part for part in (f"ƒ {handler.name}", attempts_text(handler.retry)) if part)
    names = [Entry(line, "faint", SMALL_SIZE) for line in wrap(text, WRAP_WIDTH, SMALL_SIZE)]
    return names + lock_entries(handler.locks)


def attempts_text(retry: RetryPolicy) -> str:
    if retry.maximum_attempts == 1:
        return "1 attempt"
    if retry.maximum_attempts > 1:
        return f"{retry.maximum_attempts} attempts, {format_duration(retry.initial_interval)} apart"
    return ""


def lock_entries(locks: Sequence[Lock]) -> list[Entry]:
    """All are taken together, and held for one call (rules 104, 105)."""
    entries = []
    for lock in locks:
        tap = Tap(f"attribute:{lock.attribute}", False, "lock", f"locks {lock.attribute}")
        text = shorten(f"locks {lock.attribute}{_key(lock.key)}", _ROOM, SMALL_SIZE)
        entries.append(Entry(text, "attribute", SMALL_SIZE, icon="lock", tap=tap))
    return entries


def option_entries(options: Options | None) -> list[Entry]:
    """What a movement changes for this one execution of its target (rule 118)."""
    if options is None:
        return []
    parts = [f"wait {text}" for text in _override_texts(options.wait_for)] + _override_texts(options.execute)
    if options.on_failure is not None:
        parts.append(f"on failure: {options.on_failure.step}")
    lines = wrap(f"there: {'; '.join(parts)}", _ROOM, SMALL_SIZE, max_lines=3) if parts else []
    return [Entry(line, "muted", SMALL_SIZE, indent=17) for line in lines]


def _override_texts(override: MethodOverride | None) -> list[str]:
    if override is None:
        return []
    texts = [attempts_text(override.retry)] if override.retry is not None else []
    if override.timeout is not None:
        texts.append(f"at most {format_duration(override.timeout)}")
    if override.on_failure is not None:
        texts.append("may fail" if override.on_failure == "proceed" else "must not fail")
    if override.heartbeat is not None:
        texts.append(f"heartbeat {format_duration(override.heartbeat)}")
    if override.locks is not None:
        names = ", ".join(lock.attribute + _key(lock.key) for lock in override.locks)
        texts.append(f"locks {names or 'nothing'}")
    if override.durability is not None:
        texts.append(f"durability {override.durability.value}")
    return [text for text in texts if text]


def _set_entries(attribute: str, text: str) -> list[Entry]:
    tap = Tap(f"attribute:{attribute}", False, "write", f"writes {attribute}")
    first, *others = wrap(text, _ROOM, SMALL_SIZE, max_lines=2)
    head = Entry(first, "attribute", SMALL_SIZE, icon="set", tap=tap)
    return [head, *(Entry(line, "attribute", SMALL_SIZE, indent=17) for line in others)]


def _set_text(effect: SetAttribute) -> str:
    name = effect.attribute + _key(effect.key)
    value = " ".join(value_text(effect.value).split()) or "''"
    text = f"delete {name}" if value == "null" else f"set {name} = {value}"
    return text + _repeats(effect.for_each is not None, effect.as_name, effect.when is not None)


def _key(key: object) -> str:
    return f"[{value_text(key)}]" if key is not None else ""  # type: ignore[arg-type]


def _repeats(is_repeated: bool, name: str, is_guarded: bool) -> str:
    return (f" × each {name}" if is_repeated else "") + (" if …" if is_guarded else "")
