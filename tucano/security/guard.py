"""The door of every web server that we start: who does not know the home's password gets 401, a page of another origin
403.

Loopback is no boundary: every user of the machine and every page in its browsers reach it. The password alone keeps
both out, also where a name was pointed here (DNS rebinding). The look at `Origin` is for a browser that has logged in
and then opens somebody else's page; for the same reason nobody else may show our pages in a frame.
"""

import hmac
import secrets
import socket
from collections.abc import Callable

import uvicorn
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from tucano.security.access import LINK_PATH, basic, is_link_token

LONGEST_TOKEN_BYTES = 200
OWN_FRAMES = (b"content-security-policy", b"frame-ancestors 'self'")
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":  # Prefect's own, which ask for the password in their first message
            await (WebSocketClose() if _is_foreign(scope) else self.app)(scope, receive, send)
        else:
            answer = await self._answer(scope, receive)
            await (answer or self.app)(scope, receive, _without_foreign_frames(send))

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
            or not is_link_token(token, request.scope["server"][1], self.known)
        ):
            return PlainTextResponse(f"This link was used before, or is older than an hour. {HOW}", 403)
        self.used.add(token)
        return PlainTextResponse(self.known, headers={"Cache-Control": "no-store"})


def serve(app: ASGIApp, address: str) -> None:
    """Serve until SIGTERM on an address: HOST:PORT, or the number of a descriptor of a socket that listens already."""
    host, _, port = address.rpartition(":")
    listener = socket.create_server((host, int(port))) if host else socket.socket(fileno=int(port))
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listener])


def _is_foreign(scope: Scope) -> bool:
    """Whether a page of another origin asks; programs send no Origin."""
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


def _without_foreign_frames(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), OWN_FRAMES]
        await send(message)

    return sending
