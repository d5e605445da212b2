"""The door of the server: no token, no answer; and no request is longer, or comes in more slowly, than is allowed.

Loopback is no boundary (tucano/security/guard.py): every user of the machine reaches it. That the server is alive is
said to everybody.
"""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from tucano.serving.requests import failed

OPEN = "/health"
READ_SECONDS = 20
MOST_REQUESTS = 2048
"""At a time, of who has the token."""
SCHEME = re.compile(r"\Abearer +", re.IGNORECASE)
LONGEST_LENGTH = 12
"""Digits of a length that anybody would mean."""
CLOSING = {"Connection": "close"}
"""With what was not read to its end: the rest might come for ever."""
PLAIN = ("", "identity")
COMPRESSED = "the request is compressed; send it without Content-Encoding"
TWO_LENGTHS = "the request says its length twice; leave out Content-Length or Transfer-Encoding"
HOW = "give the token as `Authorization: Bearer TOKEN` (the openai package: api_key); `tucano serve` says where it is"


class TooLong(Exception):
    """A request has more bytes than it may."""


class Door:
    """An ASGI app behind the door. refused: is told the status of each request that does not come in."""

    def __init__(
        self, app: ASGIApp, token: str, request_bytes: int, refused: Callable[[int], None] = lambda status: None
    ) -> None:
        self.app, self.request_bytes = app, request_bytes
        self._refused = refused
        self._known = token.encode()
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] == "websocket":
            return await WebSocketClose()(scope, receive, send)
        headers = Headers(scope=scope)
        given = SCHEME.sub("", headers.get("authorization", "")).encode()
        if scope["path"] != OPEN and not hmac.compare_digest(given, self._known):
            how = CLOSING | {"WWW-Authenticate": "Bearer"}
            return await self._refuse(401, f"the token is missing or wrong; {HOW}", how)(scope, receive, send)
        if "content-length" in headers and "transfer-encoding" in headers:  # a proxy before it might read the other one
            return await self._refuse(400, TWO_LENGTHS, CLOSING)(scope, receive, send)
        if headers.get("content-encoding", "").strip().lower() not in PLAIN:
            return await self._refuse(415, COMPRESSED, CLOSING)(scope, receive, send)
        if len(length := headers.get("content-length", "0")) > LONGEST_LENGTH or int(length) > self.request_bytes:
            return await self._too_long()(scope, receive, send)
        if self._inside >= MOST_REQUESTS:
            full = self._refuse(503, f"{MOST_REQUESTS} requests are here already; try again in a moment", CLOSING)
            return await full(scope, receive, send)
        self._inside += 1
        try:
            await self._enter(scope, receive, send)
        finally:
            self._inside -= 1

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await self._body(receive)
        except TooLong:
            return await self._too_long()(scope, receive, send)
        except TimeoutError:
            late = self._refuse(408, f"the request was not whole after {READ_SECONDS} s", CLOSING)
            return await late(scope, receive, send)
        await _while_there(self.app(scope, _again(body, receive), send), receive)

    def _too_long(self) -> JSONResponse:
        sentence = f"a request has at most {self.request_bytes} bytes (serving.request_bytes); shorten it"
        return self._refuse(413, sentence, CLOSING)

    def _refuse(self, status: int, sentence: str, headers: Mapping[str, str]) -> JSONResponse:
        self._refused(status)
        return failed(status, sentence, headers)

    async def _body(self, receive: Receive) -> bytes:
        content = bytearray()
        while True:
            message = await receive()
            content += message.get("body", b"")
            if len(content) > self.request_bytes:
                raise TooLong
            if not message.get("more_body"):
                return bytes(content)


async def _while_there(answer: Awaitable[None], receive: Receive) -> None:
    """Until it is answered, or whoever asked has gone, which is all that comes after a body: then nothing more is drawn
    for them, and their place is free.
    """
    answering = asyncio.ensure_future(answer)
    leaving = asyncio.ensure_future(receive())
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        answering.cancel()
    with suppress(asyncio.CancelledError):
        await answering


def _again(body: bytes, receive: Receive) -> Receive:
    """What gives the body once more, and then what comes after it."""
    given = False

    async def receiving() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
