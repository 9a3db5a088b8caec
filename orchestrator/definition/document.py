"""YAML text to plain JSON with positions: YAML 1.2 core schema, one document, nothing guessed (section 9).

The events come from PyYAML; composing and resolving are our own, because PyYAML keeps the last of two equal
keys, follows YAML 1.1 (`no`, `12:30`) and loses the place of an alias.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any, Protocol

import yaml

from orchestrator.definition.dropping import drop_entry
from orchestrator.definition.model import Json
from orchestrator.definition.problem import Fix, Span, line_starts, split_lines
from orchestrator.definition.quoting import explain_syntax_error, quote_expression_at, quote_key

DEPTH_LIMIT = 100
ALIAS_NODE_LIMIT = 10_000
"""How many nodes all aliases of a file may expand to."""


class Report(Protocol):
    """Takes each problem; `first` is the span of the other place it speaks of."""

    def __call__(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        help: str = "",
        first: Span | None = None,
        fix: Fix | None = None,
    ) -> None: ...


@dataclass(slots=True, eq=False)
class Node:
    span: Span

    @property
    def target(self) -> Node:
        return self

    def entry(self, part: str | int) -> tuple[Span | None, Node] | None:
        """Key span and value node under one part of a path."""
        return None


@dataclass(slots=True, eq=False)
class Scalar(Node):
    value: str
    style: str
    """`'`, `"`, `|`, `>` or empty for a plain one."""


@dataclass(slots=True, eq=False)
class ListNode(Node):
    items: list[Node] = field(default_factory=list)

    def entry(self, part: str | int) -> tuple[Span | None, Node] | None:
        if isinstance(part, int) and 0 <= part < len(self.items):
            return None, self.items[part]
        return None


@dataclass(slots=True, eq=False)
class MappingNode(Node):
    entries: dict[str, tuple[Span, Node]] = field(default_factory=dict)

    def entry(self, part: str | int) -> tuple[Span | None, Node] | None:
        return self.entries.get(part) if isinstance(part, str) else None


@dataclass(slots=True, eq=False)
class AliasNode(Node):
    """Stands where the alias is written; its parts are where the anchor is."""

    of: Node

    @property
    def target(self) -> Node:
        return self.of.target


def compose_document(text: str, report: Report) -> Node | None:
    """The tree of the file's document; problems go to `report`. None when nothing can be read."""
    composer = _Composer(text, report)
    try:
        return composer.compose()
    except yaml.MarkedYAMLError as error:
        root = _compose_without_tabs(text, report)
        if root is None:
            explain_syntax_error(error, text, report)
        return root
    except yaml.YAMLError as error:
        report("YML001", f"not YAML: {error}", Span(1, 1, 1, 1))
    except _TooDeep as error:
        report("YML015", f"nested deeper than {DEPTH_LIMIT} levels", error.span)
    return None


_INDENTING_TABS = re.compile(r"^[ \t]*\t[ \t]*", re.MULTILINE)


def _compose_without_tabs(text: str, report: Report) -> Node | None:
    """The tree of a text that is YAML but for the tabs in its indentation, each of them reported."""
    spaced = _INDENTING_TABS.sub(lambda match: match.group().replace("\t", " "), text)
    if spaced == text:
        return None
    found: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    composer = _Composer(spaced, lambda *words, **more: found.append((words, more)), written=text)
    try:
        root = composer.compose()
    except (yaml.YAMLError, _TooDeep):
        return None
    if not any(words[0] == "YML008" for words, _ in found):
        return None
    for words, more in found:
        report(*words, **more)
    return root


def construct(node: Node, report: Report) -> Json:
    """Plain JSON of a tree. Aliases are expanded up to a limit."""
    return _Constructor(report).construct(node)


_BLOCK_STYLES = ("|", ">")
_ALIAS, _SCALAR = yaml.AliasEvent, yaml.ScalarEvent
_LIST_START, _LIST_END, _MAPPING_END = yaml.SequenceStartEvent, yaml.SequenceEndEvent, yaml.MappingEndEvent


class _TooDeep(Exception):
    def __init__(self, span: Span) -> None:
        super().__init__()
        self.span = span


class _Composer:
    def __init__(self, text: str, report: Report, *, written: str | None = None) -> None:
        """`written`: the author's text, where what is read has spaces for its tabs."""
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._parser = loader(text)
        self._report = report
        self._anchors: dict[str, Node | None] = {}
        """None while the anchored node is still being read."""
        self.scalar_spans: list[Span] = []
        self._text = text if written is None else written
        self._lines = split_lines(self._text)

    def compose(self) -> Node | None:
        parser = self._parser
        parser.get_event()
        if parser.check_event(yaml.StreamEndEvent):
            self._report("YML012", "the file is empty", Span(1, 1, 1, 1), help="declare a flow: `flow: Name`")
            return None
        parser.get_event()
        root = self._node(parser.get_event(), 0)
        parser.get_event()
        self._check_end()
        self._check_tabs()
        return root

    def _check_end(self) -> None:
        try:
            if self._parser.check_event(yaml.StreamEndEvent):
                return
            event = self._parser.get_event()
            span = _span(event.start_mark, event.end_mark)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            if mark is None or "<document start>" not in (error.problem or ""):
                raise
            span = Span(mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 2)
        message = "a second document begins here; a file holds one flow"
        self._report("YML006", message, span, help="put it into a file of its own")

    def _node(self, event: Any, depth: int) -> Node:
        span, kind = _span(event.start_mark, event.end_mark), type(event)
        if depth > DEPTH_LIMIT:
            raise _TooDeep(span)
        if kind is _ALIAS:
            return self._alias(event, span)
        anchor = event.anchor
        if anchor is not None:
            self._anchors[anchor] = None
        if event.tag is not None or (kind is _SCALAR and event.style == "!"):
            self._report_tag(event, span)
        node: Node
        if kind is _SCALAR:
            style = event.style or ""
            self.scalar_spans.append(span)
            if style in _BLOCK_STYLES:
                span = self._trimmed(span)
            node = Scalar(span, event.value, "" if style == "!" else style)
        elif kind is _LIST_START:
            node = self._list(span, depth + 1, bool(event.flow_style))
        else:
            node = self._mapping(span, depth + 1, bool(event.flow_style))
        if anchor is not None:
            self._anchors[anchor] = node
        return node

    def _alias(self, event: Any, span: Span) -> Node:
        target = self._anchors.get(event.anchor)
        if target is not None:
            return AliasNode(span, target)
        if quote_expression_at(self._text, span, "`*` begins an alias in YAML", self._report):
            return Scalar(span, "", "'")
        if event.anchor in self._anchors:
            message = f"alias `*{event.anchor}` stands inside what it refers to"
        else:
            message = f"alias `*{event.anchor}` has no anchor `&{event.anchor}` before it"
        self._report("YML005", message, span, help=f'if this is text, quote it: "*{event.anchor}"')
        return Scalar(span, "", "")

    def _report_tag(self, event: Any, span: Span) -> None:
        if quote_expression_at(self._text, span, "`!` begins a tag in YAML", self._report):
            return
        tag = event.tag or "!"
        shown = tag.replace("tag:yaml.org,2002:", "!!")
        self._report(
            "YML010",
            f"tag `{shown}` is refused: values are plain JSON",
            span,
            help="remove the tag, or quote the text",
        )

    def _list(self, span: Span, depth: int, is_flow: bool) -> Node:
        node = ListNode(span)
        next_event, items = self._parser.get_event, node.items
        event = next_event()
        while type(event) is not _LIST_END:
            items.append(self._node(event, depth))
            event = next_event()
        _close(node, event if is_flow else None, items[-1] if items else None)
        return node

    def _mapping(self, span: Span, depth: int, is_flow: bool) -> Node:
        node = MappingNode(span)
        last: Node | None = None
        next_event = self._parser.get_event
        event = next_event()
        while type(event) is not _MAPPING_END:
            key = self._node(event, depth)
            last = self._node(next_event(), depth)
            self._add(node, key, last)
            event = next_event()
        _close(node, event if is_flow else None, last)
        return node

    def _add(self, node: MappingNode, key: Node, value: Node) -> None:
        if not isinstance(key, Scalar) or not (key.style or _is_text(key.value)):
            shown = f"`{key.value}`" if isinstance(key, Scalar) and key.value else f"this {_kind_of(key)}"
            quoted = f': write "{key.value}"' if isinstance(key, Scalar) and key.value else ""
            message = f"{shown} is not text; keys are text"
            is_new = isinstance(key, Scalar) and key.value not in node.entries
            fix = quote_key(key.span, key.value) if isinstance(key, Scalar) and is_new else None
            self._report("YML004", message, key.span, help=f"quote the key{quoted}", fix=fix)
            return
        if key.value == "<<" and not key.style:
            self._report(
                "YML009",
                "merge key `<<` does not exist in YAML 1.2",
                key.span,
                help="write the keys out, or share a type, a step or a `let`",
            )
            return
        if key.value in node.entries:
            first = node.entries[key.value][0]
            self._report(
                "YML002",
                f"key `{key.value}` is repeated; first at {first.line}:{first.column}",
                key.span,
                help="remove one of the two",
                first=first,
                fix=drop_entry(self._lines, key.span, value.span),
            )
            return
        node.entries[key.value] = (key.span, value)

    def _trimmed(self, span: Span) -> Span:
        """A block scalar's end mark stands before the next token: move it to the end of the text."""
        lines = self._lines[: span.end_line - (1 if span.end_column == 1 else 0)]
        number = len(lines)
        while number > span.line and not lines[number - 1].strip():
            number -= 1
        return Span(span.line, span.column, number, len(lines[number - 1].rstrip()) + 1)

    def _check_tabs(self) -> None:
        if "\t" not in self._text:
            return
        for number, line in enumerate(self._lines, start=1):
            for match in re.finditer("\t+", line):
                column = match.start() + 1
                if "#" in line[: match.start()] or self._is_in_scalar(number, column):
                    continue
                self._report(
                    "YML008",
                    "a tab; YAML is indented and spaced with spaces",
                    Span(number, column, number, match.end() + 1),
                    help="replace it by spaces",
                )

    def _is_in_scalar(self, line: int, column: int) -> bool:
        """Scalars stand in the order of the text, and none inside of another."""
        at = (line, column)
        index = bisect_right(self.scalar_spans, at, key=_start)
        return index > 0 and at < self.scalar_spans[index - 1][2:]


class _Constructor:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._alias_node_count = 0
        self._has_overflowed = False

    def construct(self, node: Node, alias: AliasNode | None = None) -> Json:
        """`alias` is the outermost one that the node is expanded for."""
        if alias is not None:
            self._alias_node_count += 1
        if isinstance(node, Scalar):
            return node.value if node.style else self._resolve(node)
        if isinstance(node, AliasNode):
            alias = alias or node
            if self._alias_node_count <= ALIAS_NODE_LIMIT:
                return self.construct(node.of, alias)
            if not self._has_overflowed:
                self._has_overflowed = True
                message = f"aliases expand to more than {ALIAS_NODE_LIMIT} values"
                help = "write the values out, or declare a type once"
                self._report("YML005", message, alias.span, help=help)
            return None
        if isinstance(node, ListNode):
            return [self.construct(item, alias) for item in node.items]
        if isinstance(node, MappingNode):
            return {key: self.construct(value, alias) for key, (_, value) in node.entries.items()}
        raise AssertionError(node)

    def _resolve(self, node: Scalar) -> Json:
        value = resolve_plain(node.value)
        if isinstance(value, float) and not math.isfinite(value):
            message = f"`{node.value}` is not a JSON number"
            self._report("YML016", message, node.span, help="quote it if it is text")
            return None
        return value


_NULL = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+\Z")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)\Z")
_NAN = {".nan", ".NaN", ".NAN"}
_DIGIT_LIMIT = 400
"""Longer runs of digits are no number anyone writes; they stay far below Python's own conversion limit."""


def resolve_plain(text: str) -> Json:
    """An unquoted scalar by the YAML 1.2 core schema."""
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text[0] not in "-+.0123456789":
        return text
    if text in _NAN or _INFINITY.match(text):
        return math.nan
    if len(text) > _DIGIT_LIMIT and _NUMBER.match(text):
        return math.inf
    if _INTEGER.match(text):
        return int(text)
    if _OCTAL.match(text):
        return int(text[2:], 8)
    if _HEXADECIMAL.match(text):
        return int(text[2:], 16)
    return float(text) if _NUMBER.match(text) else text


def _is_text(plain: str) -> bool:
    """Nearly every key begins with a letter and is a longer word than any that means something else."""
    return (plain[:1].isalpha() and len(plain) > 5) or isinstance(resolve_plain(plain), str)


def _close(node: Node, end: Any, last: Node | None) -> None:
    """`end`: the event of a closing bracket; a node without one ends where its last part does."""
    start = node.span
    if end is not None:
        mark = end.end_mark
        node.span = Span(start.line, start.column, mark.line + 1, mark.column + 1)
    elif last is not None and last.span[2:] > start[:2]:
        node.span = Span(start.line, start.column, last.span.end_line, last.span.end_column)


def _kind_of(node: Node) -> str:
    return {ListNode: "list", MappingNode: "mapping", AliasNode: "alias"}.get(type(node), "empty key")


def _start(span: Span) -> tuple[int, int]:
    return span[:2]


def _span(start: Any, end: Any) -> Span:
    # As Span(…) does, without a call of Python: there is one for every key and value.
    return tuple.__new__(Span, (start.line + 1, start.column + 1, end.line + 1, end.column + 1))


_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def replace_control_characters(text: str) -> tuple[str, list[tuple[Span, str]]]:
    """The text with a mark for each character that YAML does not allow; their places and names."""
    starts = line_starts(text) if _NOT_PRINTABLE.search(text) is not None else []
    found = []
    for match in _NOT_PRINTABLE.finditer(text):
        line = bisect_right(starts, match.start())
        column = match.start() - starts[line - 1] + 1
        found.append((Span(line, column, line, column + 1), f"U+{ord(match.group()):04X}"))
    return _NOT_PRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text), found
