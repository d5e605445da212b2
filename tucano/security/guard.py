"""The door of every web server that we start: who does not know the home's password gets 401, a page of another origin
403.

Loopback is no boundary: every user of the machine and every page in its browsers reach it. The password alone keeps
both out, also where a name was pointed here (DNS rebinding). The look at `Origin` is for a browser that has logged in
and then opens somebody else's page; for the same reason nobody else may show our pages in a frame.
"""

import asyncio
import hmac
import json
import secrets
import socket
import time
from collections.abc import Callable

import uvicorn
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from tucano.security.access import LINK_PATH, basic, is_link_token
from tucano.security.addresses import is_foreign

LONGEST_TOKEN_BYTES = 200
FIRST_MESSAGE_SECONDS = 10.0
OWN_FRAMES = (b"content-security-policy", b"frame-ancestors 'self'")
OWN_SOURCES = (b"content-security-policy", b"default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'")
"""Pages that others made ask nobody but their own server, whatever telemetry is built into them."""
HOW = (
    "Log in: `tucano ui` and `tucano status` print a link, and where the password is. Programs give it as HTTP basic"
    " authentication."
)
PAGE = """<!doctype html><meta charset="utf-8"><title>tucano</title><p id="said">…</p>
<script nonce="{nonce}">
const token = location.hash.slice(1);
history.replaceState(null, '', '{path}');
const remember = {remember};
(async () => {{
  const answer = await fetch('{path}', {{method: 'POST', body: token}});
  const said = await answer.text();
  if (!answer.ok) return said;
  await remember(said);
  location.replace('/');
  return '';
}})().then(text => document.getElementById('said').textContent = text);
</script>"""


class Guard:
    """An ASGI app behind the door.

    `is_open(path)` says what everybody may read. `remember` is a JavaScript function that makes the browser keep the
    credentials for this origin. With `challenge` the browser asks for them itself, though not for somebody else's page.
    """

    def __init__(
        self, app: ASGIApp, known: str, is_open: Callable[[str], bool], remember: str, challenge: bool
    ) -> None:
        self.app, self.known, self.is_open, self.remember = app, known, is_open, remember
        self.challenge = {"WWW-Authenticate": 'Basic realm="tucano", charset="UTF-8"'} if challenge else {}
        self.used: set[str] = set()
        self.since = time.time()  # which links of before were used nobody knows any more

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await (WebSocketClose() if _is_foreign(scope) else self._behind_first_message)(scope, receive, send)
        else:
            answer = await self._answer(scope, receive)
            await (answer or self.app)(scope, receive, _own_origin_alone(send))

    async def _behind_first_message(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Prefect's sockets ask for the password in their first message; nothing else reaches them as the first."""
        admitted = False

        async def receiving() -> Message:
            nonlocal admitted
            if admitted:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), FIRST_MESSAGE_SECONDS)
            except TimeoutError:
                message = {"type": "websocket.receive"}
            if message["type"] != "websocket.receive" or (admitted := self._is_login(message)):
                return message
            await send({"type": "websocket.close", "code": 1008})
            return {"type": "websocket.disconnect", "code": 1008}

        await self.app(scope, receiving, send)

    def _is_login(self, message: Message) -> bool:
        """Whether a socket's message is the one that gives the password."""
        try:
            given = json.loads(message.get("text") or message.get("bytes") or "")
        except (ValueError, RecursionError):
            return False
        token = given.get("token") if isinstance(given, dict) and given.get("type") == "auth" else None
        return isinstance(token, str) and hmac.compare_digest(token.encode(), self.known.encode())

    async def _answer(self, scope: Scope, receive: Receive) -> Response | None:
        """Our own answer; None where the app shall give its own."""
        if scope["path"] == LINK_PATH:
            return await self._login(Request(scope, receive))
        given = Headers(scope=scope).get("authorization", "")
        foreign = _is_foreign(scope)
        if not self.is_open(scope["path"]) and not hmac.compare_digest(given.encode(), basic(self.known).encode()):
            return PlainTextResponse(HOW, 401, {} if foreign else self.challenge)
        return PlainTextResponse("A page of another origin asks.", 403) if foreign else None

    async def _login(self, request: Request) -> Response:
        """The page that a login link opens, and what it asks for: the credentials, in exchange for the link's token,
        once.
        """
        if request.method != "POST":
            nonce = secrets.token_urlsafe(16)
            policy = f"default-src 'none'; script-src 'nonce-{nonce}'; connect-src 'self'; base-uri 'none'"
            return HTMLResponse(
                PAGE.format(nonce=nonce, path=LINK_PATH, remember=self.remember),
                headers={"Content-Security-Policy": policy},
            )
        token = ""
        async for chunk in request.stream():
            token += chunk.decode("ascii", "replace")
            if len(token) > LONGEST_TOKEN_BYTES:
                break
        if (
            _is_foreign(request.scope)
            or token in self.used
            or not is_link_token(token, request.scope["server"][1], self.known, self.since)
        ):
            return PlainTextResponse(f"This link was used before, or is older than an hour or this server. {HOW}", 403)
        self.used.add(token)
        return PlainTextResponse(self.known, headers={"Cache-Control": "no-store"})


def serve(app: ASGIApp, address: str) -> None:
    """Serve until SIGTERM on an address: HOST:PORT, or the number of a descriptor of a socket that listens already."""
    host, _, port = address.rpartition(":")
    listener = socket.create_server((host, int(port))) if host else socket.socket(fileno=int(port))
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listener])


def _is_foreign(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return is_foreign(headers.get("origin"), headers.get("host"))


def _own_origin_alone(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), OWN_FRAMES, OWN_SOURCES]
        await send(message)

    return sending
