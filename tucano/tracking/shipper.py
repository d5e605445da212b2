"""Sends a training journal to an MLflow run from a background thread, every row exactly once, and never disturbs
training.

Only what a checkpoint covers is sent: the rest may be trained, and measured, again. Rows keep their recorded times, and
(run, key, time, step, value) is a primary key in MLflow's store, so sending a batch again after an outage adds nothing.
A cursor beside the journal (`<name>.cursor`) remembers what has arrived; it is written after the batch was accepted.
"""

from __future__ import annotations

import json
import logging
import math
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tucano.storage.journal import Commit, Entry, read_commit, read_span
from tucano.storage.places import write_whole
from tucano.tracking.store import reason

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric

log = logging.getLogger(__name__)

Through = Literal["committed", "all"]

BATCH = 1000
"""MLflow's limit of metrics per call."""

LOOK_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Cursor:
    """What has arrived in run `run_id`: `size` bytes of the journal, up to `step`, when it had been cut `cuts`
    times.
    """

    run_id: str
    size: int = 0
    step: int = -1
    cuts: int = 0


class Shipper:
    """Ships a journal until it is closed. `through="all"` is for a journal that nobody writes any more."""

    def __init__(self, client: MlflowClient, run_id: str, journal: Path, through: Through) -> None:
        self.client, self.run_id, self.journal, self.through = client, run_id, journal, through
        self.complete = False
        self._failures = 0
        self._closing = threading.Event()
        self._deadline = 0.0
        self._thread = threading.Thread(target=self._work, name=f"shipper-{run_id[:8]}", daemon=True)
        self._thread.start()

    def close(self, timeout: float = 60) -> bool:
        """Ship the rest within `timeout` seconds. False: some rows wait in the journal, and a later shipper sends
        them.
        """
        self._deadline = time.monotonic() + timeout
        self._closing.set()
        self._thread.join(timeout)
        return self.complete

    def _work(self) -> None:
        while not self._closing.wait(min(LOOK_SECONDS * 2**self._failures, LONGEST_PAUSE_SECONDS)):
            self._attempt()
        while True:
            self.complete = self._attempt()
            if self.complete or time.monotonic() > self._deadline:
                return
            time.sleep(0.5)

    def _attempt(self) -> bool:
        """Ship what there is; False when the store did not take it. Training must not see these errors, only the
        log.
        """
        from mlflow.exceptions import MlflowException

        try:
            self._ship()
        except (MlflowException, OSError, ValueError) as error:
            if not self._failures:
                log.warning(
                    "metrics of run %s wait in %s until MLflow takes them: %s", self.run_id, self.journal, reason(error)
                )
            self._failures += 1
            return False
        if self._failures:
            log.info("MLflow takes the metrics of run %s again", self.run_id)
        self._failures = 0
        return True

    def _ship(self) -> None:
        if not self.journal.exists():
            return
        commit = read_commit(self.journal)
        cursor = _after_cuts(self._cursor(), commit, self.journal)
        end = commit.size if self.through == "committed" else self.journal.stat().st_size
        for batch in _batches(read_span(self.journal, cursor.size, end)):
            metrics = [metric for entry, _ in batch for metric in as_metrics(entry)]
            tags = {key: value for entry, _ in batch for key, value in infinities(entry.values, entry.step).items()}
            if read_commit(self.journal).cuts != commit.cuts:
                return  # cut while we read: look again
            for start in range(0, len(metrics), BATCH):
                self.client.log_batch(self.run_id, metrics=metrics[start : start + BATCH])
            for key, value in tags.items():
                self.client.set_tag(self.run_id, key, value)
            last, size = batch[-1]
            self._remember(Cursor(self.run_id, size, last.step, len(commit.cuts)))

    def _cursor(self) -> Cursor:
        path = self._cursor_path()
        if path.exists():
            cursor = Cursor(**json.loads(path.read_text(encoding="utf-8")))
            if cursor.run_id == self.run_id:
                return cursor
        return Cursor(self.run_id)

    def _remember(self, cursor: Cursor) -> None:
        write_whole(self._cursor_path(), json.dumps(asdict(cursor)))

    def _cursor_path(self) -> Path:
        return self.journal.with_name(self.journal.name + ".cursor")


def as_metrics(entry: Entry) -> list[Metric]:
    """MLflow's rows of an entry, with the time at which they were measured."""
    from mlflow.entities import Metric

    return [Metric(metric_key(name), stored(value), entry.time_ms, entry.step) for name, value in entry.values.items()]


def stored(value: float) -> float:
    """NaN for an infinity: MLflow would make 1.8e308 of it, as if it were a number, in page, curve and leaderboard."""
    return math.nan if math.isinf(value) else float(value)


def infinities(metrics: Mapping[str, float], step: int) -> dict[str, str]:
    """Tags that say which metrics are infinite: {"infinite/train/loss": "inf at step 12"}"""
    return {
        f"infinite/{metric_key(name)}": f"{value} at step {step}"
        for name, value in metrics.items()
        if math.isinf(value)
    }


def metric_key(name: str) -> str:
    """`name` with what MLflow refuses in a key replaced: one bad name must not hold up all the others."""
    return re.sub(r"/+", "/", re.sub(r"[^\w\-. /:]", "_", name)).strip("/")[:250] or "_"


def _after_cuts(cursor: Cursor, commit: Commit, journal: Path) -> Cursor:
    """The place to go on from.

    Resuming from an older checkpoint cuts the journal below what has arrived. The steps trained again stand in MLflow
    already, so shipping goes on at the first step that does not.
    """
    if all(size >= cursor.size for size in commit.cuts[cursor.cuts :]):
        return cursor
    start = 0
    for entry, after in read_span(journal, 0, journal.stat().st_size):
        if entry.step > cursor.step:
            break
        start = after
    return Cursor(cursor.run_id, start, cursor.step, len(commit.cuts))


def _batches(span: Iterator[tuple[Entry, int]]) -> Iterator[list[tuple[Entry, int]]]:
    """Whole entries together, as many as fit one call (an entry too big for one call comes alone)."""
    batch: list[tuple[Entry, int]] = []
    rows = 0
    for entry, after in span:
        if batch and rows + len(entry.values) > BATCH:
            yield batch
            batch = []
            rows = 0
        batch.append((entry, after))
        rows += len(entry.values)
    if batch:
        yield batch
