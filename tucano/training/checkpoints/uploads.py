"""Uploads in the background: training never waits for them and never fails because of them."""

import logging
import threading
import time
from collections.abc import Callable

LONGEST_PAUSE_SECONDS = 60.0

logger = logging.getLogger(__name__)


class Uploader:
    """Pushes the newest checkpoint, again and again until it has arrived; one that was overtaken is left out."""

    def __init__(self, push: Callable[[str], None]) -> None:
        self.push = push
        self._waiting: str | None = None
        self._wake = threading.Condition()
        self._deadline: float | None = None
        self._thread = threading.Thread(target=self._work, name="uploader", daemon=True)
        self._thread.start()

    def add(self, name: str) -> None:
        with self._wake:
            self._waiting = name
            self._wake.notify()

    def close(self, seconds: float) -> bool:
        """Go on for at most `seconds`; whether everything has arrived."""
        with self._wake:
            self._deadline = time.monotonic() + seconds
            self._wake.notify()
        self._thread.join(seconds)
        return not self._thread.is_alive() and self._waiting is None

    def _work(self) -> None:
        failures = 0
        while (name := self._next(failures)) is not None:
            try:
                self.push(name)
            except Exception as error:  # every kind of storage raises its own kinds, and none may end this thread
                if isinstance(error, FileNotFoundError) and self._waiting != name:
                    logger.info("%s was pruned while it was uploaded: a newer one follows", name)
                    continue
                failures += 1
                logger.warning("upload of %s failed (%s: %s); it is tried again", name, type(error).__name__, error)
                continue
            if failures:
                logger.info("upload of %s succeeded after %d failures", name, failures)
            failures = 0
            with self._wake:
                if self._waiting == name:
                    self._waiting = None

    def _next(self, failures: int) -> str | None:
        """Wait for work, after failures also for a while; None at the end."""
        with self._wake:
            if failures:
                self._wake.wait(
                    0.5 if self._deadline is not None else min(2.0 ** (failures - 1), LONGEST_PAUSE_SECONDS)
                )
            self._wake.wait_for(lambda: self._waiting is not None or self._deadline is not None)
            if self._deadline is not None and (self._waiting is None or time.monotonic() > self._deadline):
                return None
            return self._waiting
