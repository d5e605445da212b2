"""What of Prefect's log a person at a terminal sees. A mistake of theirs is one sentence, printed by the command
itself.
"""

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tucano.errors import TucanoError
from tucano.security.printable import short

LONGEST = 80
"""Characters of a line that is repeated."""

ENGINE_CHATTER = (
    "Finished in state",
    "Encountered exception during execution",
    "Beginning flow run",
    "Task run failed with exception",
    "Crash detected! Execution was aborted by a",  # a signal: the command says itself what that means
)


def _is_known(record: logging.LogRecord) -> bool:
    return bool(record.exc_info and isinstance(record.exc_info[1], TucanoError))


class WithoutKnownTracebacks(logging.Filter):
    """Keeps the message of a typed error and drops its traceback; our own bugs keep theirs."""

    def filter(self, record: logging.LogRecord) -> bool:
        if _is_known(record):
            record.exc_info = None
        return True


class ForPeople(logging.Filter):
    """Drops the engine's state messages, except that a retry is worth knowing."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        retried = "Retry" in message and "will start" in message
        shown = retried or not (_is_known(record) or message.startswith(ENGINE_CHATTER))
        if shown:
            _last.update(at=time.monotonic(), said=message)
        return shown


_last: dict[str, Any] = {}
"""The newest line that was shown, and when."""


@contextmanager
def breaking_silence(seconds: float = 30.0) -> Iterator[None]:
    """Within, a line after every so many seconds without any says that the run is at work, and what was said last."""
    over = threading.Event()
    _last.update(at=time.monotonic(), said="starting Prefect")

    def watch() -> None:
        spoke = 0.0
        while not over.wait(seconds / 10):
            now = time.monotonic()
            if now - max(spoke, _last["at"]) >= seconds:
                spoke, silent = now, now - _last["at"]
                said = f"{silent:.0f} s silent, still at work; last was: {short(_last['said'], LONGEST)}"
                print(f"{time.strftime('%H:%M:%S')}  {said}", file=sys.stderr, flush=True)

    threading.Thread(target=watch, name="silence", daemon=True).start()
    try:
        yield
    finally:
        over.set()
