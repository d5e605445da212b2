"""Numbered attempts at one training, each with one owner.

    work/attempt-2.json             who owned it, and the checkpoints it found when it began
    work/attempt-2/checkpoint-40/   written by it
    work/owner.lock                 held by the living owner; the lock goes with its process, however that ends

Attempt 3 reads what attempt 2 wrote or found *before* attempt 3 began, and says so in its record. So what an orphan of
attempt 2 writes afterwards, on a machine that was believed lost, is in no list and is never read. The copy in remote
storage has the same layout.
"""

import fcntl
import json
import logging
import os
import re
import shutil
import socket
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from tucano.errors import UserError
from tucano.storage.folder import Folder
from tucano.storage.places import write_whole
from tucano.training.checkpoints.manifest import MANIFEST, fault, seal, step_of
from tucano.training.checkpoints.uploads import Uploader

CHECKPOINT = re.compile(r"attempt-\d+/checkpoint-\d+")
KEPT = 2
"""Recovery checkpoints kept: should the newest be damaged, there is one before it."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """One attempt: its owner, the names of the checkpoints that existed for it when it began, and its number of
    threads.

    All attempts compute with as many threads as the first one, on any machine: another number would end in other
    weights.
    """

    number: int
    host: str
    pid: int
    began: str
    found: tuple[str, ...]
    threads: int

    @property
    def owner(self) -> str:
        return f"attempt {self.number}, process {self.pid} on {self.host}, since {self.began}"


@dataclass
class Attempt:
    """The attempt of this process. `newest` is the checkpoint it goes on from; `lock` keeps everybody else out."""

    work: Path
    record: Record
    newest: Path | None
    lock: IO[str]
    copy: "_Copy | None"
    uploader: Uploader | None

    @property
    def folder(self) -> Path:
        return self.work / f"attempt-{self.record.number}"

    @property
    def drafts(self) -> Path:
        """Where checkpoints are written before they count."""
        return self.work / "drafts"

    def keep(self, draft: Path) -> None:
        """Make a finished draft, named like `checkpoint-40`, the newest checkpoint; older ones than `KEPT` go.

        UserError when a newer attempt has been begun elsewhere, which believed this one lost: that one goes on.
        """
        newer = _newer(Folder(str(self.work)), self.record) or (self.copy.superseded_by if self.copy else None)
        if newer is not None:
            raise UserError(f"{self.work}: {self.record.owner} was superseded by {newer.owner}, which goes on alone")
        seal(draft)
        kept = self.folder / draft.name
        draft.replace(kept)
        _prune(self.work, self.record)
        if self.uploader is not None:
            self.uploader.add(f"{self.folder.name}/{kept.name}")


def begin(work: Path, mirror: str | None, threads: int) -> Attempt:
    """Own `work` and find the checkpoint to go on from, here or in the copy at the URL `mirror`; a first attempt has
    `threads`.

    UserError when somebody else is at it, or when there are checkpoints and none is whole.
    """
    lock = _owned(work)
    here, there = Folder(str(work)), Folder(mirror) if mirror else None
    mine, theirs = last_record(here), last_record(there) if there else None
    numbers = [record.number if record else 0 for record in (mine, theirs)]
    found = _readable(here, mine) if mine and numbers[0] >= numbers[1] else []
    if there and theirs and numbers[1] >= numbers[0]:
        found += [name for name in _uploaded(there, theirs) if name not in found]
    found.sort(key=step_of, reverse=True)
    newest = _newest_whole(work, there, found)
    before = mine if numbers[0] >= numbers[1] else theirs
    if before is not None and before.threads != threads:
        logger.info("goes on with %d threads, as it began, not with %d", before.threads, threads)
    record = Record(
        number=max(numbers) + 1,
        host=socket.gethostname(),
        pid=os.getpid(),
        began=datetime.now(UTC).isoformat(timespec="seconds"),
        found=tuple(found),
        threads=before.threads if before else threads,
    )
    _write(record, work, there, lock)
    if newest is not None:
        logger.info("attempt %d goes on from %s", record.number, newest.relative_to(work))
    copy = _Copy(there, work, record) if there else None
    return Attempt(work, record, newest, lock, copy, Uploader(copy.push) if copy else None)


def last_record(place: Folder) -> Record | None:
    """The newest recorded attempt; a torn record counts for nothing, as its attempt has written nothing yet."""
    numbers = (int(found[1]) for name in place.names("") if (found := re.fullmatch(r"attempt-(\d+)\.json", name)))
    for number in sorted(numbers, reverse=True):
        try:
            fields = json.loads(place.read(f"attempt-{number}.json"))
            if not all(
                CHECKPOINT.fullmatch(name) for name in fields["found"]
            ):  # whoever writes remote storage could name any folder
                raise ValueError("a checkpoint's name leads elsewhere")
            return Record(**{**fields, "found": tuple(fields["found"])})
        except (ValueError, TypeError, KeyError):
            logger.warning("the record of attempt %d is damaged and counts for nothing", number)
    return None


def _newer(place: Folder, record: Record) -> Record | None:
    last = last_record(place)
    return last if last is not None and last.number > record.number else None


def _readable(place: Folder, record: Record) -> list[str]:
    """Checkpoints that follow an attempt's record: its own and those it found, newest first."""
    own = [
        f"attempt-{record.number}/{name}"
        for name in place.names(f"attempt-{record.number}")
        if name.startswith("checkpoint-")
    ]
    found = [name for name in record.found if Path(name).name in place.names(str(Path(name).parent))]
    return sorted({*own, *found}, key=step_of, reverse=True)


def _uploaded(place: Folder, record: Record) -> list[str]:
    """Those of which the manifest, uploaded last, is there."""
    return [name for name in _readable(place, record) if MANIFEST in place.names(name)]


def _newest_whole(work: Path, there: Folder | None, names: list[str]) -> Path | None:
    reasons = []
    for name in names:
        folder = work / name
        if not folder.exists() and there is not None:
            there.pull(name, folder)
        reason = fault(folder)
        if reason is None:
            return folder
        logger.warning("checkpoint %s is not used: %s", name, reason)
        reasons.append(f"{name}: {reason}")
    if reasons:
        raise UserError(
            f"no checkpoint in {work} can be used ({'; '.join(reasons)}); nothing was deleted: "
            "bring one back, or delete the folder to begin from the start"
        )
    return None


def _owned(work: Path) -> IO[str]:
    work.mkdir(parents=True, exist_ok=True)
    lock = (work / "owner.lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        owner = lock.read() or "a process that has just begun"
        raise UserError(f"{work} is being trained by {owner}; wait for it or stop it") from None
    return lock


def _write(record: Record, work: Path, there: Folder | None, lock: IO[str]) -> None:
    """The remote record first: where somebody else has just taken the number, nothing has changed here."""
    name, text = f"attempt-{record.number}.json", json.dumps(asdict(record), indent=1)
    if there is not None:
        try:
            there.create(name, text.encode())
        except FileExistsError:
            raise UserError(
                f"another machine has just begun attempt {record.number} of {there.url}; wait for it or stop it"
            ) from None
    for leftover in (work / "drafts", work / f"attempt-{record.number}"):
        shutil.rmtree(leftover, ignore_errors=True)
    (work / f"attempt-{record.number}").mkdir()
    write_whole(work / name, text)
    lock.truncate(0)
    lock.write(record.owner)
    lock.flush()


def _prune(work: Path, record: Record) -> None:
    """Keep the newest whole checkpoints; damaged ones and what orphans left go."""
    whole = [name for name in _readable(Folder(str(work)), record) if fault(work / name) is None]
    for folder in work.glob("attempt-*/checkpoint-*"):
        if folder.relative_to(work).as_posix() not in whole[:KEPT]:
            shutil.rmtree(folder)


@dataclass
class _Copy:
    """The copy of a work folder in remote storage."""

    place: Folder
    work: Path
    record: Record
    superseded_by: Record | None = None

    def push(self, name: str) -> None:
        """Upload a checkpoint, its manifest last, and keep the newest. A newer attempt elsewhere ends this one."""
        self.superseded_by = _newer(self.place, self.record)
        if self.superseded_by is not None:
            return
        self.place.push(self.work / name, name, last=MANIFEST)
        complete = _uploaded(self.place, self.record)
        for old in _readable(self.place, self.record):
            if old not in complete[:KEPT]:
                self.place.remove(old, first=MANIFEST)
