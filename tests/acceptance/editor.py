"""An editor: speaks the protocol with a language server."""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from tests.acceptance.command import Place
from tests.support.commands import Command

PATIENCE = 30
"""Seconds until a missing answer is a failure."""


class Refused(Exception):
    """The server answered with an error."""


class Editor:
    """One server process, spoken with over two streams; use as a context manager."""

    def __init__(self, process: Command, incoming: IO[bytes], outgoing: IO[bytes], directory: Path) -> None:
        self._process = process
        self._incoming = incoming
        self._outgoing = outgoing
        self.directory = directory
        self._inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._kept: list[dict[str, Any]] = []
        self._last_id = 0
        self._reader = threading.Thread(target=self._read_all, daemon=True)
        self._reader.start()

    def __enter__(self) -> Editor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        process = self._process
        for stream in (self._incoming, self._outgoing, process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                stream.close()

    # --- The session

    def introduce(self, encodings: Sequence[str] = ("utf-16",), **options: Any) -> dict[str, Any]:
        """The server's capabilities."""
        capabilities = {"general": {"positionEncodings": list(encodings)}}
        folder = {"uri": self.directory.as_uri(), "name": "project"}
        params = {
            "processId": None,
            "rootUri": self.directory.as_uri(),
            "workspaceFolders": [folder],
            "capabilities": capabilities,
            **options,
        }
        result: dict[str, Any] = self.ask("initialize", params)
        self.tell("initialized", {})
        found: dict[str, Any] = result["capabilities"]
        return found

    def leave(self) -> int:
        """The exit code."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self._process.wait(PATIENCE)

    def uri(self, name: str) -> str:
        return (self.directory / name).as_uri()

    def open(self, name: str) -> list[dict[str, Any]]:
        """The problems that the server then tells."""
        text = (self.directory / name).read_text(encoding="utf-8")
        document = {"uri": self.uri(name), "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return self.problems(name)

    def type(self, name: str, *texts: str) -> None:
        """The texts one after another."""
        for number, text in enumerate(texts, start=2):
            document = {"uri": self.uri(name), "version": number}
            self.tell(
                "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}
            )

    def problems(self, name: str) -> list[dict[str, Any]]:
        """The next that are told about a file."""
        params = self.hear("textDocument/publishDiagnostics")
        assert params["uri"] == self.uri(name)
        found: list[dict[str, Any]] = params["diagnostics"]
        return found

    def ask_at(self, method: str, name: str, line: int, character: int, **more: Any) -> Any:
        """`line` and `character` from 0, as the protocol counts."""
        position = {"line": line, "character": character}
        return self.ask(
            f"textDocument/{method}", {"textDocument": {"uri": self.uri(name)}, "position": position, **more}
        )

    # --- Messages

    def ask(self, method: str, params: Any) -> Any:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        answer = self._await(lambda message: message.get("id") == self._last_id and "method" not in message)
        if "error" in answer:
            raise Refused(answer["error"]["message"])
        return answer["result"]

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def hear(self, method: str) -> dict[str, Any]:
        """The next notification of this name, also one that has come already."""
        params: dict[str, Any] = self._await(lambda message: message.get("method") == method)["params"]
        return params

    def _await(self, is_wanted: Any) -> dict[str, Any]:
        for number, message in enumerate(self._kept):
            if is_wanted(message):
                return self._kept.pop(number)
        while True:
            incoming = self._inbox.get(timeout=PATIENCE)
            assert incoming is not None, f"the server has gone: {self.last_words()}"
            if is_wanted(incoming):
                return incoming
            self._kept.append(incoming)

    def untold(self) -> int:
        """How many messages have come, when the server has gone, that nobody has asked for."""
        self._reader.join(PATIENCE)
        left = 0
        while (message := self._inbox.get(timeout=PATIENCE)) is not None:
            left += message.get("method") is not None
        return left + len(self._kept)

    def last_words(self) -> str:
        return self._process.stderr.read().decode()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._outgoing.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._outgoing.flush()

    def _read_all(self) -> None:
        while (message := _read_message(self._incoming)) is not None:
            self._inbox.put(message)
        self._inbox.put(None)


def on_stdio(place: Place, *options: str) -> Editor:
    process = place.begin("lsp", *options)
    return Editor(process, process.stdout, process.stdin, place.directory)


def on_port(place: Place) -> Editor:
    """The server chooses the port and says which."""
    process = place.begin("lsp", "--tcp", "127.0.0.1:0")
    said = process.stderr.readline().decode()
    with socket.create_connection(("127.0.0.1", int(said.rpartition(":")[2])), PATIENCE) as connection:
        incoming, outgoing = connection.makefile("rb"), connection.makefile("wb")
    return Editor(process, incoming, outgoing, place.directory)


def _read_message(stream: IO[bytes]) -> dict[str, Any] | None:
    length = 0
    while (line := stream.readline().strip()) or length == 0:
        if not line:
            return None
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    found: dict[str, Any] = json.loads(stream.read(length))
    return found
