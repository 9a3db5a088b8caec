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
    """Of FINDERS in finders.py; empty: as usual in its family."""


CODES: dict[str, Code] = {
    "YML001": Code("syntax-error", "The file is not YAML."),
    "YML002": Code(
        "duplicate-key", "A mapping has the same key twice; YAML readers silently keep one.", fix="unsafe"
    ),
    "YML003": Code(
        "ambiguous-scalar",
        "Unquoted, and something else to readers of YAML 1.1.",
        "warning",
        fix="safe",
        found_by=("rule",),
    ),
    "YML004": Code(
        "non-string-key", "Keys of mappings are text; quote numbers, true/false and null.", fix="safe"
    ),
    "YML005": Code("alias-limit", "An alias refers to itself, to nothing, or expands to too much."),
    "YML006": Code("multiple-documents", "A file holds one flow: one YAML document."),
    "YML007": Code(
        "unseen-text",
        "A last line without end, or invisible characters.",
        "warning",
        fix="safe",
        found_by=("rule",),
    ),
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
    "SCH004": Code(
        "bad-duration", "Not a duration: use `30s`, `1h30m`, `PT1H` or a number of seconds.", fix="safe"
    ),
    "SCH003": Code(
        "wrong-type", "The value has the wrong shape, such as a text where a list is asked.", fix="safe"
    ),
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
    "NAM002": Code("case-collision", "Two names of one kind differ in case only."),
    "NAM003": Code("naming-style", "Steps are named LikeThis, channels likeThis.", "info", fix="unsafe"),
    "NAM004": Code(
        "id-file-mismatch", "The flow and its file have no word in common.", "warning", "heuristic"
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
    "REF010": Code(
        "unused-handler",
        "A public function of a `handlers` module is the handler of no step.",
        "info",
        "heuristic",
        found_by=("handlers",),
    ),
    "REF011": Code(
        "undeclared-write",
        "A handler writes, publishes or cancels what `may` beside it does not allow.",
        "error",
        "heuristic",
        "unsafe",
        ("handlers",),
    ),
    "REF012": Code(
        "name-not-declared",
        "A handler's source names a channel, attribute, step or condition that the flow does not declare.",
        "error",
        "heuristic",
        found_by=("handlers",),
    ),
    "REF013": Code(
        "choice-of-no-decision",
        "A handler chooses a word that no decision has.",
        "error",
        "heuristic",
        found_by=("handlers",),
    ),
    "REF014": Code(
        "unused-choice",
        "A decision is for a choice that its handler never makes.",
        "info",
        "heuristic",
        found_by=("handlers",),
    ),
    "REF015": Code(
        "noisy-import", "A module of handlers prints while it is imported.", "warning", found_by=("handlers",)
    ),
    "REF016": Code(
        "slow-import",
        "A module of handlers takes more than a second to import.",
        "info",
        "checked",
        found_by=("handlers",),
    ),
    "REF017": Code(
        "effect-never-done",
        "`may` allows or demands an effect that its handler never has.",
        "info",
        "heuristic",
        found_by=("handlers",),
    ),
    "REF006": Code(
        "unused-channel", "A channel that nothing waits on and nothing publishes to.", "warning", fix="safe"
    ),
    "REF007": Code("never-published-channel", "A step waits on a channel that nothing can publish to."),
    "REF008": Code("never-consumed-channel", "Messages are published that no step waits on.", "warning"),
    "REF009": Code(
        "unused-attribute", "An attribute that nothing reads or nothing writes.", "warning", fix="safe"
    ),
    "REF020": Code("unknown-join", "No join of that name is declared.", fix="unsafe"),
    "REF021": Code(
        "unknown-condition", "No condition of that id is declared under `conditions`.", fix="unsafe"
    ),
    "REF022": Code("unknown-rpc", "No RPC of that name is declared.", fix="unsafe"),
    "GRA001": Code("unreachable-step", "No way leads to the step.", fix="unsafe"),
    "GRA002": Code("no-terminal", "No decision ever completes or fails a run."),
    "GRA003": Code(
        "dead-guard", "A guard that decides nothing: it is constant, or too late.", "warning", fix="safe"
    ),
    "GRA004": Code(
        "non-exhaustive-guards", "A list of decisions or movements of which none may be left.", fix="unsafe"
    ),
    "GRA005": Code(
        "overlapping-guards", "Two guards on one thing can both hold; the first one wins.", "warning"
    ),
    "GRA006": Code("busy-loop", "A cycle that never waits: it has no way out, or waits by spinning."),
    "GRA007": Code("failure-route-cycle", "Failure routes lead in a circle.", "warning"),
    "GRA008": Code(
        "duplicate-goto", "A fan-out goes to one step twice with the same input.", "warning", fix="unsafe"
    ),
    "GRA009": Code("only-dead-ends", "The only line of a run goes where nobody completes it.", "warning"),
    "GRA010": Code(
        "fan-out-without-join", "A branch completes the run without waiting for the others.", "info"
    ),
    "GRA011": Code("complexity", "The flow is too large to be followed at a glance.", "info"),
    "GRA012": Code(
        "start-step-reentered", "A movement back to the start step seeds a channel again.", "warning"
    ),
    "WAI001": Code(
        "empty-wait", "A wait without conditions and effects: it holds at once.", "warning", fix="safe"
    ),
    "WAI002": Code(
        "unbounded-wait", "A step waits for the outside only, without limit.", "warning", fix="unsafe"
    ),
    "WAI003": Code(
        "timer-after-timeout",
        "A timer no shorter than the timeout of the run never fires.",
        "warning",
        "heuristic",
    ),
    "WAI004": Code(
        "shadowed-alternative", "An alternative that another one always forestalls.", "warning", fix="safe"
    ),
    "WAI005": Code("zero-timer-wins", "A timer of no length among alternatives: it always wins."),
    "WAI006": Code(
        "same-channel-twice",
        "Two conditions of one combination take from one channel.",
        "warning",
        fix="safe",
    ),
    "WAI007": Code("for-zero", "A wait for 0 messages holds at once.", "warning"),
    "WAI008": Code("timer-unused-result", "Whether the timer fired makes no difference.", "info"),
    "WAI009": Code("wait-result-unread", "A message is taken and never read.", "info"),
    "WAI010": Code("at-most-always-true", "A minimum of 0 holds at once; alternatives never win.", "warning"),
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
    "EXP001": Code(
        "bad-expression", "The expression is not CEL, or reads what is not in scope here.", fix="unsafe"
    ),
    "EXP002": Code("guard-in-braces", "`when` takes a bare expression, without `${…}`.", fix="safe"),
    "DEC001": Code("no-outcome", "A decision says what happens next: it has exactly one outcome."),
    "DEC002": Code("several-outcomes", "A decision has exactly one outcome."),
    "DEC003": Code("repeated-report", "A decision reports at most once to a join."),
    "DEC004": Code("not-in-an-rpc", "An RPC cannot close the run, report, or touch rounds and siblings."),
    "DEC005": Code(
        "returns-without-choice",
        "A handler can return without a choice where every decision is for one.",
        "error",
        "heuristic",
        found_by=("handlers",),
    ),
    "REF005": Code("unknown-subflow", "No step of the flow waits for a subflow of that name."),
    "MET001": Code(
        "unused-suppression",
        "A `# lint: ignore[…]` comment suppresses nothing: remove it.",
        "warning",
        fix="safe",
    ),
    "MET002": Code("suppression-without-reason", "A `# lint: ignore[…]` comment does not say why.", "info"),
    "TOK001": Code("token-not-seeded", "A step waits for a token that nobody has put there.", fix="unsafe"),
    "TOK002": Code("token-leak", "A branch ends while it holds a token.", fix="safe"),
    "TOK003": Code("double-release", "A branch gives back a token that it does not hold.", fix="safe"),
    "TOK004": Code("reacquire", "A branch waits for a token while it holds it: it waits for itself."),
    "TOK005": Code("split-while-holding", "Several branches are started while holding one token."),
    "TOK006": Code("path-dependent-holding", "A step is reached both holding a token and not holding it."),
    "TOK007": Code("cancel-of-holder", "A step can be cancelled while it holds a token."),
    "TOK008": Code(
        "work-in-handoff", "A step that can be cancelled takes a token and works with it.", "warning"
    ),
    "TOK009": Code(
        "waitfor-failure-in-section", "A wait inside a section can fail the run.", "warning", fix="unsafe"
    ),
    "TOK010": Code("over-seeded", "More tokens are seeded than may be out at once.", fix="unsafe"),
    "TOK011": Code("section-order", "Two sections are entered in opposite orders: a deadlock."),
    "TOK012": Code("rpc-publishes-token", "Somebody who holds no token publishes one."),
    "TOK013": Code("flag-as-lock", "An attribute is tested and set as a lock.", "warning", "heuristic"),
    "CHN004": Code("mixed-use-channel", "A channel carries both tokens and data.", "warning", "heuristic"),
    "CHN005": Code(
        "self-feeding-wait", "Whoever publishes to a channel has waited for it before: nobody is first."
    ),
    "CHN006": Code(
        "external-writes-internal",
        "An RPC publishes to a channel whose messages from steps are counted.",
        "warning",
        "heuristic",
    ),
    "JON003": Code(
        "join-count-mismatch", "A counting wait awaits another number than branches are started.", "warning"
    ),
    "JON004": Code(
        "branch-exit-without-report", "A branch that something awaits ends without a report.", fix="unsafe"
    ),
    "JON005": Code("double-report", "One branch can report twice to a counting wait.", "warning"),
    "JON007": Code(
        "branch-reaches-own-split", "A branch loops back through the step that opened its round.", "warning"
    ),
    "JON008": Code(
        "go-to-joining-step", "A step that waits on a join is reached where no round is faced.", fix="unsafe"
    ),
    "FAI001": Code(
        "missing-failure-route", "A failing step fails the run, where others have a way out.", "info"
    ),
    "FAI002": Code(
        "branch-failure-kills-flow",
        "A step that holds a token has no failure route: its failure ends every branch.",
        "warning",
        fix="unsafe",
    ),
    "FAI003": Code("route-same-step", "A step is its own failure route."),
    "FAI004": Code(
        "recovery-not-sync",
        "A step with a failure route is always sync: `durability: async` is without effect.",
        "warning",
        fix="safe",
    ),
    "FAI007": Code("retry-longer-than-timeout", "Retries go on for longer than the run may take.", "warning"),
    "FAI010": Code(
        "cancel-self-or-child",
        "A decision cancels what it starts, or itself: no effect.",
        "warning",
        fix="safe",
    ),
    "FAI011": Code("cancel-unstarted", "A cancelled step can never be active at that moment.", "warning"),
    "FAI013": Code("no-flow-timeout", "A run can wait for ever for a call that never comes.", "info"),
    "DAT004": Code(
        "read-before-write", "An attribute may be unset where its value is needed.", "warning", "heuristic"
    ),
    "DAT006": Code(
        "lock-over-wait", "A lock is released between two steps that both need it.", "info", "heuristic"
    ),
    "FAI012": Code(
        "heartbeat-missing",
        "A handler gives no heartbeat where one is declared, or where it may take long and be cancelled.",
        "info",
        "heuristic",
        found_by=("handlers",),
    ),
    "FAI014": Code(
        "handler-swallows-cancel",
        "A long handler would not notice that its result is no longer wanted.",
        "info",
        "heuristic",
        found_by=("handlers",),
    ),
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
    "CHN003": Code(
        "leftover-lost-on-force",
        "A forced completion can drop unread messages.",
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
    "DAT010": Code(
        "handler-result",
        "A wait_for handler returns no wait, or another handler returns one.",
        "error",
        "heuristic",
        found_by=("handlers",),
    ),
    "DAT011": Code(
        "lost-change",
        "A handler changes a copy of an attribute and does not assign it back.",
        "warning",
        "heuristic",
        found_by=("handlers",),
    ),
    "DAT012": Code(
        "not-loaded",
        "A handler reads map entries or messages that `loads` beside it does not ask for.",
        "error",
        "heuristic",
        found_by=("handlers",),
    ),
    "DAT013": Code(
        "not-in-this-handler",
        "A handler uses what its place does not have: a wait, locals, heartbeats, a connection.",
        "error",
        "heuristic",
        found_by=("handlers",),
    ),
    "DAT014": Code(
        "value-of-wrong-type",
        "A handler writes or publishes a literal that the declared type does not take, or leaves out a key.",
        "error",
        "heuristic",
        found_by=("handlers",),
    ),
    "ENG001": Code(
        "not-executable-yet", "The language has it, this release's engine does not execute it yet.", "info"
    ),
}
