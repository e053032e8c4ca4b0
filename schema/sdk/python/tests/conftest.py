"""A fake server, and a client whose waits end at once."""

from __future__ import annotations

import copy
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from vayu_sdk import Vayu

RECORD = {"status": "success", "city": "Delhi", "aqi": 337}


class Exchange(BaseHTTPRequestHandler):
    """One request and its reply. count is the number of earlier requests, and body the text of the request."""

    protocol_version = "HTTP/1.1"
    count: int
    body: str

    def json(self, status: int, body: object, headers: dict[str, object] | None = None) -> None:
        self.text(status, json.dumps(body), {"Content-Type": "application/json", **(headers or {})})

    def problem(
        self, status: int, code: str, headers: dict[str, object] | None = None, **more: object
    ) -> None:
        error = {"code": code, "message": "It failed.", "request_id": "req_1", "retryable": status == 429 or status >= 502}
        self.json(status, {"status": "error", "message": "It failed.", "error": {**error, **more}}, headers)

    def text(self, status: int, text: str, headers: dict[str, object] | None = None) -> None:
        content = text.encode()
        self.start(status, {"Content-Length": len(content), **(headers or {})})
        self.wfile.write(content)

    def start(self, status: int, headers: dict[str, object]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def cut(self, text: str = "") -> None:
        """Sends bytes and closes the connection."""
        self.wfile.write(text.encode())
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        pass


@dataclass
class Service:
    url: str
    client: Vayu
    waits: list[float]
    received: list[Exchange] = field(default_factory=list)


Serve = Callable[..., Service]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server with a handler, and a client with options."""
    ends: list[Callable[[], None]] = []

    def start(handler: Callable[[Exchange], None], **options: Any) -> Service:
        received: list[Exchange] = []

        class Handler(Exchange):
            def handle_one(self) -> None:
                self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                self.count = len(received)
                received.append(copy.copy(self))  # one handler serves all requests of a connection
                handler(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # noqa: N815

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        waits: list[float] = []
        client = Vayu(url, **{"key": "sk_test_1", "sleep": waits.append, **options})
        ends.extend([server.shutdown, server.server_close, client.close])
        return Service(url, client, waits, received)

    yield start
    for end in ends:
        end()
