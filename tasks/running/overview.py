"""The overview of the storage, kept up to date by the run that lives in it: at the end of every stage, and each minute.

A thread of its own writes it, so that no stage waits for a page.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from prefect import runtime
from prefect.exceptions import Pause, TerminationSignal
from prefect.utilities.urls import url_for

from tasks.running.labels import is_deployed
from tucano.artifacts.store import Artifact
from tucano.overview.page import write_page
from tucano.overview.runs import RunRecord, State, write_run
from tucano.security.printable import short
from tucano.tracking import Tracker
from tucano.tracking.store import is_server

log = logging.getLogger(__name__)

EVERY_SECONDS = 60.0


class Overview:
    """What one run says of itself, and the page that it keeps."""

    def __init__(self, root: Path, record: RunRecord, approval_hours: float | None = None) -> None:
        self._root, self._record, self._approval_hours = root, record, approval_hours
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._keep, name="overview", daemon=True)

    def stage_ended(self, artifact: Artifact) -> None:
        with self._lock:
            stages = {**self._record.stages, artifact.stage: artifact.digest}
            reused = (*self._record.reused, artifact.stage) if artifact.reused else self._record.reused
            self._record = replace(self._record, stages=stages, reused=tuple(dict.fromkeys(reused)))
        self._news.set()

    def hears(self, child: str, sentence: str | None) -> None:
        """The newest sentence of a child at work; None: it has ended."""
        with self._lock:
            others = {name: line for name, line in self._record.at_work.items() if name != child}
            said = {} if sentence is None else {child: sentence}
            self._record = replace(self._record, at_work={**others, **said})

    @contextmanager
    def kept(self) -> Iterator["Overview"]:
        """While the run lives; at its end the page says how it ended."""
        self._thread.start()
        try:
            yield self
        except Pause:
            self._end("waiting", until="" if self._approval_hours is None else _after(self._approval_hours))
            raise
        except BaseException as error:
            interrupted = isinstance(error, KeyboardInterrupt | TerminationSignal)
            self._end("killed" if interrupted else "failed", short(f"{type(error).__name__}: {error}"))
            raise
        self._end("finished")

    def _end(self, state: State, failure: str = "", until: str = "") -> None:
        self._ended = True
        self._news.set()
        self._thread.join()
        self._record = replace(self._record, state=state, failure=failure, until=until, at_work={})
        self._write()

    def _keep(self) -> None:
        while not self._ended:
            self._write()
            self._news.wait(EVERY_SECONDS)
            self._news.clear()

    def _write(self) -> None:
        """A page that cannot be made must not end hours of training; it is said, and made again in a minute."""
        with self._lock:
            self._record = replace(self._record, seen=_now())
            record = self._record
        try:
            write_run(self._root, record)
            write_page(self._root)
        except Exception:
            log.exception("the overview of %s could not be written", self._root)


def overview_of(tracker: Tracker, root: Path, identity: str, label: str, approval_hours: float | None) -> Overview:
    """Of the pipeline run that begins now, which may wait so long for a person."""
    flow_run = runtime.flow_run.id
    record = RunRecord(
        run=identity,
        label=label,
        began=_now(),
        seen=_now(),
        state="running",
        mlflow=tracker.links(identity)["pipeline run"] if is_server(tracker.uri) else tracker.page(identity),
        prefect=str(url_for("flow-run", flow_run)) if is_deployed() else f"runs/flow-run/{flow_run}",
    )
    return Overview(root, record, approval_hours)


def _now() -> str:
    return _after(0)


def _after(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="seconds")
