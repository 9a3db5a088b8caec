"""Rules about names: alike but for case, unlike the rest, unlike the file's (NAM002, NAM003, NAM004)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from orchestrator.definition.catalogue import SUFFIX
from orchestrator.definition.model import Path
from orchestrator.definition.problem import Problem
from orchestrator.definition.symbols import SymbolKind
from orchestrator.lint.facts import Facts
from orchestrator.lint.renaming import rename
from orchestrator.lint.rules import Rule

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LETTERS = 3
"""A shorter word says too little to compare names by."""
_GENERAL = frozenset({"example", "flow", "main", "test", "workflow"})
"""Names of files that promise nothing."""


def find_case_collisions(facts: Facts) -> Iterator[Problem]:
    """NAM002: two names of one kind that differ in case only."""
    for kind, names in _declarations(facts):
        seen: dict[str, tuple[str, Path]] = {}
        for name, path in names:
            other, first = seen.setdefault(name.casefold(), (name, path))
            if other != name:
                yield facts.problem(
                    "NAM002",
                    f"{kind}s `{other}` and `{name}` differ only in case",
                    path,
                    is_key=True,
                    also=[(first, f"`{other}` is declared here")],
                    help="rename one of the two",
                )


def _declarations(facts: Facts) -> Iterator[tuple[str, list[tuple[str, Path]]]]:
    flow = facts.flow
    for kind, key, names in (
        ("step", "steps", flow.steps),
        ("channel", "channels", flow.channels),
        ("attribute", "attributes", flow.attributes),
        ("join", "joins", flow.joins),
        ("RPC", "rpcs", flow.rpcs),
        ("type", "types", flow.types),
    ):
        yield kind, [(name, (key, name)) for name in names]


def check_naming_style(facts: Facts) -> Iterator[Problem]:
    """NAM003: steps `LikeThis`, channels `likeThis`."""
    for kind, key, names, is_upper in (
        (SymbolKind.STEP, "steps", facts.flow.steps, True),
        (SymbolKind.CHANNEL, "channels", facts.flow.channels, False),
    ):
        for name in names:
            styled = in_style(name, is_upper=is_upper)
            if name != styled:
                style = "PascalCase" if is_upper else "camelCase"
                yield facts.problem(
                    "NAM003",
                    f"{kind} `{name}` is not {style}, as names of {kind}s are",
                    (key, name),
                    is_key=True,
                    help=f"rename it to `{styled}`; handlers, clients and runs under way know the old name",
                    fix=rename(facts.symbols, kind, name, styled) if styled not in names else None,
                )


def in_style(name: str, *, is_upper: bool) -> str:
    """`save_edit` as `SaveEdit` or `saveEdit`; a name that is so already stays, capitals inside included."""
    parts = [part for part in name.split("_") if part]
    if not parts:
        return name
    head, *rest = parts
    if len(parts) == 1 and head.isupper() and len(head) > 1 and not is_upper:
        return head.lower()
    first = head[0].upper() if is_upper else head[0].lower()
    return "".join([first + head[1:], *(part[0].upper() + part[1:] for part in rest)])


def check_file_name(facts: Facts) -> Iterator[Problem]:
    """NAM004: the file's name and the flow's have no word in common."""
    file = PurePath(facts.source.path).name
    if not file.endswith(SUFFIX):
        return
    stem = file.removesuffix(SUFFIX)
    if stem.casefold() in _GENERAL or is_alike(stem, facts.flow.name):
        return
    yield facts.problem(
        "NAM004",
        f"flow `{facts.flow.name}` lives in `{file}`, whose name has nothing in common with it",
        ("flow",),
        help=f"call the file `{'_'.join(words(facts.flow.name))}{SUFFIX}`, or rename the flow",
    )


def words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]


def is_alike(one: str, other: str) -> bool:
    """Some word of one is in the other, one is the initials of the other, or one has no long word."""
    first, second = words(one), words(other)
    if not _has_long(first) or not _has_long(second):
        return True
    if _initials(first) == "".join(second) or _initials(second) == "".join(first):
        return True
    return _shares(first, "".join(second)) or _shares(second, "".join(first))


def _has_long(parts: Iterable[str]) -> bool:
    return any(len(part) >= _LETTERS for part in parts)


def _initials(parts: Iterable[str]) -> str:
    return "".join(part[0] for part in parts)


def _shares(parts: Iterable[str], text: str) -> bool:
    return any(len(part) >= _LETTERS and part in text for part in parts)


RULES: list[Rule] = [find_case_collisions, check_naming_style, check_file_name]
