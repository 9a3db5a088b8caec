"""`/metrics`, `/healthz` and `/readyz` over HTTP; for this machine only unless another address is given."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from orchestrator.engine.exposition import CONTENT_TYPE
from orchestrator.engine.health import Finding, Health
from orchestrator.errors import OrchestratorError, UsageError

LOOPBACK = "127.0.0.1"
PATH = "/metrics"
_PATIENCE = 5.0
"""Seconds that a client may take to say what it wants."""
Answer = tuple[HTTPStatus, str, str]
"""Status, content type, text."""
Page = Callable[[], Answer]


class MetricsServer:
    """`with MetricsServer(port, page) as server: server.url`. Port 0 is any free one."""

    def __init__(
        self, port: int, page: Callable[[], str], health: Health | None = None, *, host: str = LOOPBACK
    ) -> None:
        """Raises UsageError when the port cannot be had."""
        pages: dict[str, Page] = {PATH: lambda: (HTTPStatus.OK, CONTENT_TYPE, page())}
        if health is not None:
            pages["/healthz"] = lambda: _as_answer(health.alive())
            pages["/readyz"] = lambda: _as_answer(health.ready())
        try:
            self._server = ThreadingHTTPServer((host, port), _handler(pages))
        except (OSError, OverflowError) as error:
            raise UsageError(f"metrics cannot be served on {host}:{port}: {error}", port=port) from None
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_address[1]}{PATH}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    def __enter__(self) -> MetricsServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _as_answer(finding: Finding) -> Answer:
    status = HTTPStatus.OK if finding.is_good else HTTPStatus.SERVICE_UNAVAILABLE
    return status, "application/json", json.dumps(finding.said) + "\n"


def _handler(pages: dict[str, Page]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _PATIENCE
        server_version = "orchestrator"
        sys_version = ""

        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0])
            if page is None:
                there = "pages: " + " ".join(pages)
                self._answer(HTTPStatus.NOT_FOUND, "text/plain", f"{there}\n")
                return
            try:
                self._answer(*page())
            except OrchestratorError as error:
                self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", f"{error}\n")

        def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
            content = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Scrapes are no news."""

    return Handler
