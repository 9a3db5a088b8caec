"""What is wrong with an expression, where, and what to write instead."""

from __future__ import annotations

import re

from orchestrator.definition.cel_tree import Node
from orchestrator.definition.kinds import Kind


class ExpressionProblem(Exception):
    """Something is wrong with an expression; offsets count from 0 in the text that was given.

    `at` is where that text stands inside the node that was parsed.
    """

    def __init__(
        self, message: str, offset: int = 0, end_offset: int = 0, help: str = "", instead: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.end_offset = end_offset
        self.help = help
        self.instead = instead
        """The one name that must have been meant."""
        self.at: tuple[str | int, ...] = ()


USES = {
    "has": "`has(a.b)`", "all": "`list.all(x, condition)`", "exists": "`list.exists(x, condition)`",
    "exists_one": "`list.exists_one(x, condition)`", "map": "`list.map(x, value)`",
    "filter": "`list.filter(x, condition)`", "cel.bind": "`cel.bind(name, value, result)`",
    "optMap": "`optional.optMap(x, value)`", "optFlatMap": "`optional.optFlatMap(x, optional)`",
    "math.greatest": "`math.greatest(a, b)`", "math.least": "`math.least(a, b)`",
}  # fmt: skip


def no_field(shown: str, name: str, kind: Kind) -> tuple[str, str]:
    if kind.name == "list":
        return (
            f"{shown} is a list, it has no field `{name}`",
            f"read one element, `[0].{name}`, or all, `.map(x, x.{name})`",
        )
    if kind.name == "null":
        return f"{shown} is always null here, it has no field `{name}`", ""
    if kind.name == "timestamp":
        return f"{shown} is a time, it has no field `{name}`", "parts of a time are methods: `.getFullYear()`"
    return f"{shown} is {kind.word}, it has no field `{name}`", ""


def boolean_help(kind: Kind) -> str:
    if kind.name == "optional":
        return "write `.hasValue()` or `.orValue(…)`"
    if kind.name in ("int", "double"):
        return "compare it: `!= 0`"
    if kind.name == "string":
        return 'compare it: `!= ""`'
    if kind.name in ("list", "map"):
        return "compare its size: `size(…) > 0`"
    return ""


def conversion_help(kind: Kind, asked: frozenset[str]) -> str:
    if kind.name == "optional":
        return "give it a value: `.orValue(…)`"
    if kind.name == "int" and "double" in asked:
        return "write `double(…)` around it"
    if kind.name == "double" and "int" in asked:
        return "write `int(…)` around it"
    if kind.name == "string" and "timestamp" in asked:
        return "write `timestamp(…)` around it"
    return (
        "write `string(…)` around it" if "string" in asked and kind.name in ("int", "double", "bool") else ""
    )


def span_of(node: Node, text: str) -> tuple[int, int]:
    """Where a node's own token stands: the name, the operator, the function's name."""
    at = min(node.at, max(len(text) - 1, 0))
    if text[at : at + 1] == "(":
        before = re.search(r"[A-Za-z_]\w*\s*$", text[:at])
        if before is not None:
            return before.start(), before.start() + len(before[0].rstrip())
    if text[at : at + 1] == "." and (after := re.match(r"\.\s*\??\s*(\w+)", text[at:])) is not None:
        return at + after.start(1), at + after.end(1)
    token = re.match(r"\w+(?:\.\d+)?|\"[^\"]*\"|'[^']*'|[=!<>&|]+|.", text[at:], re.DOTALL)
    return at, at + (len(token[0]) if token is not None else 1)
