"""The documents that an editor has open, and the problems that it is told about them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lsprotocol import types as lsp
from pygls import uris

from orchestrator.definition.catalogue import SUFFIX
from orchestrator.definition.problem import Problem
from orchestrator.definition.source import Source
from orchestrator.errors import UsageError
from orchestrator.lsp.document import Document
from orchestrator.lsp.positions import Positions
from orchestrator.lsp.protocol import diagnostics_of
from orchestrator.lsp.verification import verify_file

TYPING_PAUSE = 0.2
"""Seconds without a change after which a text is looked at."""
Publish = Callable[[lsp.PublishDiagnosticsParams], None]
Tell = Callable[[str], None]
"""Shows the author a message."""
Choose = Callable[[list[Problem], Source, Sequence[Path]], list[Problem]]
"""Which problems of a text to show, by the editor's folders; raises UsageError where that cannot be told."""


FindProject = Callable[[Path, Sequence[Path]], Path]
"""The directory that a flow's commands are typed in, by its file and the editor's folders."""


@dataclass(frozen=True)
class Project:
    """What the command line knows of projects and the server asks for."""

    choose: Choose
    find: FindProject


class Session:
    """`encoding` and `roots` are known once the client has introduced itself."""

    def __init__(self, publish: Publish, tell: Tell, project: Project) -> None:
        self.encoding = "utf-16"
        self.roots: tuple[Path, ...] = ()
        self.docs: str | None = docs_pages()
        """The address of a problem's page, with `{code}` for its code."""
        self._publish = publish
        self._tell = tell
        self._project = project
        self.verifies = True
        """Each flow that is saved."""
        self._told: set[str] = set()
        self._texts: dict[str, tuple[str, int | None]] = {}
        self._documents: dict[str, Document] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def introduce(self, roots: Iterable[str], encoding: str, options: Mapping[str, Any]) -> None:
        """`options` are the author's: `problemDocs`, `verifyOnSave`."""
        self.roots = tuple(Path(path) for uri in roots if (path := uris.to_fs_path(uri)) is not None)
        self.encoding = encoding
        self.docs = options.get("problemDocs") or self.docs
        self.verifies = options.get("verifyOnSave") is not False

    # --- Documents

    def open(self, uri: str, text: str, version: int | None) -> None:
        if is_flow(uri):
            self._texts[uri] = (text, version)
            self.publish_now(uri)

    def change(self, uri: str, text: str, version: int | None) -> None:
        """The problems follow when the author pauses."""
        if not is_flow(uri):
            return
        self._texts[uri] = (text, version)
        self._start(uri, self._publish_later(uri))

    def close(self, uri: str) -> None:
        self._cancel(uri)
        if self._texts.pop(uri, None) is not None:
            self._publish(lsp.PublishDiagnosticsParams(uri, []))
        self._documents.pop(uri, None)

    def document(self, uri: str) -> Document | None:
        """The document as it is now; None for what is no open flow."""
        if uri not in self._texts:
            return None
        text, _ = self._texts[uri]
        known = self._documents.get(uri)
        if known is None or known.text != text:
            known = self._documents[uri] = Document(path_of(uri), text, known, self._chosen)
        return known

    def save(self, uri: str) -> None:
        """What the problems depend on beside the text may have changed."""
        known = self.document(uri)
        if known is not None:
            self._documents[uri] = Document(known.path, known.text, known, self._chosen)
            self.publish_now(uri)
            if self.verifies and uri.startswith("file:") and not has_errors(known):
                self._start(uri, self._verify(uri))

    async def _verify(self, uri: str) -> None:
        """What is found is told if the text is still the one that was saved."""
        saved = self.document(uri)
        assert saved is not None
        directory = self._project.find(Path(saved.path), self.roots)
        found = await verify_file(saved.path, directory)
        self._tasks.pop(uri, None)
        if found and self.document(uri) is saved:
            saved.verified = found
            self.publish_now(uri)

    def positions(self, text: str) -> Positions:
        return Positions(text, self.encoding)

    # --- Problems

    def publish_now(self, uri: str) -> None:
        self._cancel(uri)
        document = self.document(uri)
        if document is None:
            return
        found = diagnostics_of(document, uri, self.positions(document.text), self.docs)
        self._publish(lsp.PublishDiagnosticsParams(uri, found, self._texts[uri][1]))

    def _chosen(self, problems: list[Problem], source: Source) -> list[Problem]:
        """All of them where the configuration is wrong, which the author is told once."""
        try:
            return self._project.choose(problems, source, self.roots)
        except UsageError as error:
            if error.message not in self._told:
                self._told.add(error.message)
                self._tell(error.message)
            return problems

    async def _publish_later(self, uri: str) -> None:
        await asyncio.sleep(TYPING_PAUSE)
        self._tasks.pop(uri, None)
        self.publish_now(uri)

    def _start(self, uri: str, work: Coroutine[Any, Any, None]) -> None:
        """What was under way for the document is given up."""
        self._cancel(uri)
        self._tasks[uri] = asyncio.get_running_loop().create_task(work)

    async def leave(self) -> None:
        """Nothing goes on."""
        tasks = list(self._tasks.values())
        for uri in list(self._tasks):
            self._cancel(uri)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _cancel(self, uri: str) -> None:
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()


def has_errors(document: Document) -> bool:
    return any(problem.severity == "error" for problem in document.problems)


def is_flow(uri: str) -> bool:
    return urlsplit(uri).path.endswith(SUFFIX)


def path_of(uri: str) -> str:
    """Of a file its path; of a text that has no file yet the address itself."""
    return (uris.to_fs_path(uri) if uri.startswith("file:") else None) or uri


def docs_pages() -> str | None:
    """The pages of problems in the checkout that this runs in; an installed package has none."""
    pages = Path(__file__).parents[2] / "docs" / "rules"
    return f"{pages.as_uri()}/{{code}}.md" if pages.is_dir() else None
