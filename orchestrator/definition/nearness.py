"""The nearest known name, for "did you mean"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_SURE = 0.8
"""Likeness from which a name may be replaced by another."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name most like `word`, if one is alike at all."""
    return _nearest(word, tuple(known))


@lru_cache(maxsize=256)
def _nearest(word: str, names: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in names}
    if word.lower() in by_lower:
        return by_lower[word.lower()]
    found = get_close_matches(word, names, n=1, cutoff=0.6)
    if found:
        return found[0]
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def only_near(word: str, known: Iterable[str]) -> str | None:
    """The one known name that `word` must have been meant for; None where several are as likely."""
    return _only_near(word, tuple(known))


@lru_cache(maxsize=256)
def _only_near(word: str, names: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches

    plain = re.sub("[^a-z0-9]", "", word.lower())
    same = [name for name in names if re.sub("[^a-z0-9]", "", name.lower()) == plain]
    near = same or get_close_matches(word, names, n=2, cutoff=_SURE)
    return near[0] if len(near) == 1 else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A help text, empty where nothing is near."""
    name = nearest(word, known)
    return f"did you mean `{name}`?" if name is not None else ""
