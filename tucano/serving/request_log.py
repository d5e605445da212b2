"""What was asked and answered, for people who asked for it in the settings: masked, sampled, bounded.

One JSON line per request in `serving/requests.jsonl` of the storage. A request with `store: false` is not kept.
"""

import json
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from typing import Self

from tucano.masking import mask
from tucano.serving.answers import Ask
from tucano.serving.routes import Routed
from tucano.settings.promotion import ServingSettings
from tucano.storage.logs import BoundedLog

FOLDER = "serving"
"""Below a storage root: the request log and what the model processes say; their files while they run."""
FILE = "requests.jsonl"


class RequestLog(AbstractContextManager["RequestLog"]):
    """Keeps a share of the requests, or none."""

    def __init__(self, folder: Path, settings: ServingSettings) -> None:
        self._share = settings.log_share if settings.log_requests else 0.0
        self._random = SystemRandom()
        self._file = BoundedLog(folder / FILE)

    def __enter__(self) -> Self:
        return self

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
        self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
