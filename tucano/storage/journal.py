"""The metrics journal of a training run: an append-only file that the training child writes and its parent reads.

One JSON line per entry, `{"step": 12, "time_ms": 1767225600000, "values": {"reward": 0.61}}`, flushed at once, so that
a killed child loses at most a torn last line. Steps never go back, so cutting the journal at a checkpoint is one
truncation. Beside the journal stands its commit (`<name>.commit`), replaced atomically: the step that a checkpoint
covers and how many bytes of the journal belong to it. Who ships metrics elsewhere ships those bytes only: everything
after them may be trained again.
"""

import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Self

from tucano.storage.places import write_whole

TIMES = ("train/step_time", "train/time/")


@dataclass(frozen=True, slots=True)
class Entry:
    """What was measured at one optimizer step, with the wall-clock time in Unix milliseconds."""

    step: int
    time_ms: int
    values: dict[str, float]

    @property
    def results(self) -> dict[str, float]:
        """Without what is a time, or follows from one: the same in a run that is resumed or repeated."""
        return {name: value for name, value in self.values.items() if not name.startswith(TIMES)}


@dataclass(frozen=True, slots=True)
class Commit:
    """How much of a journal a checkpoint covers.

    `step` is the checkpoint's (None: there is no checkpoint yet), `size` the bytes of the journal up to it. `cuts`
    lists, in order, the sizes to which resumed runs have cut the journal: a reader that remembers how many it has seen
    can tell whether the bytes it has read are still the same.
    """

    step: int | None = None
    size: int = 0
    cuts: tuple[int, ...] = ()


class JournalWriter:
    """The writing end; one process at a time.

    `resume_step` is the step of the checkpoint that training goes on from: everything after it is cut off. None starts
    afresh. `covered` is the journal as that checkpoint holds it. It counts more than the step: a look at the validation
    set may belong to the checkpoint's step and yet have come after it, and on another machine there is no journal yet,
    or one of other steps.
    """

    def __init__(self, path: Path, *, resume_step: int | None, covered: Path | None = None) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        if covered is None:
            self._cut(resume_step, 0 if resume_step is None else _end_of_step(path, resume_step))
        else:
            self._cut(resume_step, _common(path, covered))
            self._complete(resume_step, covered)
        self.listener: Callable[[int, Mapping[str, float]], None] | None = None
        """Told of every row once it is written."""
        self._file: IO[bytes] = path.open("ab")
        self._last_step = -1 if resume_step is None else resume_step

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Append what was measured at `step`. NaN and infinities are kept: they are what a dead run looks like.

        Raises ValueError for a step before the last one.
        """
        if step < self._last_step:
            raise ValueError(f"journal: step {step} after step {self._last_step}; steps never go back")
        self._last_step = step
        line = {
            "step": step,
            "time_ms": time.time_ns() // 1_000_000,
            "values": {name: _plain(float(v)) for name, v in values.items()},
        }
        self._file.write(json.dumps(line, ensure_ascii=False, allow_nan=False).encode() + b"\n")
        self._file.flush()
        if self.listener is not None:
            self.listener(step, values)

    def commit(self, step: int) -> None:
        """Record that a checkpoint of `step` is complete. Call it after the checkpoint's own manifest stands.

        Raises ValueError when later steps have been logged already: they would count as covered.
        """
        if step < self._last_step:
            raise ValueError(f"journal: commit of step {step} after step {self._last_step} was logged")
        self._last_step = step
        os.fsync(self._file.fileno())
        _write_commit(self.path, Commit(step, self._file.tell(), read_commit(self.path).cuts))

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def copy_to(self, target: Path) -> None:
        """What has been logged so far, for the checkpoint that covers it."""
        shutil.copyfile(self.path, target)

    def _cut(self, resume_step: int | None, size: int) -> None:
        """The commit goes first: killed in between, the next attempt finds a journal that is too long, and cuts it
        again.
        """
        cuts = read_commit(self.path).cuts
        if self.path.stat().st_size > size:
            cuts = (*cuts, size)
        _write_commit(self.path, Commit(resume_step, size, cuts))
        os.truncate(self.path, size)

    def _complete(self, resume_step: int | None, covered: Path) -> None:
        """Add what the checkpoint's journal has more; killed before the commit, the next attempt adds it again."""
        with self.path.open("ab") as file, covered.open("rb") as source:
            source.seek(file.tell())
            shutil.copyfileobj(source, file)
            os.fsync(file.fileno())
            size = file.tell()
        _write_commit(self.path, Commit(resume_step, size, read_commit(self.path).cuts))


def read_journal(path: Path) -> list[Entry]:
    """All whole entries, in the order of their steps; none where there is no journal yet."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        return [entry for entry, _ in _spans(file, 0)]


def read_span(path: Path, start: int, end: int) -> Iterator[tuple[Entry, int]]:
    """The whole entries between two line starts, each with the byte offset just after it."""
    with path.open("rb") as file:
        for entry, after in _spans(file, start):
            if after > end:
                return
            yield entry, after


def read_commit(path: Path) -> Commit:
    """The commit of the journal at `path`; an empty one where nothing has been committed."""
    beside = _commit_path(path)
    if not beside.exists():
        return Commit()
    fields = json.loads(beside.read_text(encoding="utf-8"))
    return Commit(fields["step"], fields["size"], tuple(fields["cuts"]))


def _spans(file: IO[bytes], start: int) -> Iterator[tuple[Entry, int]]:
    file.seek(start)
    after = start
    for line in file:
        if not line.endswith(b"\n"):
            return
        after += len(line)
        fields = json.loads(line)
        yield (
            Entry(fields["step"], fields["time_ms"], {name: float(value) for name, value in fields["values"].items()}),
            after,
        )


def _end_of_step(path: Path, step: int) -> int:
    """Bytes up to the first entry after `step`, or up to a torn last line."""
    size = 0
    with path.open("rb") as file:
        for entry, after in _spans(file, 0):
            if entry.step > step:
                break
            size = after
    return size


def _common(path: Path, other: Path) -> int:
    """Bytes of the lines with which two journals begin alike."""
    size = 0
    with path.open("rb") as ours, other.open("rb") as theirs:
        for mine, its in zip(ours, theirs, strict=False):
            if mine != its:
                break
            size += len(mine)
    return size


def _plain(value: float) -> float | str:
    """JSON has no NaN and no infinities; their names are read back by `float`."""
    return value if math.isfinite(value) else repr(value)


def _commit_path(path: Path) -> Path:
    return path.with_name(path.name + ".commit")


def _write_commit(path: Path, commit: Commit) -> None:
    write_whole(_commit_path(path), json.dumps(asdict(commit)), durable=True)
