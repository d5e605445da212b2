"""A client that never finishes the head of a request holds no connection for long (tucano/serving/protocol.py)."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from tucano.serving import protocol
from tucano.serving.command import UVICORN
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
    config = uvicorn.Config(app, **UVICORN | {"timeout_keep_alive": 600})
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


def test_an_answer_may_take_longer_and_the_next_head_has_its_own_time(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        for _ in range(2):
            connection.sendall(WHOLE)
            heard_from(connection)
        assert closed_while_dripping(connection) > 0.9 * HEAD_SECONDS


def test_who_is_silent_longest_makes_room_and_who_asks_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MOST_SILENT", 8)
    with served(app) as address, ExitStack() as closing:
        asking = closing.enter_context(socket.create_connection(address))
        asking.sendall(WHOLE)
        silent = [closing.enter_context(socket.create_connection(address)) for _ in range(40)]
        assert [connection.recv(1) for connection in silent[:32]] == [b""] * 32, "closed"
        assert heard_from(asking).endswith(ANSWER), "what is being answered is not silent"
        late = closing.enter_context(socket.create_connection(address))
        late.sendall(WHOLE)
        assert heard_from(late).endswith(ANSWER)
        silent[-1].settimeout(0.2)
        with pytest.raises(TimeoutError):
            silent[-1].recv(1)


def test_odd_requests_write_no_line_each(capfd: pytest.CaptureFixture[str]) -> None:
    odd = [b"GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", b"\x16\x03\x01\r\n\r\n"]
    odd.append(WHOLE.replace(b"Host: here", b"Host: here\r\nConnection: Upgrade\r\nUpgrade: websocket"))
    with served(app) as address:
        for request in odd:
            with socket.create_connection(address) as connection:
                connection.sendall(request)
                assert connection.recv(16).startswith(b"HTTP/1.1 ")
    assert capfd.readouterr().err == ""


def heard_from(connection: socket.socket) -> bytes:
    heard = b""
    while not heard.endswith(ANSWER):
        more = connection.recv(4096)
        assert more, heard
        heard += more
    return heard


def test_a_body_that_nobody_reads_holds_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the token the answer comes at once; the rest of the request might never."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", HEAD_SECONDS)
    with served(Door(app, "t" * 43, 4096)) as address, socket.create_connection(address) as connection:
        connection.sendall(b"POST /answer HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000\r\n\r\n")
        heard = b""
        while b"token is missing" not in heard:
            heard += connection.recv(4096)
        assert heard.startswith(b"HTTP/1.1 401") and closed_while_dripping(connection) < 30
