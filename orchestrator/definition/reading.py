"""Reading one document: its problems so far, the names it declares, and checks of plain shapes.

Every `read_…` gives None after it has reported a problem, so that callers go on without follow-up noise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from orchestrator.definition.durations import parse_duration
from orchestrator.definition.foreign_keys import hint, key_meant
from orchestrator.definition.keys import KEYS
from orchestrator.definition.model import Json, Path
from orchestrator.definition.nearness import did_you_mean, only_near
from orchestrator.definition.problem import Edit, Fix, LabelledSpan, Problem, Span
from orchestrator.definition.quoting import find_cut_at_comment, has_open_bracket, quoting_of
from orchestrator.definition.reserved import CEL_KEYWORDS, FIXED_NAMES
from orchestrator.definition.respelling import (
    quoting,
    respell_duration,
    respell_flag,
    respell_integer,
    rewriting,
)
from orchestrator.definition.source import Source

if TYPE_CHECKING:
    from orchestrator.definition.types import Type

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)
_KINDS = {
    "step": ("a step", "REF001"),
    "channel": ("a channel", "REF002"),
    "attribute": ("an attribute", "REF003"),
    "join": ("a join", "REF020"),
    "rpc": ("an RPC", "REF022"),
    "type": ("a type", ""),
    "condition": ("a condition", "REF021"),
}


_LOOKS = 50_000
"""Comparisons with known names that one file is worth: a second or two."""


class Reading:
    """`names` maps each kind of name to the names declared, also those whose declaration has problems."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.names: dict[str, Collection[str]] = dict.fromkeys(_KINDS, ())
        self.types: dict[str, Type] = {}
        """Read so far, by their spelling."""
        self._reported: set[Problem] = set()
        self._looks_left = _LOOKS

    # --- Problems -----------------------------------------------------------------------------------------

    def report(
        self,
        code: str,
        path: Path,
        message: str,
        *,
        help: str = "",
        is_about_key: bool = False,
        labels: Mapping[str, Path] | None = None,
        fix: Fix | None = None,
    ) -> None:
        """A problem at a path's value, or at its key."""
        position = self.source.locate(path)
        span = position.key if is_about_key and position.key is not None else position.value
        labelled = tuple(
            LabelledSpan(self.source.path, self.source.locate(at).key or self.source.locate(at).value, label)
            for label, at in (labels or {}).items()
        )
        self.report_at(code, span, message, help=help, spans=labelled, fix=fix)

    def report_at(
        self,
        code: str,
        span: Span,
        message: str,
        *,
        help: str = "",
        spans: tuple[LabelledSpan, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        problem = Problem(code, message, self.source.path, span, help=help, spans=spans, fix=fix)
        if problem not in self._reported:
            self._reported.add(problem)
            self.problems.append(problem)

    def withdraw(self) -> Problem:
        """Takes back the latest problem."""
        problem = self.problems.pop()
        self._reported.discard(problem)
        return problem

    def renaming(self, path: Path, old: str, new: str | None, *, is_key: bool = False) -> Fix | None:
        """Writes `new` where `old` stands by itself, as a key or as a value."""
        position = self.source.locate(path)
        span = position.key if is_key else position.value
        if new is None or _IDENTIFIER.match(new) is None or span is None:
            return None
        if self.source.text_at(span).strip("'\"") != old:
            return None
        return Fix(f"rename `{old}` to `{new}`", (Edit(span, new),), is_safe=False)

    def rewriting(self, path: Path, new: str | None) -> Fix | None:
        """Writes `new` for the value at the path, which can only mean that."""
        return rewriting(self.source, self.source.locate(path).value, new)

    # --- Mappings and lists -------------------------------------------------------------------------------

    def read_mapping(self, node: Json, path: Path, kind: str, what: str) -> Fields | None:
        """A mapping with the keys of `kind`; unknown ones are reported and dropped."""
        if not isinstance(node, dict):
            keys = ", ".join(f"`{key}`" for key in list(KEYS[kind])[:4])
            self.report(
                "SCH003", path, f"{what} is a mapping, not {shown(node)}", help=f"with keys such as {keys}"
            )
            return None
        fields = Fields(self, path, what)
        has_cut_guard = self._report_cut_guard(node, path)
        for key, value in node.items():
            if key in KEYS[kind]:
                fields.values[key] = value
            elif not key.startswith("x-"):
                fields.has_unknown = True
                if not (has_cut_guard and value is None):
                    self._report_unknown_key(key, (*path, key), kind, node, fields)
        return fields

    def _report_cut_guard(self, node: dict[str, Json], path: Path) -> bool:
        """YAML cuts an unquoted guard with a comma in two; the rest of it shows up as keys."""
        guard = node.get("when")
        if not isinstance(guard, str) or not has_open_bracket(guard) or None not in node.values():
            return False
        self.report(
            "YML017",
            (*path, "when"),
            "YAML cut this expression at a comma: quote this expression",
            help='write it in quotes: when: "…"',
            fix=quoting_of(self.source.text, self.source.locate((*path, "when")).value),
        )
        node["when"] = True
        return True

    def report_cut_at_comment(self, path: Path) -> bool:
        """YAML takes ` #` inside an unquoted expression for a comment: what is left is no expression."""
        span = self.source.locate(path).value
        if not has_open_bracket(self.source.text_at(span)):
            return False
        cut = find_cut_at_comment(self.source.text, span)
        if cut is None:
            return False
        at, fix = cut
        message = "YAML cut this expression at ` #`: quote this expression"
        self.report_at("YML017", at, message, help=f"write {fix.edits[0].text}", fix=fix)
        return True

    def _report_unknown_key(
        self, key: str, path: Path, kind: str, node: dict[str, Json], fields: Fields
    ) -> None:
        help = hint(key, kind) or did_you_mean(key, KEYS[kind])
        if not help and len(KEYS[kind]) <= 8:
            help = "known here: " + ", ".join(f"`{known}`" for known in KEYS[kind])
        if not help:
            help = "keys of your own begin with `x-`"
        meant = key_meant(key, kind) or only_near(key, KEYS[kind])
        self.report(
            "SCH001",
            path,
            f"unknown key `{key}` in {fields.what}",
            help=help,
            is_about_key=True,
            fix=self.renaming(path, key, meant, is_key=True) if meant not in node else None,
        )

    def read_list(
        self, node: Json, path: Path, what: str, *, allows_empty: bool = False
    ) -> list[Json] | None:
        if not isinstance(node, list):
            self.report(
                "SCH003", path, f"{what} is a list, not {shown(node)}", help="write `[…]`, or one `- ` a line"
            )
            return None
        if not node and not allows_empty:
            self.report("SCH013", path, f"{what} is empty", help="name at least one, or leave the key out")
            return None
        return node

    def read_named(
        self, node: Json, path: Path, what: str, *, help: str = ""
    ) -> Iterator[tuple[str, Json, Path]]:
        """Entries of a mapping whose keys are the author's; `x-…` keys are theirs alone."""
        if not isinstance(node, dict):
            self.report("SCH003", path, f"{what} is a mapping of names, not {shown(node)}", help=help)
            return
        for name, value in node.items():
            if not name.startswith("x-"):
                yield name, value, (*path, name)

    # --- Plain values -------------------------------------------------------------------------------------

    def read_text(self, node: Json, path: Path, what: str) -> str | None:
        if isinstance(node, str):
            return node
        fix = quoting(self.source, self.source.locate(path).value) if _quote_help(node) else None
        self.report("SCH003", path, f"{what} is text, not {shown(node)}", help=_quote_help(node), fix=fix)
        return None

    def read_flag(self, node: Json, path: Path, what: str) -> bool | None:
        if isinstance(node, bool):
            return node
        help = (
            "in YAML 1.2 only `true` and `false` are booleans" if node in ("yes", "no", "on", "off") else ""
        )
        fix = self.rewriting(path, respell_flag(node))
        self.report("SCH003", path, f"{what} is true or false, not {shown(node)}", help=help, fix=fix)
        return None

    def read_integer(self, node: Json, path: Path, what: str, *, minimum: int = 0) -> int | None:
        if isinstance(node, bool) or not isinstance(node, int):
            fix = self.rewriting(path, respell_integer(node))
            self.report("SCH003", path, f"{what} is a whole number, not {shown(node)}", fix=fix)
            return None
        if node < minimum:
            self.report("SCH010", path, f"{what} is at least {minimum}, not {shown(node)}")
            return None
        if node >= 2**63:
            self.report("SCH010", path, f"{what} is at most {2**63 - 1}, not {shown(node)}")
            return None
        return node

    def read_word(self, node: Json, path: Path, what: str, words: Collection[str]) -> str | None:
        if isinstance(node, str) and node in words:
            return node
        known = ", ".join(f"`{word}`" for word in words)
        help = did_you_mean(node, words) if isinstance(node, str) else ""
        self.report("SCH009", path, f"{what} is one of {known}, not {shown(node)}", help=help)
        return None

    def read_duration(self, node: Json, path: Path, what: str) -> timedelta | None:
        try:
            return parse_duration(node)
        except ValueError as error:
            fix = self.rewriting(path, respell_duration(node) if isinstance(node, str) else None)
            self.report("SCH004", path, f"{what}: {error}", fix=fix)
            return None

    # --- Names --------------------------------------------------------------------------------------------

    def read_identifier(self, node: Json, path: Path, what: str, *, is_key: bool = False) -> str | None:
        """A name that the author chooses."""
        if not isinstance(node, str):
            self.report("SCH003", path, f"{what} is a name, not {shown(node)}", help=_quote_help(node))
            return None
        if _IDENTIFIER.match(node) is None:
            proposal = re.sub(r"[^A-Za-z0-9_]+", "_", node).strip("_")
            proposal = f"_{proposal}" if proposal[:1].isdigit() else proposal
            help = f"write `{proposal}`" if _IDENTIFIER.match(proposal) else "letters, digits and `_`"
            self.report(
                "NAM006", path, f"{what} `{node}` is not an identifier", help=help, is_about_key=is_key
            )
            return None
        if node in CEL_KEYWORDS:
            message = f"{what} `{node}` is a keyword of the expression language"
            self.report("NAM001", path, message, help=f"write `{node}_` or another name", is_about_key=is_key)
            return None
        return node

    def read_scope_name(
        self, node: Json, path: Path, what: str, taken: Collection[str], *, is_key: bool = False
    ) -> str | None:
        """The name of an `as`, a result or a `let`: new in scope."""
        name = self.read_identifier(node, path, what, is_key=is_key)
        if name is None or name not in taken:
            return name
        why = "is a fixed name in expressions" if name in FIXED_NAMES else "is already a name in this scope"
        self.report("NAM001", path, f"{what} `{name}` {why}", help="choose another name", is_about_key=is_key)
        return None

    def read_reference(self, node: Json, path: Path, kind: str, *, is_key: bool = False) -> str | None:
        """The name of a declared step, channel, attribute or join."""
        article, code = _KINDS[kind]
        if not isinstance(node, str):
            self.report(
                "SCH003", path, f"the name of {article} is text, not {shown(node)}", help=_quote_help(node)
            )
            return None
        if node in self.names[kind]:
            return node
        if "${" in node:
            self.report(
                code, path, f"names are literals: {article} is named here, not computed", is_about_key=is_key
            )
            return None
        others = [other for other in _KINDS if node in self.names[other]]
        if others:
            message = f"`{node}` is {_KINDS[others[0]][0]}, not {article}"
        else:
            message = f"no {kind} `{node}` is declared"
        help, meant = self._near(node, self.names[kind])
        if not help and not self.names[kind]:
            help = f"no {kind} is declared at all"
        meant = meant if not others else None
        fix = self.renaming(path, node, meant, is_key=is_key)
        self.report(code, path, message, help=help, is_about_key=is_key, fix=fix)
        return None

    def _near(self, word: str, known: Collection[str]) -> tuple[str, str | None]:
        """What may be meant, in words and surely; nothing any more after very many looks at names."""
        if len(known) > self._looks_left:
            return "", None
        self._looks_left -= len(known)
        return did_you_mean(word, known), only_near(word, known)

    def read_references(self, node: Json, path: Path, kind: str, what: str) -> tuple[str, ...]:
        """A list of names of one kind, each once."""
        names: list[str] = []
        for index, item in enumerate(self.read_list(node, path, what) or []):
            name = self.read_reference(item, (*path, index), kind)
            if name is not None and name in names:
                self.report("SCH014", (*path, index), f"`{name}` is listed twice")
            elif name is not None:
                names.append(name)
        return tuple(names)


class Fields:
    """The known keys of one mapping."""

    def __init__(self, reading: Reading, path: Path, what: str) -> None:
        self.reading = reading
        self.path = path
        self.what = what
        self.values: dict[str, Json] = {}
        self.has_unknown = False

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def __getitem__(self, key: str) -> Json:
        return self.values[key]

    def at(self, key: str) -> Path:
        return (*self.path, key)

    def require(self, key: str, *, help: str = "") -> bool:
        """Whether the key is there; a missing one is reported unless an unknown key may be meant for it."""
        if key in self.values:
            return True
        if not self.has_unknown:
            self.reading.report("SCH002", self.path, f"{self.what} needs `{key}`", help=help)
        return False

    def exclude(self, key: str, others: Collection[str], *, help: str = "") -> bool:
        """Reports every one of `others` that stands beside `key`; whether there was one."""
        found = [other for other in others if other in self.values and other != key]
        for other in found:
            self.reading.report(
                "SCH005",
                self.at(other),
                f"`{other}` and `{key}` cannot stand together in {self.what}",
                help=help,
                is_about_key=True,
                labels={f"`{key}` is here": self.at(key)},
            )
            del self.values[other]
        return bool(found)

    def refuse(self, keys: Collection[str], reason: str, *, code: str = "SCH008", help: str = "") -> None:
        """Reports and drops keys that have no place here."""
        for key in keys:
            if key in self.values:
                self.reading.report(code, self.at(key), f"`{key}` {reason}", help=help, is_about_key=True)
                del self.values[key]

    def text(self, key: str) -> str:
        """An optional text; empty when absent or wrong."""
        if key not in self.values:
            return ""
        return self.reading.read_text(self.values[key], self.at(key), f"`{key}`") or ""

    def flag(self, key: str) -> bool:
        return key in self.values and bool(self.reading.read_flag(self.values[key], self.at(key), f"`{key}`"))

    def duration(self, key: str) -> timedelta | None:
        if key not in self.values:
            return None
        return self.reading.read_duration(self.values[key], self.at(key), f"`{key}`")


def shown(node: Json) -> str:
    """A value in a message: short, and with what it is where that is the point."""
    if node is None:
        return "nothing (null)"
    if isinstance(node, bool):
        return f"`{str(node).lower()}`"
    if isinstance(node, dict):
        return "a mapping"
    if isinstance(node, list):
        return "a list"
    text = str(node)
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`"


def _quote_help(node: Json) -> str:
    if isinstance(node, bool | int | float):
        return f'quote it if it is meant as text: "{str(node).lower() if isinstance(node, bool) else node}"'
    return ""
