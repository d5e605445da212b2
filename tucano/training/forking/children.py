"""The parent's side of tucano/training/forking/server.py: children that are handled like any `subprocess.Popen`."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TextIO


class ForkedChild:
    """A training child that is a grandchild of this process; its attributes are those of `subprocess.Popen`."""

    def __init__(self, given: int, printed: int, told: int) -> None:
        self.returncode: int | None = None
        self.stdout: TextIO = os.fdopen(printed, encoding="utf-8", errors="replace")
        self._given = os.fdopen(given, "wb", buffering=0)
        self._told = os.fdopen(told, encoding="ascii")
        self._lock = threading.Lock()
        number = self._told.readline()
        if not number:
            raise OSError("the fork server has ended")
        self.pid = int(number)

    def poll(self) -> int | None:
        if self._lock.acquire(blocking=False):  # who waits elsewhere will see the end
            try:
                self._hear(0)
            finally:
                self._lock.release()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. TimeoutExpired where the child is still there after so many seconds."""
        with self._lock:
            self._hear(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("a training child", timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _hear(self, timeout: float | None) -> None:
        if self.returncode is not None:
            return
        poller = select.poll()
        poller.register(self._told, select.POLLIN)
        if not poller.poll(None if timeout is None else 1000 * timeout):
            return
        self.returncode = int(self._told.readline() or -signal.SIGKILL)  # nothing: its keeper was killed
        self._told.close()
        self._given.close()


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
        """OSError where the server is not there any more."""
        given, ours = os.pipe()
        reading, printed = os.pipe()
        told, telling = os.pipe()
        theirs = [given, printed, telling]
        try:
            with self._lock:
                socket.send_fds(self._asking, [f"{threads} {job}".encode()], theirs)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return ForkedChild(ours, reading, told)

    def close(self) -> None:
        """End the server, also one that still imports; children go on."""
        self._asking.close()
        self._process.kill()
        self._process.wait()
