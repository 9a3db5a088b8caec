"""The names of a flow in the rehearsals beside it: enough to rename them, without understanding the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as FilePath

from orchestrator.definition.catalogue import SUFFIX as FLOW_SUFFIX
from orchestrator.definition.model import Json, Path
from orchestrator.definition.parse import read_document
from orchestrator.definition.problem import Edit, Span
from orchestrator.definition.source import Source
from orchestrator.definition.symbols import Symbol, SymbolKind

SUFFIX = ".rehearsal.yaml"
_DATA = ("input", "returns", "output", "outputs", "local", "value", "error", "description", "name")
"""What the author's own values stand under; nothing in them is a name."""
_KEYS: dict[SymbolKind, tuple[str, ...]] = {
    SymbolKind.STEP: ("handlers", "counts"),
    SymbolKind.CHANNEL: ("publish", "messages"),
    SymbolKind.ATTRIBUTE: ("set", "attributes"),
    SymbolKind.RPC: ("handlers",),
}
"""Mappings whose keys are names of the kind."""
_VALUES: dict[SymbolKind, tuple[str, ...]] = {
    SymbolKind.STEP: ("path", "contains", "after", "after_wait", "execution", "retry_now", "cancel"),
    SymbolKind.CHANNEL: ("channel",),
    SymbolKind.RPC: ("rpc",),
}
_SHAPES = {
    SymbolKind.STEP: r"({name})(?:\.wait_for|-\d+)?",
    SymbolKind.CHANNEL: r"({name})",
    SymbolKind.ATTRIBUTE: r"({name})",
    SymbolKind.RPC: r"(?:rpc\.)?({name})",
}


def rehearsal_of(flow_file: FilePath) -> FilePath | None:
    """The file beside a flow, whether it exists or not."""
    if not flow_file.name.endswith(FLOW_SUFFIX):
        return None
    return flow_file.with_name(flow_file.name.removesuffix(FLOW_SUFFIX) + SUFFIX)


def rehearsal_edits(text: str, symbol: Symbol, new_name: str) -> list[Edit]:
    """None for kinds that rehearsals do not name, or a text that is not YAML."""
    shape = _SHAPES.get(symbol.kind)
    source, document, _ = read_document(text, "")
    if shape is None or source.is_unreadable:
        return []
    pattern = re.compile(shape.format(name=re.escape(symbol.name)))
    spans = dict.fromkeys(_spans(source, document, (), symbol.kind, pattern))
    return [Edit(span, new_name) for span in spans if source.text_at(span) == symbol.name]


def _spans(
    source: Source, node: Json, path: Path, kind: SymbolKind, pattern: re.Pattern[str]
) -> Iterator[Span]:
    under = next((part for part in reversed(path) if isinstance(part, str)), "")
    if isinstance(node, dict):
        for key, value in node.items():
            at = (*path, key)
            if under in _KEYS.get(kind, ()) and (found := pattern.fullmatch(key)) is not None:
                yield from _key_span(source, at, found.span(1))
            if key not in _DATA or under in _KEYS.get(kind, ()):
                yield from _spans(source, value, at, kind, pattern)
    elif isinstance(node, list):
        for index, item in enumerate(node):
            yield from _spans(source, item, (*path, index), kind, pattern)
    elif isinstance(node, str) and under in _VALUES.get(kind, ()):
        found = pattern.fullmatch(node)
        if found is not None:
            yield source.locate_within(path, *found.span(1))


def _key_span(source: Source, path: Path, bounds: tuple[int, int]) -> Iterator[Span]:
    key = source.locate(path).key
    if key is not None:
        shift = 1 if source.text_at(key)[:1] in ("'", '"') else 0
        start, end = (key.column + shift + bound for bound in bounds)
        yield Span(key.line, start, key.line, end)
