"""The parent's side of tucano/training/forking/server.py: children that are handled like any `subprocess.Popen`."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TextIO

FORK_SECONDS = 600
"""A server that has told nothing of a child for so long hangs; importing takes it eight."""


class ForkedChild:
    """A training child that is a grandchild of this process; what it has is as in `subprocess.Popen`."""

    def __init__(self, given: IO[bytes], printed: TextIO, told: TextIO) -> None:
        self.returncode: int | None = None
        self.stdout = printed
        self._given = given
        self._told = told
        self._lock = threading.Lock()
        number = told.readline() if _speaks(told, FORK_SECONDS) else ""
        if not number:
            raise OSError("the fork server has ended, or hangs")
        self.pid = int(number)

    def poll(self) -> int | None:
        self._hear(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. TimeoutExpired where the child is still there after so many seconds."""
        self._hear(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("a training child", timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _hear(self, timeout: float | None) -> None:
        if not self._lock.acquire(timeout=-1 if timeout is None else timeout):
            return  # who waits elsewhere will see the end
        try:
            if self.returncode is None and _speaks(self._told, timeout):
                self.returncode = int(self._told.readline() or -signal.SIGKILL)  # nothing: its keeper was killed
                self._told.close()
                self._given.close()
        finally:
            self._lock.release()


def _speaks(pipe: TextIO, seconds: float | None) -> bool:
    poller = select.poll()
    poller.register(pipe, select.POLLIN)
    return bool(poller.poll(None if seconds is None else 1000 * seconds))


class ForkServer:
    """Starts at once, and forks as soon as it has imported what children need."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._asking, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        with asked:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tucano.training.forking.server"],
                stdin=asked.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=environment,
            )

    def fork(self, job: Path, threads: int) -> ForkedChild:
        """OSError where the server is not there any more, or does not answer."""
        pipes = [os.pipe() for _ in range(3)]  # what it is given, what it prints, what is told of it
        (given, ours), (reading, printed), (told, telling) = pipes
        theirs = (given, printed, telling)
        with ExitStack() as kept:
            mine = (
                kept.enter_context(os.fdopen(ours, "wb", buffering=0)),
                kept.enter_context(os.fdopen(reading, encoding="utf-8", errors="replace")),
                kept.enter_context(os.fdopen(told, encoding="ascii")),
            )
            try:
                with self._lock:
                    socket.send_fds(self._asking, [os.fsencode(f"{threads} {job}")], theirs)
            finally:
                for descriptor in theirs:
                    os.close(descriptor)
            try:
                child = ForkedChild(*mine)
            except OSError:
                self._process.kill()  # or it might fork the same job later
                raise
            kept.pop_all()
        return child

    def close(self) -> None:
        """End the server, also one that still imports; children go on."""
        self._asking.close()
        self._process.kill()
        self._process.wait()
