"""Who finds the problems of a code: whom to ask before one is said not to be there."""

from __future__ import annotations

from orchestrator.definition.codes import CODES

FINDERS = ("loader", "rule", "handlers", "verifier", "rehearsal", "suppression")
"""Reading the file, the linter's rules, `lint --handlers`, `verify`, `rehearse`, and reading suppressions."""
_OF_FAMILY = {
    "YML": ("loader",),
    "SCH": ("loader",),
    "TYP": ("loader",),
    "EXP": ("loader",),
    "DEC": ("loader",),
    "RHS": ("rehearsal",),
    "VER": ("verifier",),
    "MET": ("suppression",),
}
_OF_CODE = {
    **dict.fromkeys(("NAM001", "NAM005", "NAM006", "NAM008"), ("loader",)),
    **dict.fromkeys(("REF001", "REF002", "REF003", "REF020", "REF021"), ("loader",)),
    **dict.fromkeys(("REF005", "REF022"), ("rehearsal",)),
    **dict.fromkeys(("REF004", "DAT008"), ("handlers",)),
    **dict.fromkeys(("YML003", "YML007"), ("rule",)),
    **dict.fromkeys(("TOK002", "TOK003", "TOK007"), ("rule", "verifier")),
}


def finders(code: str) -> frozenset[str]:
    """Who can find problems of this code."""
    declared = CODES[code].found_by if code in CODES else ()
    return frozenset(declared or _OF_CODE.get(code) or _OF_FAMILY.get(code[:3], ("rule",)))
