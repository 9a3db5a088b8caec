"""A new name for something of a flow, everywhere: declarations, references, expressions, rehearsals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from orchestrator.definition.mentions import name_conditions
from orchestrator.definition.model import Path
from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Edit, Fix, Span
from orchestrator.definition.reserved import CEL_KEYWORDS, FIXED_NAMES
from orchestrator.definition.symbols import Mention, Symbol, SymbolKind, SymbolTable
from orchestrator.definition.type_text import PLAIN
from orchestrator.lint.fixing import apply_fixes
from orchestrator.lsp.document import Document
from orchestrator.lsp.handler_source import find_module, search_directories
from orchestrator.lsp.hover import modules_of
from orchestrator.lsp.rehearsal_renaming import rehearsal_edits, rehearsal_of

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)
_SCOPED = (SymbolKind.LET, SymbolKind.RESULT, SymbolKind.ELEMENT)
_RENAMED = (
    SymbolKind.STEP,
    SymbolKind.CHANNEL,
    SymbolKind.ATTRIBUTE,
    SymbolKind.JOIN,
    SymbolKind.RPC,
    SymbolKind.TYPE,
    SymbolKind.CONDITION,
    SymbolKind.LOCAL,
    *_SCOPED,
)
_IN_PYTHON = (
    SymbolKind.STEP,
    SymbolKind.CHANNEL,
    SymbolKind.ATTRIBUTE,
    SymbolKind.CONDITION,
    SymbolKind.LOCAL,
)
_WHY_NOT = {
    SymbolKind.FLOW: "a flow type names stored runs and is not renamed",
    SymbolKind.HANDLER: "a handler is a Python function: rename it in its module",
    SymbolKind.MODULE: "a module is renamed where its file is",
    SymbolKind.CHOICE: "the word of a choice is said by a handler: change both by hand",
}
ReadText = Callable[[FilePath], str | None]
"""The text of another file, as the editor has it."""


class RenameRefused(Exception):
    """The text says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Renaming:
    """Edits by file; `notes` name places that are left to the author."""

    edits: dict[str, list[Edit]]
    notes: list[str] = field(default_factory=list)


def find_renamed(document: Document, line: int, column: int) -> Mention:
    """What would be renamed at a place; raises RenameRefused."""
    if not document.is_readable or document.table is None:
        raise RenameRefused("the flow cannot be read at the moment: mend the YAML first")
    mention = document.table.at(line, column)
    if mention is None:
        raise RenameRefused("there is no name here")
    kind, name = mention.symbol.kind, mention.symbol.name
    if kind not in _RENAMED:
        raise RenameRefused(_WHY_NOT.get(kind, f"`{name}` is a name of the language"))
    declaration = document.table.declaration(mention.symbol)
    if declaration is None:
        raise RenameRefused(f"no {kind.value} `{name}` is declared")
    if kind is SymbolKind.RESULT and not declaration.is_written:
        raise RenameRefused("`result` is the default name: write `result: name` at the step first")
    if kind is SymbolKind.ELEMENT and not declaration.is_written:
        raise RenameRefused("`item` is the default name: write `as: name` beside `for_each` first")
    return mention


def rename(
    document: Document,
    mention: Mention,
    new_name: str,
    *,
    roots: Sequence[FilePath] = (),
    read_text: ReadText | None = None,
) -> Renaming:
    """`mention` is what `find_renamed` gave; raises RenameRefused."""
    table = document.table
    assert table is not None
    symbol = mention.symbol
    if new_name == symbol.name:
        return Renaming({})
    _check_name(table, symbol, new_name)
    edits = list(_edits(table, symbol, new_name))
    _check_result(document, edits)
    found = {document.path: edits}
    rehearsal = rehearsal_of(FilePath(document.path))
    text = read_text(rehearsal) if rehearsal is not None and read_text is not None else None
    if rehearsal is not None and text is not None:
        more = rehearsal_edits(text, symbol, new_name)
        if more:
            found[str(rehearsal)] = more
    return Renaming(found, list(_python_places(document, symbol, roots)))


# --- Checks ------------------------------------------------------------------------------------------------


def _check_name(table: SymbolTable, symbol: Symbol, new_name: str) -> None:
    kind = symbol.kind
    if _IDENTIFIER.match(new_name) is None:
        raise RenameRefused(f"`{new_name}` is not an identifier: letters, digits and `_`")
    if new_name in CEL_KEYWORDS:
        raise RenameRefused(f"`{new_name}` is a keyword of the expression language")
    if (
        kind in _SCOPED
        and new_name in FIXED_NAMES
        and not (kind is SymbolKind.RESULT and new_name == "result")
    ):
        raise RenameRefused(f"`{new_name}` is a fixed name in expressions")
    if kind is SymbolKind.TYPE and new_name in (*PLAIN, "list", "of", "or"):
        raise RenameRefused(f"`{new_name}` is a word of the language for types")
    if new_name in table.declared(kind, symbol.scope):
        raise RenameRefused(f"there is a {kind.value} `{new_name}` already")


def _check_result(document: Document, edits: list[Edit]) -> None:
    """What would be wrong afterwards and is not now: such as a name that another one hides."""
    after = apply_fixes(document.text, [Fix("", tuple(edits), is_safe=False)])
    _, before = parse(document.text, document.path)
    _, wrong = parse(after, document.path)
    if len(wrong) > len(before):
        known = {(problem.code, problem.span.line) for problem in before}
        new = [problem for problem in wrong if (problem.code, problem.span.line) not in known] or wrong
        raise RenameRefused(f"that would break line {new[0].span.line}: {new[0].message}")


# --- Edits -------------------------------------------------------------------------------------------------


def _edits(table: SymbolTable, symbol: Symbol, new_name: str) -> Iterator[Edit]:
    declaration = table.declaration(symbol)
    assert declaration is not None
    if symbol.kind is SymbolKind.CONDITION and not declaration.is_written:
        yield _id_edit(table, declaration, new_name)
    for mention in table.of(symbol):
        if mention.is_written:
            yield Edit(mention.span, new_name)
        elif not mention.is_declaration:
            line = mention.span.line
            raise RenameRefused(
                f"line {line} says `{symbol.name}` by an alias or an escape: write it out first"
            )
    if symbol.kind in (SymbolKind.CHANNEL, SymbolKind.JOIN):
        yield from _default_id_edits(table, symbol, new_name)


def _id_edit(table: SymbolTable, declaration: Mention, new_name: str) -> Edit:
    """Writes the id that was the default so far."""
    position = table.source.locate(declaration.path)
    around = table.source.locate(declaration.path[:-1]).value
    end = Span(
        position.value.end_line, position.value.end_column, position.value.end_line, position.value.end_column
    )
    is_flow_style = (
        table.source.text_at(Span(around.line, around.column, around.line, around.column + 1)) == "{"
    )
    if is_flow_style:
        return Edit(end, f", id: {new_name}")
    assert position.key is not None
    start = Span(position.key.line, position.key.column, position.key.line, position.key.column)
    line_break = "\r\n" if "\r\n" in table.source.text else "\n"
    return Edit(start, f"id: {new_name}{line_break}{' ' * (position.key.column - 1)}")


def _default_id_edits(table: SymbolTable, symbol: Symbol, new_name: str) -> Iterator[Edit]:
    """`wait.name`, where the condition has its id from what it waits for."""
    key = "channel" if symbol.kind is SymbolKind.CHANNEL else "join"
    waits: dict[Path, Path] = {}
    for mention in table.of(symbol):
        if mention.path[-1:] == (key,) and "wait_for" in mention.path:
            waits[mention.path[: mention.path.index("wait_for") + 1]] = mention.owner
    for path, owner in waits.items():
        node = table.node(path)
        old_ids = [id for _, _, id, _ in name_conditions(node, path)]
        renamed = deepcopy(node)
        for _, condition, _, _ in name_conditions(renamed, path):
            if condition.get(key) == symbol.name:
                condition[key] = new_name
        new_ids = [id for _, _, id, _ in name_conditions(renamed, path)]
        for old, new in zip(old_ids, new_ids, strict=True):
            if old != new:
                mentions = table.of(Symbol(SymbolKind.CONDITION, old, owner))
                yield from (Edit(each.span, new) for each in mentions if each.is_written)


def _python_places(document: Document, symbol: Symbol, roots: Sequence[FilePath]) -> Iterator[str]:
    """Lines of handlers that say the name; the rename leaves them alone."""
    if symbol.kind not in _IN_PYTHON:
        return
    directories = search_directories(FilePath(document.path), roots)
    saying = re.compile(rf"(['\"]){re.escape(symbol.name)}\1|\b(wait|local)\.{re.escape(symbol.name)}\b")
    for module in modules_of(document.table):
        file = find_module(module, directories)
        try:
            lines = file.read_text(encoding="utf-8").splitlines() if file is not None else []
        except (OSError, UnicodeDecodeError):
            continue
        yield from (f"{file}:{number}" for number, line in enumerate(lines, 1) if saying.search(line))
