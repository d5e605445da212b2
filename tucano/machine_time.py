"""How long trainings have held machines, over all their attempts: whatever was lost and done again is in it.

    work/machine-time/1795428000.125-host-41.json     one process' stay on a machine

The file is written anew while the stay lasts, here and in the copy in remote storage. A stay that ended with its
machine therefore counts up to its last sign of life there, at most a minute before the end.

What is recorded are the stays themselves. How much of a machine each of them held is worked out from all of them
together (`divided`), so that trainings side by side add up to the time for which their machine was held, however
unequal they are.
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
from itertools import pairwise
from pathlib import Path
from typing import Any, Self, TypeVar

from tucano.storage.folder import Folder
from tucano.storage.journal import read_journal
from tucano.storage.places import write_whole

FOLDER = "machine-time"
BEAT_SECONDS = 60.0
MACHINE, BEGAN = "TUCANO_MACHINE", "TUCANO_MACHINE_BEGAN"
"""Environment of machines that are rented for a run: their name in the price table, and when the container began (ISO
8601).
"""

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stay:
    """One process on a host, whose name in the price table is `machine`, in Unix seconds. What it did after `useful_s`
    was lost.
    """

    host: str
    machine: str
    began_s: float
    last_s: float
    useful_s: float


@dataclass(frozen=True, slots=True)
class Held:
    """A stay's part of its machine, in hours, and how many of them were lost."""

    hours: float
    lost_hours: float


def machine_name(named: str) -> str:
    """The machine's name in the price table: what its environment says, or else what the settings do."""
    return os.environ.get(MACHINE, named)


class Clock:
    """Records this process' stay for as long as it is entered. A copy that cannot be written is tried again, and never
    stops the work.
    """

    def __init__(self, work: Path, mirror: str | None, machine: str) -> None:
        self.work = work
        self.mirror = Folder(mirror) if mirror is not None else None
        self.machine = machine_name(machine)
        self.host = socket.gethostname()
        self.file = f"{FOLDER}/{time.time():.3f}-{self.host}-{os.getpid()}.json"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat_on, name="machine time", daemon=True)

    def __enter__(self) -> Self:
        began = os.environ.pop(BEGAN, None)  # in one step: several seeds of a rented machine begin at once
        self.began_s = datetime.fromisoformat(began).timestamp() if began else time.time()
        self._thread.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._ended.set()
        self._thread.join()
        self.beat()

    def spent(self, journal: Path) -> list[dict[str, Any]]:
        """The stays of this training, which has come to its end, as they stand in an artifact's record."""
        return [
            asdict(stay) for stay in judged(self.stays(), [entry.time_ms / 1000 for entry in read_journal(journal)])
        ]

    def stays(self) -> list[Stay]:
        """All stays of this training so far, on whatever machine, in the order in which they began."""
        found = {self.file: self._own()}
        for place in [Folder(str(self.work)), *([self.mirror] if self.mirror is not None else [])]:
            for name in _tried("listed", partial(place.names, FOLDER)) or []:
                file = f"{FOLDER}/{name}"
                if file not in found and name.endswith(".json"):
                    stay = _tried("read", partial(_read, place, file))
                    found |= {file: stay} if stay is not None else {}
        return sorted(found.values(), key=lambda stay: stay.began_s)

    def beat(self) -> None:
        """A sign of life, here and in the copy."""
        text = json.dumps(asdict(self._own()))
        _tried("written", lambda: write_whole(self.work / self.file, text))
        if (mirror := self.mirror) is not None:
            _tried("written to remote storage", lambda: mirror.write(self.file, text.encode()))

    def _own(self) -> Stay:
        now = time.time()
        return Stay(self.host, self.machine, self.began_s, now, now)

    def _beat_on(self) -> None:
        self.beat()
        while not self._ended.wait(BEAT_SECONDS):
            self.beat()


def _read(place: Folder, file: str) -> Stay:
    return Stay(**json.loads(place.read(file)))


def _tried(what: str, call: Callable[[], T]) -> T | None:
    """What a call to storage gives; None where it fails."""
    try:
        return call()
    except Exception as error:  # every kind of storage raises its own kinds, and none may end the training
        logger.warning("machine time could not be %s (%s: %s)", what, type(error).__name__, error)
        return None


def judged(stays: Sequence[Stay], kept_s: Iterable[float]) -> list[Stay]:
    """The stays of a finished training, in the order in which they began. `kept_s`: times of the rows that its journal
    has in the end.

    A stay is of use up to its last kept row; what came after was lost with the machine and done again. The last stay
    brought the training to its end, so nothing of it is lost.
    """
    rows = list(kept_s)

    def last_use(stay: Stay) -> float:
        return max((row for row in rows if stay.began_s <= row <= stay.last_s), default=stay.began_s)

    return [*(replace(stay, useful_s=last_use(stay)) for stay in stays[:-1]), *stays[-1:]]


def divided(stays: Sequence[Stay]) -> list[Held]:
    """What each stay held of its machine: every instant of a host is divided equally among the stays that ran on it
    then.
    """
    hours = [0.0] * len(stays)
    lost = [0.0] * len(stays)
    for host in {stay.host for stay in stays}:
        here = [number for number, stay in enumerate(stays) if stay.host == host]
        instants = {at for n in here for at in (stays[n].began_s, stays[n].useful_s, stays[n].last_s)}
        for begin, end in pairwise(sorted(instants)):
            present = [number for number in here if stays[number].began_s <= begin and end <= stays[number].last_s]
            for number in present:
                part = (end - begin) / len(present) / 3600
                hours[number] += part
                lost[number] += part if begin >= stays[number].useful_s else 0.0
    return [Held(*pair) for pair in zip(hours, lost, strict=True)]
