"""A chat API on this machine that remembers what it was asked and answers as a test says."""

import contextlib
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from programs import answering

Response = tuple[int, dict[str, str], bytes] | Callable[["Handler"], None]
"""Status, headers and content; or what writes the reply itself."""


def chat(text: str | None, finish: str = "stop") -> bytes:
    usage = {"prompt_tokens": 20, "completion_tokens": 5}
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": finish}], "usage": usage}).encode()


class Server(ThreadingHTTPServer):
    """Keeps what it was asked; `answer(body, number of the request)` says what to answer. `kept` is where replies are
    kept.
    """

    daemon_threads = True

    def __init__(self, kept: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kept = kept
        self.asked: list[tuple[dict[str, Any], dict[str, str], str]] = []
        self.answer: Callable[[dict[str, Any], int], Response] = lambda body, _: (
            200,
            {},
            chat(f"Eco: {question(body)}"),
        )
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


def question(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def serving(kept: Path) -> contextlib.AbstractContextManager[Server]:
    return answering(Server(kept))


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((body, dict(self.headers), self.path))
        response = self.server.answer(body, len(self.server.asked))
        if callable(response):
            with contextlib.suppress(ConnectionError):
                response(self)
            self.close_connection = True
            return
        status, headers, content = response
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        with contextlib.suppress(ConnectionError):
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass
