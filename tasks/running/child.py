"""A training child under a stage: what it says goes to the Prefect log and page while it works."""

import contextvars
import logging
import re
import threading
import time
from typing import Any, cast
from uuid import UUID

import httpx
from prefect import get_run_logger
from prefect.artifacts import create_progress_artifact, update_progress_artifact

from tasks.running.labels import is_deployed
from tasks.running.run import Run
from tucano.training import launch
from tucano.training.jobs import Job, Progress

log = logging.getLogger(__name__)

SAY_EVERY_SECONDS = 5.0
CLOSE_SECONDS = 5.0
SAID_LINES = 200
"""Lines of a child's own output in a deployed run's log; all of them are in its log file."""
PROGRESS_BAR = re.compile(r"\d%\|")


class ProgressBar:
    """A progress artifact, which shows the newest of the shares (0 to 1) that it was given; those that come faster than
    the server takes them are left out. A thread of its own writes it: training waits for no Prefect server, and
    outlives its outages.
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


def run_child(run: Run, job: Job, label: str) -> dict[str, Any]:
    """Run a training child; its progress goes to the Prefect log (one line in five seconds) and to a progress artifact.

    In a deployment's run, whose log is all that a person sees, so do the first lines that the child prints itself.
    """
    logger = get_run_logger()
    bar = ProgressBar(label)
    hears = run.overview.hears if run.overview is not None else lambda child, sentence: None
    last, lines = 0.0, 0

    def show(progress: Progress) -> None:
        nonlocal last
        if progress.notice is not None:
            logger.warning(progress.line())
        elif time.monotonic() - last >= SAY_EVERY_SECONDS or progress.step == progress.steps:
            last = time.monotonic()
            logger.info(progress.line())
            bar.show(progress.step / progress.steps)
            hears(label, progress.line())

    def repeat(line: str) -> None:
        nonlocal lines
        if not line.strip() or PROGRESS_BAR.search(line):
            return
        lines += 1
        if lines <= SAID_LINES:
            logger.info(f"{label} | {line}")
        elif lines == SAID_LINES + 1:
            logger.info(f"{label} | ... the rest is in {launch.log_of(job)}")

    try:
        worker = run.settings.worker
        heard = repeat if is_deployed() else run.heard
        made = launch.run_job(job, worker.python, show, heard, 60 * worker.silence_minutes)
        bar.show(1.0)  # also where it stopped early
        return made
    finally:
        bar.close()
        hears(label, None)
