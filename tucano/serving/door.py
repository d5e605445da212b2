"""The door of the server: no token, no answer; and no request is longer, or comes in more slowly, than is allowed.

Loopback is no boundary (tucano/security/guard.py): every user of the machine reaches it. That the server is alive is
said to everybody.
"""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
        refusal = self._at_the_door(Headers(scope=scope), scope["path"])
        if refusal is None:
            self._inside += 1
            try:
                refusal = await self._entered(scope, receive, send)
            finally:
                self._inside -= 1
        if refusal is not None:
            self._refused(refusal.status_code)
            await refusal(scope, receive, send)

    def _at_the_door(self, headers: Headers, path: str) -> JSONResponse | None:
        """Why a request does not come in."""
        given = SCHEME.sub("", headers.get("authorization", "")).encode()
        if path != OPEN and not hmac.compare_digest(given, self._known):
            how = CLOSING | {"WWW-Authenticate": "Bearer"}
            return failed(401, f"the token is missing or wrong; {HOW}", how)
        if "content-length" in headers and "transfer-encoding" in headers:  # a proxy before it might read the other one
            return failed(400, TWO_LENGTHS, CLOSING)
        if headers.get("content-encoding", "").strip().lower() not in PLAIN:
            return failed(415, COMPRESSED, CLOSING)
        if len(length := headers.get("content-length", "0")) > LONGEST_LENGTH or int(length) > self.request_bytes:
            return self._too_long()
        if self._inside >= MOST_REQUESTS:
            return failed(503, f"{MOST_REQUESTS} requests are here already; try again in a moment", CLOSING)
        return None

    async def _entered(self, scope: Scope, receive: Receive, send: Send) -> JSONResponse | None:
        """Why a request that came in has no answer of the app."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await self._body(receive)
        except TimeoutError:
            return failed(408, f"the request was not whole after {READ_SECONDS} s", CLOSING)
        if body is None:
            return self._too_long()
        await _while_there(self.app(scope, _again(body, receive), send), receive)
        return None

    def _too_long(self) -> JSONResponse:
        sentence = f"a request has at most {self.request_bytes} bytes (serving.request_bytes); shorten it"
        return failed(413, sentence, CLOSING)

    async def _body(self, receive: Receive) -> bytes | None:
        """None for one that is longer than it may be."""
        content = bytearray()
        while True:
            message = await receive()
            content += message.get("body", b"")
            if len(content) > self.request_bytes:
                return None
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
