"""What the editor shows about the thing under the pointer, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path as FilePath

from orchestrator.definition.durations import parse_duration
from orchestrator.definition.model import Json, Path
from orchestrator.definition.problem import Span
from orchestrator.definition.symbols import Mention, SymbolKind, SymbolTable
from orchestrator.definition.type_text import compact
from orchestrator.lsp.data_places import description_of, kind_at
from orchestrator.lsp.document import Document, moved_span
from orchestrator.lsp.expression_scope import describe_kind, environment_at, kind_of_text
from orchestrator.lsp.flow_files import flows_beside
from orchestrator.lsp.handler_source import find_handler, find_module, search_directories
from orchestrator.lsp.schema_places import default_at, describe_place, is_duration, values_at
from orchestrator.lsp.symbol_text import describe_symbol

_FIXED_NAMES = {
    "input": "What this step or RPC was given.",
    "attributes": "The run's attributes; unset ones are null.",
    "channels": "The run's channels: `channels.name.size` is how many messages are unread.",
    "wait": "The results of the wait, by condition: `wait.id.satisfied`, `.message`, `.messages`.",
    "local": "What the wait kept with `local`.",
    "failure": "Why the step before failed: `type`, `message`, `attempts`, `step_execution_id`, `progress`.",
    "wait_for_failed": "Whether the wait failed and the step went on.",
    "run": "The run: `flow_id`, `run_id`, `attempt`, `started_at`, `input` (the start input).",
    "step": "This step execution: `name`, `execution_id`, `attempt`.",
    "now": "The time of the commit.",
}


@dataclass(frozen=True)
class Hover:
    text: str
    span: Span


def hover_at(document: Document, line: int, column: int, roots: Sequence[FilePath] = ()) -> Hover | None:
    """None where there is nothing to say."""
    mention = document.mention_at(line, column)
    if mention is not None and mention.is_written:
        text = describe_mention(document, mention, roots)
        if text:
            return Hover(text, mention.span)
    return _hover_place(document, line, column)


def describe_mention(document: Document, mention: Mention, roots: Sequence[FilePath] = ()) -> str:
    table = document.table
    assert table is not None
    match mention.symbol.kind:
        case SymbolKind.HANDLER:
            return describe_handler(document, mention.symbol.name, roots)
        case SymbolKind.MODULE:
            file = find_module(mention.symbol.name, search_directories(FilePath(document.path), roots))
            where = f"`{file}`" if file is not None else "It is not found from here."
            return f"**module** `{mention.symbol.name}`\n\nWhere bare handler names are looked up. {where}"
        case SymbolKind.FLOW if not mention.is_declaration:
            return describe_subflow(document, mention.symbol.name)
        case SymbolKind.NAME | SymbolKind.FIELD | SymbolKind.LET | SymbolKind.RESULT | SymbolKind.ELEMENT:
            return _describe_expression(document, mention)
        case SymbolKind.CONDITION if mention.chain:
            described = describe_symbol(table, mention.symbol)
            return f"{described}\n\n{_type_lines(document, mention)}".strip()
        case _:
            return describe_symbol(table, mention.symbol)


def describe_subflow(document: Document, name: str) -> str:
    found = flows_beside(FilePath(document.path)).get(name)
    if found is None:
        return f"**flow** `{name}`\n\nNo flow of this type is in the directory."
    described = "\n\n".join([found.description, ""]) if found.description else ""
    return f"**flow** `{name}`\n\n{described}`{found.path.name}`"


def describe_handler(document: Document, name: str, roots: Sequence[FilePath]) -> str:
    table = document.table
    found = find_handler(name, modules_of(table), search_directories(FilePath(document.path), roots))
    if found is None:
        return f"**handler** `{name}`\n\nNo Python function of this name is found from here."
    parts = [f"```python\n{found.signature}\n```" if found.signature else f"**handler** `{name}`"]
    parts += [found.description] if found.description else []
    parts.append(f"`{found.file.name}:{found.line}`")
    return "\n\n".join(parts)


def modules_of(table: SymbolTable | None) -> list[str]:
    found = table.node(("handlers",)) if table is not None else None
    return [each for each in ([found] if isinstance(found, str) else found or []) if isinstance(each, str)]


def _describe_expression(document: Document, mention: Mention) -> str:
    name = ".".join(mention.chain) if mention.chain else mention.symbol.name
    word = mention.symbol.kind.value
    parts = [f"`{name}`" if word in ("name", "field") else f"**{word}** `{name}`"]
    parts.append(_type_lines(document, mention))
    if mention.symbol.kind is SymbolKind.NAME:
        parts.append(_FIXED_NAMES.get(name, ""))
    elif mention.symbol.kind is not SymbolKind.FIELD and document.table is not None:
        parts.append(describe_symbol(document.table, mention.symbol))
    return "\n\n".join(part for part in parts if part)


def _type_lines(document: Document, mention: Mention) -> str:
    flow, table = document.flow, document.table
    if flow is None or table is None:
        return ""
    path: Path = mention.path
    if not mention.chain and mention.symbol.kind is SymbolKind.ELEMENT:
        path = (*path[:-1], "when")  # `as` itself stands outside of what it names
    text = ".".join(mention.chain) if mention.chain else mention.symbol.name
    kind = kind_of_text(text, environment_at(flow, table, path))
    return describe_kind(kind) if kind is not None else ""


# --- Keys and plain values ---------------------------------------------------------------------------------


def _hover_place(document: Document, line: int, column: int) -> Hover | None:
    before, table = document.line_before(line), document.table
    found = table.source.path_at(before, column) if table is not None and before is not None else None
    if table is None or before is None or found is None:
        return None
    path, is_key = found
    position = table.source.locate(path)
    span = position.key if is_key and position.key is not None else position.value
    text = _describe_key(table, path) if is_key else _describe_value(table, path)
    text = text or _describe_data(document, table, path, is_key=is_key)
    return Hover(text, moved_span(span, line - before)) if text else None


def _describe_key(table: SymbolTable, path: Path) -> str:
    described = describe_place(table.document, path)
    if not described:
        return ""
    parts = [f"**{path[-1]}**", described]
    words = [f"`{_spelt(value)}`" for value in values_at(table.document, path)]
    default = default_at(table.document, path)
    parts += ["One of " + ", ".join(words) + "."] if len(words) > 1 else []
    parts += [f"Default: `{_spelt(default)}`"] if default is not None else []
    value = _describe_value(table, path)
    return "\n\n".join([*parts, *([value] if value else [])])


def _describe_data(document: Document, table: SymbolTable, path: Path, *, is_key: bool) -> str:
    """A member of the author's own types."""
    flow = document.flow
    kind = kind_at(flow, table, path) if flow is not None and is_key else None
    if kind is None or kind.name == "any":
        return ""
    described = description_of(kind)
    return "\n\n".join([f"`{path[-1]}`", describe_kind(kind), *([described] if described else [])])


def _describe_value(table: SymbolTable, path: Path) -> str:
    value = table.node(path)
    if isinstance(value, dict | list | bool) or not is_duration(table.document, path):
        return ""
    try:
        return f"`{value}` is {spell_span(parse_duration(value))}"
    except ValueError:
        return ""


def spell_span(span: timedelta) -> str:
    """`1 hour 30 minutes`."""
    microseconds = span // timedelta(microseconds=1)
    parts = []
    for word, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, microseconds = divmod(microseconds, size * 1_000_000)
        parts += [f"{count} {word}{'s' if count != 1 else ''}"] if count else []
    parts += [f"{microseconds / 1000:g} milliseconds"] if microseconds else []
    return " ".join(parts) or "no time at all"


def _spelt(value: Json) -> str:
    return value if isinstance(value, str) else compact(value)
