"""HTTP as uvicorn speaks it, with a limit to how slowly the head of a request may come in, and how many are awaited.

uvicorn limits how long a connection may be silent after an answer, and nothing before one: some thousand connections
that never finish their first line would be all that a server holds.
"""

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20
MOST_SILENT = 512
ROOM_SECONDS = 0.5
"""So many connections' next requests are awaited. Where there are more, those that have been silent longest are closed
after a moment: what they had sent with their first breath has been read by then.
"""


class PromptProtocol(H11Protocol):
    """A connection is closed where the head of its next request is not whole `HEAD_SECONDS` after it was opened, or
    after its last answer; earlier where many are silent.
    """

    _silent: ClassVar[dict["PromptProtocol", None]] = {}
    """In the order in which they fell silent."""
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def handle_events(self) -> None:
        super().handle_events()
        waiting = self.conn.their_state is h11.IDLE
        if waiting and self._late is None:
            self._await_head()
        elif not waiting:
            self._in_time()

    def _await_head(self) -> None:
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)
        self._silent[self] = None
        if len(self._silent) > MOST_SILENT:
            self.loop.call_later(ROOM_SECONDS, self._make_room)

    def _make_room(self) -> None:
        for oldest in list(self._silent)[:-MOST_SILENT]:
            oldest._in_time()
            oldest.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        super().connection_lost(exc)

    def _in_time(self) -> None:
        self._silent.pop(self, None)
        if self._late is not None:
            self._late.cancel()
            self._late = None
