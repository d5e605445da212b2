"""A chat API on this machine that remembers what it was asked and answers as a test says."""

import contextlib
import json
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from here import Answering, address, running

Response = tuple[int, dict[str, str], bytes] | Callable[["Handler"], None]
"""Status, headers and content; or what writes the reply itself."""


def chat(text: str | None, finish: str = "stop") -> bytes:
    """A whole completion, as OpenAI's own clients read it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
    about = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**about, "choices": [choice], "usage": usage}).encode()


class Server(ThreadingHTTPServer):
    """Keeps what it was asked; `answer(body, number of the request)` says what to answer. `kept` is where replies are
    kept.
    """

    daemon_threads = True

    def __init__(self, kept: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kept = kept
        self.asked: list[tuple[dict[str, Any], dict[str, str], str]] = []
        self.answer: Callable[[dict[str, Any], int], Response] = echo
        self.url = f"{address(self)}/v1"


def question(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def echo(body: dict[str, Any], _: int) -> Response:
    return 200, {}, chat(f"Eco: {question(body)}")


@contextlib.contextmanager
def serving(kept: Path) -> Iterator[Server]:
    with running(Server(kept)) as server:
        yield server


class Handler(Answering):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.body())
        self.server.asked.append((body, dict(self.headers), self.path))
        response = self.server.answer(body, len(self.server.asked))
        if callable(response):
            with contextlib.suppress(ConnectionError):
                response(self)
            self.close_connection = True
            return
        status, headers, content = response
        with contextlib.suppress(ConnectionError):
            self.reply(status, content, headers)
