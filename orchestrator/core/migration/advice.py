"""Which names of the old definition are likely to be which of the new: what `--map` is advised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from orchestrator.core.migration.fitting import Holding, misfit
from orchestrator.core.migration.renaming import DROPPED, Renaming
from orchestrator.definition.model import Attribute, Channel, Flow, Join


def likely_channel(name: str, old: Flow, new: Flow) -> str | None:
    return _only(_fitting(old.channels[name], old.channels, new.channels))


def likely_attribute(name: str, old: Flow, new: Flow) -> str | None:
    return _only(_fitting(old.attributes[name], old.attributes, new.attributes))


def likely_join(name: str, old: Flow, new: Flow) -> str | None:
    return _only(_fitting(old.joins[name], old.joins, new.joins))


def advise(old: Flow, new: Flow, given: Renaming) -> tuple[Renaming, list[str]]:
    """`given`, and what is likely besides; that as `--map` takes it. Steps are seen to where they stand."""
    texts = []
    found = given
    for kind, section, likely in (
        ("channel", "channels", likely_channel),
        ("attribute", "attributes", likely_attribute),
        ("join", "joins", likely_join),
    ):
        names: dict[str, str] = dict(getattr(given, section))
        for name in getattr(old, section):
            if name in getattr(new, section) or name in names:
                continue
            other = likely(name, old, new)
            if other is not None and other not in names.values():
                names[name] = other
                texts.append(f"{kind}:{name}={other}")
        found = replace(found, **{section: names})
    return found, texts


def mapping_text(kind: str, name: str, likely: str | None) -> str:
    """To the likely name; else to drop it."""
    return f"{kind}:{name}={likely if likely is not None else DROPPED}"


Declared = Channel | Attribute | Join


def _fitting(before: Declared, old: Mapping[str, Declared], new: Mapping[str, Declared]) -> Iterator[str]:
    held = Holding(type=before.type)
    is_map = getattr(before, "is_map", False)
    for name, declared in new.items():
        is_same = getattr(declared, "is_map", False) == is_map
        if name not in old and is_same and misfit(held, declared.type) is None:
            yield name


def _only(names: Iterator[str]) -> str | None:
    found = list(names)
    return found[0] if len(found) == 1 else None
