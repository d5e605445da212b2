"""A client that never finishes the head of a request holds no connection for long (tucano/serving/protocol.py)."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from tucano.serving import protocol
from tucano.serving.door import Door

HEAD_SECONDS, ANSWER_SECONDS = 1.0, 2.0
WHOLE = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
ANSWER = b"in its own time"


async def app(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(ANSWER_SECONDS)
    await PlainTextResponse(ANSWER)(scope, receive, send)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", HEAD_SECONDS)
    with served(app) as found:
        yield found


@contextmanager
def served(app: Any) -> Iterator[tuple[str, int]]:
    config = uvicorn.Config(
        app, http=protocol.PromptProtocol, ws="none", lifespan="off", log_level="warning", timeout_keep_alive=600
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield listener.getsockname()
        server.should_exit = True
        thread.join()


def closed_while_dripping(connection: socket.socket) -> float:
    """Seconds until the server closes a connection over which a byte of a head comes every tenth of a second."""
    began = time.monotonic()
    connection.settimeout(0.1)
    while time.monotonic() - began < 60:
        try:
            connection.send(b"G")
            if connection.recv(1) == b"":
                return time.monotonic() - began
        except TimeoutError:
            continue
        except ConnectionError:
            return time.monotonic() - began
    raise AssertionError("it is still open after a minute")


def test_a_first_request_has_to_begin_in_time(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        assert closed_while_dripping(connection) > 0.9 * HEAD_SECONDS


def test_an_answer_may_take_longer_and_the_next_head_has_its_own_time(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        for _ in range(2):
            connection.sendall(WHOLE)
            heard = b""
            while not heard.endswith(ANSWER):
                heard += connection.recv(4096)
        assert closed_while_dripping(connection) > 0.9 * HEAD_SECONDS


def test_a_body_that_nobody_reads_holds_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the token the answer comes at once; the rest of the request might never."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", HEAD_SECONDS)
    with served(Door(app, "t" * 43, 4096)) as address, socket.create_connection(address) as connection:
        connection.sendall(b"POST /answer HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000\r\n\r\n")
        heard = b""
        while b"token is missing" not in heard:
            heard += connection.recv(4096)
        assert heard.startswith(b"HTTP/1.1 401") and closed_while_dripping(connection) < 30
