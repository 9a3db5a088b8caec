"""Every code of a definition's problems: its kebab name and what it says in one line. Never reused."""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    name: str
    explanation: str
    severity: str = "error"
    """"error", "warning" or "info"."""
    confidence: str = "proved"
    """"proved", "checked" (within bounds) or "heuristic"."""
    fix: str = ""
    """"safe", "unsafe", or "" where none is offered."""
    found_by: tuple[str, ...] = ()
    """Of FINDERS; empty: as usual in its family, see `finders`."""


CODES: dict[str, Code] = {
    "YML001": Code("syntax-error", "The file is not YAML."),
    "YML002": Code(
        "duplicate-key", "A mapping has the same key twice; YAML readers would silently keep one."
    ),
    "YML004": Code("non-string-key", "Keys of mappings are text; quote numbers, true/false and null."),
    "YML005": Code("alias-limit", "An alias refers to itself, to nothing, or expands to too much."),
    "YML006": Code("multiple-documents", "A file holds one flow: one YAML document."),
    "YML008": Code("tab", "Tabs are refused outside of text and comments: use spaces."),
    "YML009": Code("merge-key", "YAML 1.2 has no merge key `<<`: write the keys out."),
    "YML010": Code("tag", "Tags (`!name`) are refused: values are plain JSON."),
    "YML011": Code("file-too-large", "A definition is at most 1 MiB."),
    "YML012": Code("empty-document", "The file holds no flow."),
    "YML013": Code("unreadable-file", "The file cannot be read, or is not UTF-8."),
    "YML014": Code("control-character", "The file contains a character that YAML does not allow."),
    "YML015": Code("too-deep", "Mappings and lists are nested deeper than 100 levels."),
    "YML016": Code("not-json", "A number that JSON does not have: infinity or not-a-number."),
    "YML017": Code(
        "unquoted-expression", "YAML reads a part of this expression as its own: quote it.", fix="safe"
    ),
    "SCH001": Code(
        "unknown-key", "The key is not known at this place; keys of your own begin with `x-`.", fix="unsafe"
    ),
    "SCH005": Code("exclusive-keys", "These keys cannot stand together."),
    "SCH002": Code("missing-key", "A key that is needed here is absent."),
    "SCH008": Code("misplaced-key", "The key is known, but has no place here."),
    "SCH004": Code("bad-duration", "Not a duration: use `30s`, `1h30m`, `PT1H` or a number of seconds."),
    "SCH003": Code("wrong-type", "The value has the wrong shape, such as a text where a list is asked."),
    "SCH009": Code("unknown-word", "The value is not one of the words known here."),
    "SCH010": Code("bad-number", "The number is outside of what is allowed here."),
    "SCH011": Code("bad-time", "Not a time: use RFC 3339 text or epoch seconds."),
    "SCH012": Code("bad-text", "The text has not the form that is asked here."),
    "SCH013": Code("empty", "An empty list or mapping where something is needed."),
    "SCH007": Code("unsupported-version", "The version of the flow language is not known to this release."),
    "SCH014": Code("repeated", "The same thing is listed twice."),
    "NAM001": Code(
        "reserved-name", "The name is a CEL keyword, a name of the language, or already in scope."
    ),
    "NAM005": Code("duplicate-condition-id", "Ids of conditions are unique in a wait."),
    "NAM006": Code(
        "not-an-identifier", "Names are identifiers: letters, digits and `_`, not beginning with a digit."
    ),
    "NAM008": Code("duplicate-flow", "Two files of a catalogue declare the same flow type."),
    "REF001": Code("unknown-step", "No step of that name is declared.", fix="unsafe"),
    "REF002": Code("unknown-channel", "No channel of that name is declared.", fix="unsafe"),
    "REF003": Code("unknown-attribute", "No attribute of that name is declared.", fix="unsafe"),
    "REF004": Code("unknown-handler", "No Python function of that name can be imported."),
    "REF020": Code("unknown-join", "No join of that name is declared.", fix="unsafe"),
    "REF021": Code(
        "unknown-condition", "No condition of that id is declared under `conditions`.", fix="unsafe"
    ),
    "REF022": Code("unknown-rpc", "No RPC of that name is declared.", fix="unsafe"),
    "RHS001": Code("nothing-to-script", "A rehearsal scripts a handler or choice that its flow has not."),
    "RHS002": Code("undeclared-effect", "A scripted handler does what its `may` does not allow."),
    "RHS003": Code("not-external", "A client of a rehearsal publishes to a channel that is not external."),
    "RHS004": Code("no-flow", "A rehearsal's flow is not there."),
    "TYP001": Code("bad-type", "Not a type: see the list of types, or declare it under `types`."),
    "TYP002": Code(
        "wrong-value", "A value written in the file does not fit the type declared for its place."
    ),
    "TYP003": Code("type-mismatch", "An expression's values do not fit the type declared for their place."),
    "TYP004": Code("missing-input", "A step that takes an input is started without one."),
    "TYP005": Code("unexpected-input", "A step that takes no input is given one."),
    "TYP006": Code("missing-output", "The flow or RPC owes an output, and this gives none."),
    "EXP001": Code("bad-expression", "The expression is not CEL, or reads what is not in scope here."),
    "EXP002": Code("guard-in-braces", "`when` takes a bare expression, without `${…}`.", fix="safe"),
    "DEC001": Code("no-outcome", "A decision says what happens next: it has exactly one outcome."),
    "DEC002": Code("several-outcomes", "A decision has exactly one outcome."),
    "DEC003": Code("repeated-report", "A decision reports at most once to a join."),
    "DEC004": Code("not-in-an-rpc", "An RPC cannot close the run, report, or touch rounds and siblings."),
    "REF005": Code("unknown-subflow", "No step of the flow waits for a subflow of that name."),
    "MET001": Code(
        "unused-suppression",
        "A `# lint: ignore[…]` comment suppresses nothing: remove it.",
        "warning",
        fix="safe",
    ),
    "MET002": Code("suppression-without-reason", "A `# lint: ignore[…]` comment does not say why.", "info"),
    "DAT008": Code("handler-signature", "The function cannot be called as this place calls it."),
    "VER001": Code("deadlock", "Executions wait for what nobody can ever send.", confidence="checked"),
    "VER002": Code("zombie", "The run stays open with nothing left to do.", confidence="checked"),
    "VER003": Code("livelock", "A run goes on for ever and can no longer close.", confidence="checked"),
    "VER004": Code("dead-transition", "No run ever takes this.", "warning", "checked"),
    "VER005": Code(
        "state-limit", "The search was stopped before it had seen every state.", "warning", "checked"
    ),
    "VER006": Code(
        "mutual-exclusion",
        "More branches are inside a critical section than it has room for.",
        confidence="checked",
    ),
    "VER007": Code(
        "property-violated",
        "A property that the author asks for under `verify` does not hold.",
        confidence="checked",
    ),
    "FAI008": Code(
        "force-complete-race",
        "A forced completion may end what is still under way.",
        "warning",
        confidence="checked",
        found_by=("verifier",),
    ),
    "FAI009": Code(
        "graceful-never-completes",
        "Completion was asked for and can never come.",
        confidence="checked",
        found_by=("verifier",),
    ),
    "CHN001": Code(
        "unbounded-growth",
        "Messages or executions pile up without bound.",
        "warning",
        confidence="checked",
        found_by=("verifier",),
    ),
    "CHN002": Code(
        "orphan-at-completion",
        "Messages can be left unread when the run completes.",
        "warning",
        confidence="checked",
        found_by=("verifier",),
    ),
    "JON001": Code(
        "join-unsatisfiable",
        "Fewer reports can come than a join or a counting wait needs.",
        confidence="checked",
        found_by=("verifier",),
    ),
    "JON002": Code(
        "join-too-early",
        "A counting wait can end while reports are still to come.",
        "warning",
        confidence="checked",
        found_by=("verifier",),
    ),
    "JON006": Code(
        "cancelled-branch-never-reports",
        "A cancel takes away a branch for which a join waits.",
        "warning",
        confidence="checked",
        found_by=("verifier",),
    ),
    "DAT005": Code(
        "lost-update",
        "Two handlers that may run at the same time write the same attribute without a common lock.",
        "warning",
        confidence="checked",
        found_by=("verifier",),
    ),
    "ENG001": Code(
        "not-executable-yet", "The language has it, this release's engine does not execute it yet.", "info"
    ),
}

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
    **dict.fromkeys(("REF001", "REF002", "REF003", "REF005", "REF020", "REF021", "REF022"), ("loader",)),
    **dict.fromkeys(("REF004", "DAT008"), ("handlers",)),
    **dict.fromkeys(("YML003", "YML007"), ("rule",)),
}


def finders(code: str) -> frozenset[str]:
    """Who can find problems of this code."""
    declared = CODES[code].found_by if code in CODES else ()
    return frozenset(declared or _OF_CODE.get(code) or _OF_FAMILY.get(code[:3], ("rule",)))
