"""A progress artifact that a thread of its own writes: training waits for no Prefect server, and outlives its
outages.
"""

import contextvars
import logging
import re
import threading
from typing import cast
from uuid import UUID

import httpx
from prefect.artifacts import create_progress_artifact, update_progress_artifact

log = logging.getLogger(__name__)

CLOSE_SECONDS = 5.0


class ProgressBar:
    """Shows the newest of the shares (0 to 1) it was given; those that come faster than the server takes them are left
    out.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._share = 0.0
        self._news, self._ended = threading.Event(), False
        self._news.set()
        run = contextvars.copy_context().run  # the artifact belongs to the task run that makes it
        self._thread = threading.Thread(target=run, args=(self._write,), daemon=True)
        self._thread.start()

    def show(self, share: float) -> None:
        self._share = share
        self._news.set()

    def close(self) -> None:
        """Give the last share a moment to arrive."""
        self._ended = True
        self._news.set()
        self._thread.join(CLOSE_SECONDS)

    def _write(self) -> None:
        identity: UUID | None = None
        while True:
            self._news.wait()
            self._news.clear()
            ended = self._ended
            percent = 100 * self._share
            try:
                if identity is None:
                    key = re.sub(r"[^a-z0-9]+", "-", self._label.lower())  # sql_qa: Prefect takes no underscore
                    identity = cast(UUID, create_progress_artifact(percent, key=key, description=self._label))
                else:
                    update_progress_artifact(identity, percent)
            except httpx.HTTPError as error:
                log.warning("Prefect did not take the progress of %s: %s", self._label, error)
            if ended:
                return
