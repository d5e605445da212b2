"""What was asked and answered, for people who asked for it in the settings: masked, sampled, bounded.

One JSON line per request in `serving/requests.jsonl` of the storage; MLflow has the same as traces
(tucano/tracking/traces.py), each where it is asked for. A request with `store: false` is not kept.
"""

import json
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from typing import Any

from tucano.masking import mask
from tucano.serving.answers import Ask
from tucano.serving.metrics import Metrics
from tucano.serving.routes import Routed
from tucano.settings.promotion import ServingSettings
from tucano.storage.logs import BoundedLog

log = logging.getLogger(__name__)

FOLDER = "serving"
"""Below a storage root: the request log and what the model processes say; their files while they run."""
FILE = "requests.jsonl"


class RequestLog(AbstractContextManager["RequestLog"]):
    """Keeps a share of the requests, or none. What cannot be written is counted, and said once. trace: is given each
    that is drawn, where they are to be traces too.
    """

    def __init__(
        self,
        folder: Path,
        settings: ServingSettings,
        metrics: Metrics,
        trace: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self._writes, self._trace = settings.log_requests, trace
        self._share = settings.log_share if self._writes or trace else 0.0
        self._random = SystemRandom()
        self._path = folder / FILE
        self._file = BoundedLog(self._path)
        self._lost = 0
        self._counter = metrics.not_kept

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def keep(self, identity: str, ask: Ask, routed: Routed, seconds: float) -> None:
        """Write a request and its answer, if it is drawn."""
        if self._random.random() >= self._share:
            return
        answer = routed.answer
        row = {
            "id": identity,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "task": ask.task,
            "text": mask(ask.text)[0],
            "answer": mask(answer.text)[0],
            "by": answer.by,
            "fault": routed.fault and mask(routed.fault)[0],
            "passed": [mask(sentence)[0] for sentence in routed.passed],
            "tokens_in": answer.tokens_in,
            "tokens_out": answer.tokens_out,
            "seconds": round(seconds, 4),
        }
        if self._writes:
            self._write(json.dumps(row, ensure_ascii=False) + "\n")
        if self._trace:
            self._trace(row)

    def _write(self, line: str) -> None:
        self._file.write(f"\n{line}" if self._lost else line)  # what was lost may have left half a line
        if (fault := self._file.fault) is not None:
            if not self._lost:
                log.error(
                    "%s cannot be written (%s); no request is kept until it can be (tucano_requests_not_kept_total)",
                    self._path,
                    fault,
                )
            self._lost += 1
            self._counter.inc()
        elif self._lost:
            log.warning("%s is written again; %d requests were not kept", self._path, self._lost)
            self._lost = 0
