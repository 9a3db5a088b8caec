"""Our problems, spans and proposals in the words of the language server protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lsprotocol import types as lsp
from pygls import uris

from orchestrator.definition.explanations import explain
from orchestrator.definition.problem import Edit, Problem, Span
from orchestrator.lsp.actions import QuickFix
from orchestrator.lsp.completion import Completion
from orchestrator.lsp.document import Document
from orchestrator.lsp.hover import Hover
from orchestrator.lsp.navigation import Target
from orchestrator.lsp.outline import OutlineItem
from orchestrator.lsp.positions import Positions

SOURCE = "orchestrator"
FIX_ALL = "source.fixAll.orchestrator"
_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}
_KINDS = {
    "key": lsp.CompletionItemKind.Property,
    "outcome": lsp.CompletionItemKind.Keyword,
    "value": lsp.CompletionItemKind.Value,
    "name": lsp.CompletionItemKind.Variable,
    "field": lsp.CompletionItemKind.Field,
    "function": lsp.CompletionItemKind.Function,
    "handler": lsp.CompletionItemKind.Function,
    "step": lsp.CompletionItemKind.Class,
    "channel": lsp.CompletionItemKind.Event,
    "type": lsp.CompletionItemKind.Struct,
    "join": lsp.CompletionItemKind.Interface,
}
_OUTLINE_KINDS = {
    "section": lsp.SymbolKind.Namespace,
    "property": lsp.SymbolKind.Property,
    "step": lsp.SymbolKind.Class,
    "rpc": lsp.SymbolKind.Interface,
    "method": lsp.SymbolKind.Method,
    "channel": lsp.SymbolKind.Event,
    "attribute": lsp.SymbolKind.Field,
    "join": lsp.SymbolKind.Operator,
    "type": lsp.SymbolKind.Struct,
}


def range_of(positions: Positions, span: Span) -> lsp.Range:
    start, end = positions.range_of(span)
    return lsp.Range(lsp.Position(*start), lsp.Position(*end))


def span_of(positions: Positions, range: lsp.Range) -> Span:
    start = positions.from_editor(range.start.line, range.start.character)
    return Span(*start, *positions.from_editor(range.end.line, range.end.character))


def uri_of(path: str) -> str:
    return uris.from_fs_path(str(Path(path).absolute())) or path


# --- Problems ----------------------------------------------------------------------------------------------


def diagnostics_of(
    document: Document, uri: str, positions: Positions, docs: str | None
) -> list[lsp.Diagnostic]:
    """`docs` is the address of a problem's page, with `{code}` in it."""
    return [diagnostic_of(problem, uri, positions, docs) for problem in document.all_problems]


def diagnostic_of(problem: Problem, uri: str, positions: Positions, docs: str | None) -> lsp.Diagnostic:
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(uri, range_of(positions, labelled.span)), labelled.label
        )
        for labelled in problem.spans
        if labelled.path == problem.path
    ]
    related += [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(uri, range_of(positions, step.span)),
            f"{number}. {step.thread + ': ' if step.thread else ''}{step.text}",
        )
        for number, step in enumerate(problem.trace, start=1)
    ]
    is_idle = problem.name.startswith(("unused", "unreachable"))
    return lsp.Diagnostic(
        range=range_of(positions, problem.span),
        message="\n".join([problem.message, *problem.notes, *([problem.help] if problem.help else [])]),
        severity=_SEVERITIES[problem.severity],
        code=problem.code,
        code_description=lsp.CodeDescription(docs.replace("{code}", problem.code)) if docs else None,
        source=SOURCE,
        related_information=related or None,
        tags=[lsp.DiagnosticTag.Unnecessary] if is_idle else None,
    )


def explain_problems(problems: Iterable[Problem]) -> str:
    """Why the problems at a place are some, for a hover; each code once."""
    codes = dict.fromkeys(problem.code for problem in problems)
    found = [explain()[code] for code in codes if code in explain()]
    return "\n\n".join(f"**{about.code} {about.name}**: {about.what}\n\n{about.why}" for about in found)


# --- Answers -----------------------------------------------------------------------------------------------


def hover_of(hover: Hover, positions: Positions) -> lsp.Hover:
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, hover.text)
    return lsp.Hover(content, range_of(positions, hover.span))


def completion_of(completion: Completion, positions: Positions) -> lsp.CompletionList:
    span = Span(*positions.place(completion.start), *positions.place(completion.end))
    where = range_of(positions, span)
    items = [
        lsp.CompletionItem(
            label=proposal.label,
            kind=_KINDS.get(proposal.kind, lsp.CompletionItemKind.Reference),
            detail=proposal.detail or None,
            documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, proposal.description)
            if proposal.description
            else None,
            sort_text=f"{number:04}",
            text_edit=lsp.TextEdit(where, proposal.new_text),
        )
        for number, proposal in enumerate(completion.proposals)
    ]
    return lsp.CompletionList(is_incomplete=False, items=items)


def location_of(target: Target, own_path: str, own_uri: str, positions: Positions) -> lsp.Location:
    """Other files are counted in characters: what is led to there begins with ASCII alone."""
    if target.file == own_path:
        return lsp.Location(own_uri, range_of(positions, target.span))
    span = target.span
    start = lsp.Position(span.line - 1, span.column - 1)
    return lsp.Location(
        uri_of(target.file), lsp.Range(start, lsp.Position(span.end_line - 1, span.end_column - 1))
    )


def outline_symbols(items: Sequence[OutlineItem], positions: Positions) -> list[lsp.DocumentSymbol]:
    return [
        lsp.DocumentSymbol(
            name=item.name or "?",
            kind=_OUTLINE_KINDS[item.kind],
            detail=item.detail or None,
            range=range_of(positions, item.span),
            selection_range=range_of(positions, item.name_span),
            children=outline_symbols(item.children, positions),
        )
        for item in items
    ]


def text_edits(edits: Iterable[Edit], positions: Positions) -> list[lsp.TextEdit]:
    return [lsp.TextEdit(range_of(positions, edit.span), edit.text) for edit in edits]


def workspace_edit(edits: Mapping[str, Sequence[lsp.TextEdit]]) -> lsp.WorkspaceEdit:
    return lsp.WorkspaceEdit(changes=dict(edits))


def quick_fix_action(fix: QuickFix, uri: str, positions: Positions, docs: str | None) -> lsp.CodeAction:
    return lsp.CodeAction(
        title=fix.title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[diagnostic_of(fix.problem, uri, positions, docs)],
        is_preferred=fix.is_preferred,
        edit=workspace_edit({uri: text_edits(fix.edits, positions)}),
    )


def fix_all_action(text: str, document: Document, uri: str, positions: Positions) -> lsp.CodeAction:
    whole = range_of(positions, Span(1, 1, *positions.place(len(document.text))))
    edit = workspace_edit({uri: [lsp.TextEdit(whole, text)]})
    return lsp.CodeAction(title="Fix all that is safe to fix", kind=FIX_ALL, edit=edit)
