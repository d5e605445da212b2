"""Log files that do not grow without end: a full one is put aside (`FILE.1`, `FILE.2`, …), and the oldest goes.

python -m tucano.storage.logs FILE      writes there what comes on standard input, for programs that know nothing of it
"""

import errno
import logging
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import IO

from tucano.storage.places import require_file

BYTES = 10_000_000
KEPT = 3
CHUNK = 65_536
APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW


class BoundedLog(RotatingFileHandler):
    """Appends to a log of at most `BYTES`, and keeps `KEPT` older ones. What a full disk does not take is lost, and
    nothing else is. Where the file was moved away or deleted a new one is begun.
    """

    terminator = ""
    fault: BaseException | None = None
    """Why the last text was lost; None where it was written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=BYTES, backupCount=KEPT, encoding="utf-8", delay=True, errors="replace")

    def write(self, text: str) -> None:
        self.fault = None
        self.handle(logging.makeLogRecord({"msg": text}))

    def _open(self) -> TextIOWrapper:
        """An ordinary file that is no link: a pipe would be waited for, and what a link leads to is not ours."""
        handle = os.open(self.baseFilename, APPENDING, 0o666)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EINVAL, "it is no ordinary file")
        return os.fdopen(handle, "a", encoding=self.encoding, errors=self.errors)

    def emit(self, record: logging.LogRecord) -> None:
        if not self._in_place():
            self._let_go()
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Nobody could read a message about it here; who writes may ask for the fault."""
        self.fault = sys.exception()
        self._let_go()  # with what it still holds: a text that is lost does not come later

    def _in_place(self) -> bool:
        """Whether the file that is open is the one that has the log's name now."""
        try:
            named = Path(self.baseFilename).stat()
            return self.stream is None or os.path.samestat(named, os.fstat(self.stream.fileno()))
        except (OSError, ValueError):
            return False

    def _let_go(self) -> None:
        stream, self.stream = self.stream, None
        if stream is not None:
            with suppress(OSError):
                stream.close()


@contextmanager
def relayed(path: Path) -> Iterator[IO[bytes]]:
    """An output for a program that is started herein. A process of its own writes it to the log, and ends with the last
    who holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    require_file(path)
    command = [sys.executable, "-m", __name__, str(path)]
    relay = Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
    assert relay.stdin is not None
    with relay.stdin:
        yield relay.stdin


def main(path: Path) -> None:
    """Whole lines, as many at a time as have come."""
    rest = b""
    with closing(BoundedLog(path)) as log:
        while chunk := os.read(sys.stdin.fileno(), CHUNK):
            lines, newline, rest = (rest + chunk).rpartition(b"\n")
            log.write((lines + newline).decode("utf-8", "replace"))
            if len(rest) > CHUNK:
                log.write(rest.decode("utf-8", "replace"))
                rest = b""
        log.write(rest.decode("utf-8", "replace"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
