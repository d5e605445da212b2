"""A page for one person, on this machine's loopback only: what the pages of `tucano rate` and `tucano try` share.

A random token in the address keeps other web pages and other users of the machine out: whoever does not know it can
neither read nor write. A page of another origin, or one whose name was pointed here, is refused even with it. What is
shown is untrusted: templates escape everything, and a page runs no script but its own.
"""

import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tucano.errors import UserError
from tucano.security.addresses import is_foreign
from tucano.security.printable import short

HOST = "127.0.0.1"
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST_WHY = 1000
"""Characters of a sentence in the terminal."""
MOST_IGNORED_BYTES = 2**20
"""Of a request that is too long so many are read, so that whoever sent it reads why it is refused."""


class LocalServer(ThreadingHTTPServer):
    """Serves pages below `url`; port 0 takes any free one. UserError where the port cannot be had."""

    request_queue_size = 128
    """Connections that may wait; with five, the default, a burst of a browser's own is refused."""

    def __init__(self, handler: type["LocalHandler"], port: int) -> None:
        self.token = secrets.token_urlsafe(16)
        try:
            super().__init__((HOST, port), handler)
        except (OSError, OverflowError) as error:
            raise UserError(
                f"--port {port} cannot be used ({error}); choose another, or leave it out for any free one"
            ) from error
        self.url = f"http://{HOST}:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went on before it had the whole page is nothing to report."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def serve_until_stopped(self, say: Callable[[], None]) -> None:
        """Until Ctrl-C, or whatever else ends a program; `say` is called once it answers."""
        stop = threading.Event()
        before = {number: signal.signal(number, lambda *_: stop.set()) for number in STOP_SIGNALS}
        thread = threading.Thread(target=self.serve_forever)
        thread.start()
        say()
        stop.wait()
        self.shutdown()
        thread.join()
        for number, handler in before.items():
            signal.signal(number, handler)


class LocalHandler(BaseHTTPRequestHandler):
    """Requests of who knows the token."""

    places: ClassVar[tuple[str, ...]] = ("",)
    """What may stand behind the token in an address."""
    most_bytes: ClassVar[int]
    """Of a request."""
    server: LocalServer
    timeout = 30
    """Seconds for a request's head, and for its whole body."""

    def asked(self) -> str | None:
        """The place that is asked for; None where the request was refused."""
        known = f"/{self.server.token}/"
        begin, place = self.path[: len(known)], self.path[len(known) :]
        hosts = (f"{HOST}:{self.server.server_port}", f"localhost:{self.server.server_port}")
        host = self.headers.get("Host")
        if host not in hosts or is_foreign(self.headers.get("Origin"), host):
            self.send(403, "Esta página só responde a si mesma: abra o link que o terminal mostra.")
        elif secrets.compare_digest(begin.encode(), known.encode()) and place in self.places:
            return place
        else:
            self.send(404, "Este não é o endereço da sessão: abra o link que o terminal mostra.")
        return None

    def body(self) -> bytes | None:
        """What the request holds; None where it was refused. Read after `asked`: whoever does not know the token holds
        nothing up. TimeoutError, which ends the connection, for one that takes too long.
        """
        given = self.headers.get("Content-Length", "")
        length = int(given) if given.isdecimal() and len(given) < len(str(2**63)) else 0
        if length <= self.most_bytes:
            return self._read(length)
        self._read(min(length, MOST_IGNORED_BYTES))
        self.send(413, f"O pedido tem mais de {self.most_bytes // 1024} KB; encurte o texto.")
        return None

    def _read(self, length: int) -> bytes:
        ends = time.monotonic() + self.timeout
        found = b""
        while len(found) < length:
            self.connection.settimeout(max(ends - time.monotonic(), 0.001))
            part = self.rfile.read1(length - len(found))
            if not part:
                break
            found += part
        self.connection.settimeout(self.timeout)
        return found

    def send_page(self, render: Callable[[str], str], *more: str) -> None:
        """A page, made with the nonce that its own style and script have. `more`: what else it may do."""
        nonce = secrets.token_urlsafe(16)
        policy = ["default-src 'none'", f"style-src 'nonce-{nonce}'", f"script-src 'nonce-{nonce}'", "img-src data:"]
        policy += ["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'", *more]
        self.send(200, render(nonce), {"Content-Security-Policy": "; ".join(policy)})

    def send(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        content = text.encode()
        kind = "text/html" if status == 200 else "text/plain"
        # «same-origin»: with none at all browsers send our own form's Origin as `null`, which is foreign
        fixed = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff"}
        self.send_response(status)
        for name, value in {
            **fixed,
            **(headers or {}),
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(content)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def failed(self, status: int, sentence: str, why: Exception) -> None:
        """Say that something did not work: to the reader in Portuguese, and in the terminal, in English, why."""
        print(f"Not done: {short(str(why), LONGEST_WHY)}", file=sys.stderr, flush=True)
        self.send(status, f"{sentence} O terminal diz por quê.")

    def log_message(self, format: str, *args: object) -> None:
        """The terminal shows what it is for, not requests."""
