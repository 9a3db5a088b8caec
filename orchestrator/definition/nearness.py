"""The nearest known name, for "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name most like `word`, if one is alike at all."""
    from difflib import get_close_matches

    names = list(known)
    by_lower = {name.lower(): name for name in names}
    if word.lower() in by_lower:
        return by_lower[word.lower()]
    found = get_close_matches(word, names, n=1, cutoff=0.6)
    if found:
        return found[0]
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A help text, empty where nothing is near."""
    name = nearest(word, known)
    return f"did you mean `{name}`?" if name is not None else ""
