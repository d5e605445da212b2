"""How long a training has held machines, over all its attempts: whatever was lost and done again is in it.

    work/machine-time/1795428000.125-host-41.json     one process' stay on a machine

The file is written anew while the stay lasts, here and in the copy in remote storage. A stay that ended with its machine therefore
counts up to its last sign of life there, at most a minute before the end.
"""

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from tucano.journal import read_journal
from tucano.storage import Place

FOLDER = "machine-time"
BEAT_SECONDS = 60.0
MACHINE, BEGAN = "TUCANO_MACHINE", "TUCANO_MACHINE_BEGAN"
"""Environment of machines that are rented for a run: their name in the price table, and when the container began (ISO 8601)."""

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stay:
    """One process on one machine, in Unix seconds; `share` (0 to 1] is its part of a machine that trainings share equally."""

    machine: str
    began_s: float
    last_s: float
    share: float

    @property
    def hours(self) -> float:
        return (self.last_s - self.began_s) * self.share / 3600


@dataclass(frozen=True, slots=True)
class MachineTime:
    """Machine-hours of a training: by machine, and how many of them led to nothing."""

    hours: dict[str, float]
    lost_hours: float
    stays: int


class Clock:
    """Records this process' stay for as long as it is entered. A copy that cannot be written is tried again, and never stops the work."""

    def __init__(self, work: Path, mirror: str | None, machine: str, share: float) -> None:
        self.folder = work / FOLDER
        self.mirror = mirror
        self.machine, self.share = os.environ.get(MACHINE, machine), share
        self.name = f"{time.time():.3f}-{socket.gethostname()}-{os.getpid()}.json"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat_on, name="machine time", daemon=True)

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.began_s = datetime.fromisoformat(os.environ.pop(BEGAN)).timestamp() if BEGAN in os.environ else time.time()
        self._write()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self.beat()

    def spent(self, journal: Path) -> dict[str, Any]:
        """The machine-hours of this training, which has come to its end, as they stand in an artifact's record."""
        return asdict(machine_time(self.stays(), [entry.time_ms / 1000 for entry in read_journal(journal)]))

    def stays(self) -> list[Stay]:
        """All stays of this training so far, on whatever machine."""
        self._write()
        self._download()
        return read_stays(self.folder)

    def beat(self) -> None:
        """A sign of life, here and in the copy."""
        self._write()
        self._upload()

    def _beat_on(self) -> None:
        self._upload()
        while not self._ended.wait(BEAT_SECONDS):
            self.beat()

    def _write(self) -> None:
        stay = Stay(self.machine, self.began_s, time.time(), self.share)
        draft = self.folder / f"{self.name}.{threading.get_ident()}.draft"
        try:
            draft.write_text(json.dumps(asdict(stay)), encoding="utf-8")
            draft.replace(self.folder / self.name)
        except OSError as error:  # a full disk, say
            logger.warning("machine time was not written (%s); it is tried again", error)

    def _upload(self) -> None:
        if self.mirror is not None:
            place, own = Place(self.mirror), self.folder / self.name
            _tried("written", lambda: place.write(f"{FOLDER}/{self.name}", own.read_bytes()))

    def _download(self) -> None:
        if self.mirror is None:
            return
        place = Place(self.mirror)
        for name in _tried("listed", lambda: place.names(FOLDER)) or []:
            stay = None if name == self.name else _tried("read", partial(_read_stay, place, name))
            if stay is not None:
                (self.folder / name).write_text(json.dumps(asdict(stay)), encoding="utf-8")


def _read_stay(place: Place, name: str) -> Stay:
    return Stay(**json.loads(place.read(f"{FOLDER}/{name}")))


def _tried(what: str, call: Callable[[], T]) -> T | None:
    """What a call to remote storage gives; None where it fails."""
    try:
        return call()
    except Exception as error:  # every kind of storage raises its own kinds, and none may end the training
        logger.warning("machine time in remote storage could not be %s (%s: %s)", what, type(error).__name__, error)
        return None


def read_stays(folder: Path) -> list[Stay]:
    """The recorded stays, in the order in which they began."""
    stays = [Stay(**json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("*.json")]
    return sorted(stays, key=lambda stay: stay.began_s)


def machine_time(stays: Sequence[Stay], kept_s: Iterable[float]) -> MachineTime:
    """Machine-hours of a finished training. `kept_s` are the times of the rows that its journal has in the end.

    A stay is of use up to its last kept row; what came after was lost with the machine and done again. The last stay brought the
    training to its end, so nothing of it is lost.
    """
    rows = sorted(kept_s)
    hours: dict[str, float] = {}
    lost = 0.0
    for stay in stays:
        hours[stay.machine] = hours.get(stay.machine, 0.0) + stay.hours
    for stay in stays[:-1]:
        of_use = max((row for row in rows if stay.began_s <= row <= stay.last_s), default=stay.began_s)
        lost += replace(stay, began_s=of_use).hours
    return MachineTime(hours, lost, len(stays))
