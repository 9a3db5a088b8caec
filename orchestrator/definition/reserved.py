"""Names that an author cannot choose."""

from __future__ import annotations

CEL_KEYWORDS = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
"""CEL's literals and reserved words: none of them can be a name."""
FIXED_NAMES = frozenset(
    [
        "input",
        "wait",
        "attributes",
        "channels",
        "local",
        "failure",
        "wait_for_failed",
        "run",
        "step",
        "now",
        "result",
        "steps",
        "regions",
        "reports",
    ]
)
"""In scope by themselves, or kept for later: never an `as`, result or `let` name."""
