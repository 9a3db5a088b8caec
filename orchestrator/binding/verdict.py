"""What is to say of one deed of a handler."""

from __future__ import annotations

from typing import NamedTuple


class Verdict(NamedTuple):
    code: str
    message: str
    """What follows the function's name."""
    help: str
