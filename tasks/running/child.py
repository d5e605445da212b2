"""A training child under a stage: what it says goes to the Prefect log and page while it works."""

import re
import time
from typing import Any

from prefect import get_run_logger

from tasks.running.labels import is_deployed
from tasks.running.progress import ProgressBar
from tasks.running.run import Run
from tucano.training import launch
from tucano.training.jobs import Job, Progress

SAY_EVERY_SECONDS = 5.0
SAID_LINES = 200
"""Lines of a child's own output in a deployed run's log; all of them are in its log file."""
PROGRESS_BAR = re.compile(r"\d%\|")


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
