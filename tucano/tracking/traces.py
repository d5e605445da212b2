"""Served answers as MLflow traces, and people's ratings as assessments of the traces of what they rated.

Traces are sent by a thread, many at a time, so that no request waits for MLflow: what it does not take in time is
counted and lost. An answer is known by its tag `answer` (`answer_key`), those of the evaluation runs too.
"""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from tucano.errors import Transient
from tucano.rating.files import RatingLine
from tucano.storage.logs import BYTES, KEPT
from tucano.tracking import views
from tucano.tracking.evaluations import ANSWER, answer_key
from tucano.tracking.store import artifact_root, is_server, paged, reason
from tucano.tracking.tracker import Tracker, experiment

if TYPE_CHECKING:
    from mlflow.entities import Span
    from mlflow.tracing.client import TracingClient

log = logging.getLogger(__name__)

Row = Mapping[str, Any]
"""What the request log keeps of a request (tucano/serving/request_log.py): masked, with an id of 32 hex digits."""

WAITING = 1000
"""Answers may wait to be sent; a further one is lost."""
BATCH = 200
LOOK_SECONDS, AWAY_SECONDS, END_SECONDS = 1.0, 15.0, 15.0
ATTEMPTS = 20
"""After so many a batch is lost: what a store cannot take must not hold up the others for ever."""
MOST_BYTES = BYTES * (KEPT + 1)
"""Of all traces, as lines of the request log: as much as that log may have."""
SIZE = "bytes"
RATING = "rating"


class Traces:
    """Sends answers to the experiment `tucano-serving` until it is closed. lost: is told how many were not taken."""

    def __init__(self, tracker: Tracker, storage: Path, lost: Callable[[int], None]) -> None:
        from mlflow.tracing.client import TracingClient

        self._client = TracingClient(tracker.uri)
        root = None if is_server(tracker.uri) else artifact_root(storage)
        self._experiment = experiment(tracker.client, views.SERVING, root)
        self._lost = lost
        self._rows: Queue[Row] = Queue(WAITING)
        self._batch: list[Row] = []
        self._closing = Event()
        self._failures = 0
        self._since_look = BYTES
        self._thread = Thread(target=self._work, name="traces", daemon=True)
        self._thread.start()

    def offer(self, row: Row) -> None:
        """Have an answer sent. Never waits, never fails."""
        try:
            self._rows.put_nowait(row)
        except Full:
            self._lost(1)

    def close(self) -> None:
        """Send what waits, while MLflow takes it; at most END_SECONDS."""
        self._closing.set()
        self._thread.join(END_SECONDS)
        if self._thread.is_alive() and (left := len(self._batch) + self._rows.qsize()):
            self._lost(left)
            log.warning("MLflow was too slow for the traces of the last %d answers", left)

    def _work(self) -> None:
        while True:
            ended = self._closing.wait(AWAY_SECONDS if self._failures else LOOK_SECONDS)
            if not self._batch:
                self._batch = self._next()
                self._since_look += sum(map(_size, self._batch))
            if self._batch and self._is_done_with(self._batch):
                self._batch = []
            if ended and (self._batch or self._rows.empty()):
                break
        if left := len(self._batch) + self._rows.qsize():
            self._lost(left)
            log.warning("MLflow did not take the traces of the last %d answers", left)

    def _next(self) -> list[Row]:
        rows: list[Row] = []
        try:
            while len(rows) < BATCH:
                rows.append(self._rows.get_nowait())
        except Empty:
            pass
        return rows

    def _is_done_with(self, batch: list[Row]) -> bool:
        """Whether it was sent, or is lost for good. Sent again it changes nothing: the ids are those of the answers."""
        try:
            self._make_room()
            self._client.log_spans(self._experiment, [_span(row) for row in batch])
        except Exception as error:  # a fault of ours, too, costs traces and no request
            if not self._failures:
                log.error("MLflow takes no traces now (%s); tucano_requests_not_traced_total counts", reason(error))
            self._failures += 1
            if _may_pass(error) and self._failures < ATTEMPTS:
                return False
            self._lost(len(batch))
            return True
        if self._failures:
            log.warning("MLflow takes traces again")
        self._failures = 0
        return True

    def _make_room(self) -> None:
        """Remove the oldest traces, at the start and each time the log would begin another file. While that fails no
        trace is sent, or there would be no end of them.
        """
        if self._since_look < BYTES:
            return
        total = 0
        newest_first = partial(self._client.search_traces, order_by=["timestamp_ms DESC"], include_spans=False)
        for trace in paged(newest_first, locations=[self._experiment]):
            total += _number(trace.info.tags.get(SIZE, ""))
            if total > MOST_BYTES - BYTES:
                oldest = {"max_timestamp_millis": trace.info.request_time, "max_traces": BATCH}
                while self._client.delete_traces(self._experiment, **oldest):
                    pass
                break
        self._since_look = 0


def _may_pass(error: Exception) -> bool:
    """Whether the same may be taken later. That a server did not say its version would be remembered for ever."""
    from mlflow.exceptions import MlflowException
    from mlflow.store.tracking.rest_store import RestStore

    RestStore._get_server_version.cache_clear()
    if isinstance(error, MlflowException):
        return bool(error.get_http_status_code() >= 500)
    return isinstance(error, NotImplementedError)


def _size(row: Row) -> int:
    return len(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))


def _number(tag: str) -> int:
    """A tag may have been written by anybody."""
    return int(tag) if tag.isascii() and tag.isdecimal() and len(tag) < 10 else 0


def _span(row: Row) -> Span:
    """The one span of an answer's trace, whose id is `tr-` and the answer's own."""
    from mlflow.entities import Span

    ended_ms = round(datetime.fromisoformat(row["time"]).timestamp() * 1000)
    read, written = row["tokens_in"], row["tokens_out"]
    tags = {
        "task": row["task"],
        "by": row["by"],
        "valid": "no" if row["fault"] else "yes",
        ANSWER: answer_key(row["task"], row["text"], row["answer"]),
        SIZE: str(_size(row)),
    }
    values: dict[str, Any] = {
        "mlflow.traceRequestId": f"tr-{row['id']}",
        "mlflow.spanType": "LLM",
        "mlflow.spanInputs": {"task": row["task"], "prompt": row["text"]},
        "mlflow.spanOutputs": row["answer"],
        "mlflow.llm.model": row["by"],
        "mlflow.chat.tokenUsage": {"input_tokens": read, "output_tokens": written, "total_tokens": read + written},
        "fault": row["fault"],
        "passed": row["passed"],
        **{f"mlflow.traceTag.{key}": value for key, value in tags.items()},
    }
    identity = bytes.fromhex(row["id"])
    return Span.from_dict(
        {
            "trace_id": b64encode(identity).decode(),
            "span_id": b64encode(identity[:8]).decode(),
            "parent_span_id": "",
            "name": row["task"],
            "start_time_unix_nano": (ended_ms - round(row["seconds"] * 1000)) * 1_000_000,
            "end_time_unix_nano": ended_ms * 1_000_000,
            "attributes": {key: _json(value) for key, value in values.items()},
            "status": {"code": "STATUS_CODE_OK", "message": ""},
        }
    )


def _json(value: Any) -> str:
    """Without half characters, which no store takes."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()


@contextmanager
def refusals_said() -> Iterator[None]:
    """What MLflow refuses, or does not answer, within is Transient with its first line."""
    from mlflow.exceptions import MlflowException
    from requests.exceptions import RequestException

    try:
        yield
    except (MlflowException, RequestException) as error:
        raise Transient(reason(error)) from None


def show_ratings(tracker: Tracker, records: Iterable[RatingLine], withdrawn: Iterable[RatingLine] = ()) -> str:
    """Put people's ratings beside the answers that have traces, under the raters' names, and take `withdrawn` ones
    away. What stands there already is not written again; another rating of the same person takes its place.

    Returns a sentence on how many found a trace.
    """
    from mlflow.tracing.client import TracingClient

    client = TracingClient(tracker.uri)
    of_people = [record for record in records if record.rater_kind == "human"]
    served = tracker.client.get_experiment_by_name(views.SERVING)
    places = [tracker.experiments[views.EVALUATION], *([served.experiment_id] if served else [])]
    for record in withdrawn:
        _assess(client, places, record, None)
    found = sum(_assess(client, places, record, record.rating) for record in of_people)
    return f"{found} of {len(of_people)} ratings stand beside traces of their answers"


def _assess(client: TracingClient, places: list[str], record: RatingLine, rating: int | None) -> bool:
    """Whether the answer has traces: beside each stands this rater's rating, or none."""
    from mlflow.entities import AssessmentSource, Feedback

    source = AssessmentSource("HUMAN", record.rater)
    key = answer_key(record.prompt.task, record.prompt.user, record.completion)
    which = {"locations": places, "filter_string": f"tags.{ANSWER} = '{key}'", "include_spans": False}
    traces = [trace.info for trace in paged(client.search_traces, **which)]
    for info in traces:
        before = [one for one in info.assessments if one.name == RATING and one.source == source]
        if [one.value for one in before] == [rating]:
            continue
        for one in before:
            client.delete_assessment(info.trace_id, one.assessment_id)
        if rating is not None:
            client.log_assessment(info.trace_id, Feedback(name=RATING, value=rating, source=source))
    return bool(traces)
