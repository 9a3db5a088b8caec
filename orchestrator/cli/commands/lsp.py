"""`orchestrator lsp`: flows in an editor."""

from __future__ import annotations

from typing import Annotated

import typer

Tcp = Annotated[
    str | None, typer.Option("--tcp", metavar="HOST:PORT", help="Listen there instead of on stdin.")
]
Stdio = Annotated[bool, typer.Option("--stdio", help="Speak on stdin and stdout, the default.")]


def lsp(tcp: Tcp = None, stdio: Stdio = False) -> None:
    """Serve an editor: problems, completion, navigation."""
    from orchestrator.errors import UsageError

    if tcp is not None and stdio:
        raise UsageError("--tcp and --stdio cannot stand together")
    place = parse_place(tcp) if tcp is not None else None
    try:
        from orchestrator.lsp.server import serve_stdio, serve_tcp
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError('the language server needs pygls: pip install "orchestrator[lsp]"') from None
    from orchestrator.cli.editor_problems import choose_problems, find_project
    from orchestrator.lsp.session import Project

    project = Project(choose_problems, find_project)
    if place is None:
        serve_stdio(project)
    else:
        serve_tcp(*place, project)


def parse_place(text: str) -> tuple[str, int]:
    """`HOST:PORT`."""
    from orchestrator.errors import UsageError

    host, colon, port = text.rpartition(":")
    if not (colon and port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"--tcp takes HOST:PORT, such as 127.0.0.1:2087, not `{text}`")
    return host.strip("[]") or "127.0.0.1", int(port)
