"""What the monitor remembers between looks: one file, written whole, bound to one champion."""

import json
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import FiniteFloat

from tucano.artifacts.records import parsed
from tucano.errors import UserError
from tucano.statistics.sequential import BETS, BINS, Mean
from tucano.storage.places import require_file, write_whole

FOLDER = "monitoring"
"""Below a storage root: the state, the alarms, and the prompts that belong to them."""
FILE = "state.json"
MOST_BYTES = 2**24
T = TypeVar("T")


@dataclass(slots=True)
class Stream:
    """One quantity. `seen`: how often each of the bins occurred, the champion's test answers included; `of_task`: the
    same by task, where values are held against those of their own; `before` and `since`: the means of these and of what
    was served; `highest`: the wealth that was reached.
    """

    seen: list[int] = field(default_factory=lambda: [0] * BINS)
    of_task: dict[str, list[int]] = field(default_factory=dict)
    stakes: list[FiniteFloat] = field(default_factory=list)
    looks: int = 0
    highest: FiniteFloat = 1.0
    before: list[FiniteFloat] = field(default_factory=list)
    since: list[FiniteFloat] = field(default_factory=list)
    last: FiniteFloat | None = None

    def __post_init__(self) -> None:
        """ValueError for one that was read from a damaged file."""
        means = len(self.before) == len(self.since) == len(Mean().numbers)
        counts = all(len(seen) == BINS for seen in (self.seen, *self.of_task.values()))
        if not (means and counts and len(self.stakes) in (len(BETS), 2 * len(BETS))):
            raise ValueError("not whole")

    def seen_of(self, task: str) -> list[int]:
        """What a value of this task is held against; of all tasks where `task` is empty."""
        return self.of_task.setdefault(task, [0] * BINS) if task else self.seen

    def remember(self, task: str, counts: Iterable[int]) -> None:
        seen = self.seen_of(task)
        seen[:] = [before + int(count) for before, count in zip(seen, counts, strict=True)]


@dataclass(slots=True)
class State:
    """`champion` like tucano/3; `number`: it is the so many-th test here; `seed`: of what is drawn, unknown
    to those who are watched; `judged`: the answers whose reference was counted.
    """

    champion: str
    digest: str
    number: int = 1
    seed: int = field(default_factory=lambda: secrets.randbits(62))
    looks: int = 0
    bookmark: list[str] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)
    streams: dict[str, Stream] = field(default_factory=dict)
    alarm: str | None = None

    def limit(self, alarm_rate: float) -> float:
        """The wealth that is an alarm. The chances of all quantities and of all tests add up to `alarm_rate`."""
        return len(self.streams) * self.number * (self.number + 1) / alarm_rate

    def followed_by(self, champion: str, digest: str) -> "State":
        """The next test: it starts anew, and counts no line a second time."""
        return State(champion, digest, self.number + 1, bookmark=self.bookmark, judged=self.judged)


def read_state(folder: Path) -> State | None:
    """None where nothing was watched yet. UserError where the file is damaged."""
    return read(State, folder / FILE, "move it away, and watching begins anew with the next look")


def read(kind: type[T], path: Path, mend: str) -> T | None:
    """What a file of the folder holds; None where there is none. UserError where it is damaged."""
    require_file(path)
    if not path.exists():
        return None
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError
        return parsed(kind, json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, RecursionError):
        raise UserError(f"{path} is damaged; {mend}") from None


def write_state(folder: Path, state: State) -> None:
    write_whole(folder / FILE, json.dumps(asdict(state), allow_nan=False))
