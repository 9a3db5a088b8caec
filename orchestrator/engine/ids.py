"""Ids that nobody else has."""

from __future__ import annotations

import os

_COUNT, _SIZE = 256, 16
_VERSION, _VARIANT = 0x4 << 76, 0x2 << 62
_MASK = ~(0xF << 76 | 0x3 << 62)
_drawn: list[bytes] = []
if hasattr(os, "register_at_fork"):  # a child must not go on with what its parent has drawn
    os.register_at_fork(after_in_child=_drawn.clear)


def random_id() -> str:
    """As `str(uuid.uuid4())`. Drawn for many at once: each draw lets other threads have the interpreter."""
    if not _drawn:
        drawn = os.urandom(_COUNT * _SIZE)
        _drawn.extend(drawn[at : at + _SIZE] for at in range(0, len(drawn), _SIZE))
    try:
        number = int.from_bytes(_drawn.pop())
    except IndexError:  # others have taken them all
        return random_id()
    text = f"{number & _MASK | _VERSION | _VARIANT:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
