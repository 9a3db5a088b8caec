"""The server: requests of the protocol to the functions that answer them. Needs `pygls`."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import redirect_stdout
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from orchestrator.errors import UsageError
from orchestrator.lsp import protocol
from orchestrator.lsp.actions import fix_all, quick_fixes
from orchestrator.lsp.completion import complete_at
from orchestrator.lsp.document import Document
from orchestrator.lsp.hover import Hover, hover_at
from orchestrator.lsp.navigation import find_definition, find_references
from orchestrator.lsp.outline import outline_of
from orchestrator.lsp.positions import Positions
from orchestrator.lsp.renaming import RenameRefused, Renaming, find_renamed, rename
from orchestrator.lsp.session import Project, Session

_TRIGGERS = [".", ":", " ", "{", "["]


def serve_stdio(project: Project) -> None:
    """Until the client says exit or goes away. What is printed by accident goes to stderr."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")  # the server closes it at the end
    with redirect_stdout(sys.stderr):
        make_server(project).start_io(sys.stdin.buffer, out)


def serve_tcp(host: str, port: int, project: Project) -> None:
    """For one client, until it goes. Raises UsageError where nobody can listen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    with listening:
        print(f"listening on {host}:{listening.getsockname()[1]}", file=sys.stderr, flush=True)
        connection, _ = listening.accept()
    with connection, connection.makefile("rb") as read, connection.makefile("wb") as write:
        make_server(project).start_io(read, write)


def make_server(project: Project) -> LanguageServer:
    server = LanguageServer("orchestrator", _version(), text_document_sync_kind=lsp.TextDocumentSyncKind.Full)

    def tell(message: str) -> None:
        server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, message))

    session = Session(server.text_document_publish_diagnostics, tell, project)
    _add_documents(server, session)
    _add_reading(server, session)
    _add_navigation(server, session)
    _add_renaming(server, session)
    _add_actions(server, session)
    return server


def _version() -> str:
    try:
        return version("orchestrator")
    except PackageNotFoundError:
        return "0"


def _opened(session: Session, uri: str) -> tuple[Document, Positions] | None:
    document = session.document(uri)
    return (document, session.positions(document.text)) if document is not None else None


def _at(session: Session, uri: str, position: lsp.Position) -> tuple[Document, Positions, int, int] | None:
    opened = _opened(session, uri)
    if opened is None:
        return None
    document, positions = opened
    line, column = positions.from_editor(position.line, position.character)
    return document, positions, line, column


# --- Documents ---------------------------------------------------------------------------------------------


def _add_documents(server: LanguageServer, session: Session) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        folders = [folder.uri for folder in params.workspace_folders or ()]
        roots = folders or [uri for uri in [params.root_uri] if uri]
        given = params.initialization_options
        options = given if isinstance(given, dict) else {}
        encoding = server.workspace.position_encoding
        session.introduce(roots, str(getattr(encoding, "value", encoding) or "utf-16"), options)

    @server.feature(lsp.SHUTDOWN)
    async def shutdown(params: None) -> None:
        await session.leave()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        opened = params.text_document
        session.open(opened.uri, opened.text, opened.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        changed = params.text_document
        text = server.workspace.get_text_document(changed.uri).source
        session.change(changed.uri, text, changed.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        session.save(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        session.close(params.text_document.uri)


# --- Hover, completion, outline ----------------------------------------------------------------------------


def _add_reading(server: LanguageServer, session: Session) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        found = _at(session, params.text_document.uri, params.position)
        if found is None:
            return None
        document, positions, line, column = found
        shown = _with_problems(document, line, column, hover_at(document, line, column, session.roots))
        return protocol.hover_of(shown, positions) if shown is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=_TRIGGERS))
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList | None:
        opened = _opened(session, params.text_document.uri)
        if opened is None:
            return None
        document, positions = opened
        offset = positions.editor_offset(params.position.line, params.position.character)
        return protocol.completion_of(complete_at(document, offset, session.roots), positions)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol] | None:
        opened = _opened(session, params.text_document.uri)
        if opened is None:
            return None
        document, positions = opened
        return protocol.outline_symbols(outline_of(document), positions)


def _with_problems(document: Document, line: int, column: int, hover: Hover | None) -> Hover | None:
    """The problems of the place explain themselves below."""
    place = (line, column)
    found = [
        problem
        for problem in document.all_problems
        if (problem.span.line, problem.span.column) <= place
        and place <= (problem.span.end_line, problem.span.end_column)
        and problem.span.end_line - problem.span.line < 3
    ]
    text = protocol.explain_problems(found)
    if not text:
        return hover
    return Hover(f"{hover.text}\n\n---\n\n{text}" if hover else text, hover.span if hover else found[0].span)


# --- Navigation --------------------------------------------------------------------------------------------


def _add_navigation(server: LanguageServer, session: Session) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        found = _at(session, params.text_document.uri, params.position)
        if found is None:
            return None
        document, positions, line, column = found
        target = find_definition(document, line, column, session.roots)
        if target is None:
            return None
        return protocol.location_of(target, document.path, params.text_document.uri, positions)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location] | None:
        found = _at(session, params.text_document.uri, params.position)
        if found is None:
            return None
        document, positions, line, column = found
        has_declaration = params.context.include_declaration
        targets = find_references(document, line, column, has_declaration=has_declaration)
        uri = params.text_document.uri
        return [protocol.location_of(target, document.path, uri, positions) for target in targets]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight] | None:
        found = _at(session, params.text_document.uri, params.position)
        if found is None:
            return None
        document, positions, line, column = found
        targets = find_references(document, line, column)
        return [lsp.DocumentHighlight(protocol.range_of(positions, target.span)) for target in targets]


# --- Renaming ----------------------------------------------------------------------------------------------


def _add_renaming(server: LanguageServer, session: Session) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        found = _at(session, params.text_document.uri, params.position)
        if found is None:
            return None
        document, positions, line, column = found
        try:
            mention = find_renamed(document, line, column)
        except RenameRefused as refused:
            raise _failed(refused) from None
        return lsp.PrepareRenamePlaceholder(
            range=protocol.range_of(positions, mention.span), placeholder=mention.symbol.name
        )

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename_symbol(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        found = _at(session, params.text_document.uri, params.position)
        if found is None:
            return None
        document, _, line, column = found

        def read_text(path: Path) -> str | None:
            return _text_in_editor(server, path)

        try:
            mention = find_renamed(document, line, column)
            renaming = rename(document, mention, params.new_name, roots=session.roots, read_text=read_text)
        except RenameRefused as refused:
            raise _failed(refused) from None
        _tell_rest(server, mention.symbol.name, renaming)
        return _renaming_edit(server, session, renaming, document, params.text_document.uri)


def _renaming_edit(
    server: LanguageServer, session: Session, renaming: Renaming, document: Document, own_uri: str
) -> lsp.WorkspaceEdit:
    changes = {}
    for path, edits in renaming.edits.items():
        is_own = path == document.path
        text = document.text if is_own else _text_in_editor(server, Path(path)) or ""
        uri = own_uri if is_own else protocol.uri_of(path)
        changes[uri] = protocol.text_edits(edits, session.positions(text))
    return protocol.workspace_edit(changes)


def _text_in_editor(server: LanguageServer, path: Path) -> str | None:
    """As it is open there, else as it is on the disk."""
    uri = uris.from_fs_path(str(path))
    opened = server.workspace.text_documents.get(uri or "")
    if opened is not None:
        return str(opened.source)
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _tell_rest(server: LanguageServer, name: str, renaming: Renaming) -> None:
    if renaming.notes:
        places = ", ".join(renaming.notes)
        message = f"handlers say `{name}` too and were left as they are: {places}"
        server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, message))


def _failed(refused: RenameRefused) -> JsonRpcException:
    return JsonRpcException(refused.message, code=lsp.LSPErrorCodes.RequestFailed)


# --- Fixes -------------------------------------------------------------------------------------------------


def _add_actions(server: LanguageServer, session: Session) -> None:
    kinds: list[lsp.CodeActionKind | str] = [lsp.CodeActionKind.QuickFix, protocol.FIX_ALL]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=kinds))
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
        uri = params.text_document.uri
        opened = _opened(session, uri)
        if opened is None:
            return None
        document, positions = opened
        actions = []
        if _is_asked(params, lsp.CodeActionKind.QuickFix.value):
            span = protocol.span_of(positions, params.range)
            actions += [
                protocol.quick_fix_action(fix, uri, positions, session.docs)
                for fix in quick_fixes(document, span)
            ]
        mended = fix_all(document) if _is_asked(params, protocol.FIX_ALL) else None
        if mended is not None:
            actions.append(protocol.fix_all_action(mended, document, uri, positions))
        return actions


def _is_asked(params: lsp.CodeActionParams, kind: str) -> bool:
    """`source` asks for all kinds that begin with it."""
    wanted = [str(getattr(each, "value", each)) for each in params.context.only or ()]
    return not wanted or any(kind == each or kind.startswith(f"{each}.") for each in wanted)
