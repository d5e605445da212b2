"""HTTP servers on this machine, for tests."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TypeVar

S = TypeVar("S", bound=HTTPServer)


class Answering(BaseHTTPRequestHandler):
    """Says nothing of its requests in the terminal."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def reply(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        """The whole answer; to HEAD without its content."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running(server: S) -> Iterator[S]:
    """The server while it answers, until the block ends."""
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def address(server: HTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"
