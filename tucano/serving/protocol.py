"""HTTP as uvicorn speaks it, with a limit to how slowly the head of a request may come in.

uvicorn limits how long a connection may be silent after an answer, and nothing before one: some thousand connections
that never finish their first line would be all that a server holds.
"""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20


class PromptProtocol(H11Protocol):
    """A connection is closed where the head of its next request is not whole `HEAD_SECONDS` after it was opened, or
    after its last answer.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._late = self.loop.call_later(HEAD_SECONDS, transport.close)

    def handle_events(self) -> None:
        super().handle_events()
        waiting = self.conn.their_state is h11.IDLE
        if waiting and self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)
        elif not waiting:
            self._in_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        super().connection_lost(exc)

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
