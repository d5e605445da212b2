"""What a pipeline run says about itself while it lives: a small file per run, read by the overview and by nothing else.

Artifacts know what was made; that a run is at work, since when and where its pages are, only the run knows.
"""

import json
import logging
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from tucano.artifacts.records import read_record
from tucano.errors import UserError
from tucano.storage.locks import FILLED, is_claimed
from tucano.storage.places import write_whole

log = logging.getLogger(__name__)

FOLDER = "overview"
NEWEST = 200
"""Files of runs that are read."""
MOST_BYTES = 2**16
"""Of such a file: some dozens of sentences."""
ADDRESSES = "addresses.json"

State = Literal["running", "waiting", "unanswered", "finished", "failed", "killed"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run: `run` is its MLflow id, `began` and `seen` (its last sign of life) are ISO times in UTC.

    `stages` are the digests of what it has made or reused so far, `at_work` the newest sentence of each child. `mlflow`
    and `prefect` are addresses, or what follows the address of the page that `tucano ui` shows; "" where there is none.
    `until` is how long a waiting run waits for a person (ISO, UTC).
    """

    run: str
    label: str
    began: str
    seen: str
    state: State
    mlflow: str
    prefect: str
    stages: dict[str, str] = field(default_factory=dict)
    reused: tuple[str, ...] = ()
    at_work: dict[str, str] = field(default_factory=dict)
    failure: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the pages of a storage are shown. prefect: of the server over its SQLite file; "" where another one is up,
    which does not know those runs. Runs of that one bring their whole address.
    """

    mlflow: str = "http://127.0.0.1:5000"
    prefect: str = "http://127.0.0.1:4200"

    def of(self, record: RunRecord) -> dict[str, str]:
        """{page: address} of a run."""
        pages = {"MLflow": (self.mlflow, record.mlflow), "Prefect": (self.prefect, record.prefect)}
        return {
            name: page if _is_of_the_web(page) else f"{base}/{page}"
            for name, (base, page) in pages.items()
            if _is_of_the_web(page) or (base and page)
        }


def write_run(root: Path, record: RunRecord) -> None:
    _write(root / FOLDER / f"{record.run}.json", record)


def write_addresses(root: Path, addresses: Addresses) -> None:
    _write(root / FOLDER / ADDRESSES, addresses)


def read_addresses(root: Path) -> Addresses:
    """Those that `tucano ui` had last; its usual ones where that is not known."""
    path = root / FOLDER / ADDRESSES
    try:
        found = read_record(Addresses, path) if path.is_file() else Addresses()
    except (OSError, UserError, ValueError):
        return Addresses()
    usable = _is_of_the_web(found.mlflow) and (not found.prefect or _is_of_the_web(found.prefect))
    return found if usable else Addresses()


def read_runs(root: Path) -> tuple[list[RunRecord], list[str]]:
    """The newest runs, newest first, and the names of files that cannot be read. A run whose process died reads
    `killed`.
    """
    found = (path for path in (root / FOLDER).glob("[!.]*.json") if path.name != ADDRESSES)
    files = [path for path in found if path.is_file() and not path.is_symlink()]
    newest = sorted(files, key=lambda path: path.lstat().st_mtime, reverse=True)[:NEWEST]
    runs: list[RunRecord] = []
    unreadable: list[str] = []
    for path in newest:
        try:
            record = _read(path)
        except (OSError, UserError, ValueError):
            unreadable.append(f"{FOLDER}/{path.name}")
            continue
        dead = record.state == "running" and not is_claimed(root / FILLED, record.run)
        state: State = "killed" if dead else "unanswered" if _is_overdue(record) else record.state
        runs.append(replace(record, state=state))
    return sorted(runs, key=lambda record: record.began, reverse=True), unreadable


def _is_overdue(record: RunRecord) -> bool:
    """Whether it waited for a person, and in vain."""
    return record.state == "waiting" and bool(record.until) and datetime.fromisoformat(record.until) < datetime.now(UTC)


def unanswered(root: Path) -> list[RunRecord]:
    """The runs that nobody answered in time, each once: from now on their files say so."""
    found = [record for record in read_runs(root)[0] if record.state == "unanswered" and record.until]
    for record in found:
        try:
            write_run(root, replace(record, until=""))
        except OSError:  # said again by the next run
            log.exception("%s could not be noted as unanswered", record.run)
    return found


def _read(path: Path) -> RunRecord:
    """OSError, UserError or ValueError for a file that no run has written."""
    if path.stat().st_size > MOST_BYTES:
        raise ValueError("it is too long")
    record = read_record(RunRecord, path)
    for moment in (record.began, record.seen, record.until or record.seen):
        if datetime.fromisoformat(moment).tzinfo is None:
            raise ValueError("a moment without its time zone")
    if record.run != path.stem:
        raise ValueError("it has the name of another run")
    return record


def _is_of_the_web(address: str) -> bool:
    return address.startswith(("http://", "https://"))


def _write(path: Path, value: RunRecord | Addresses) -> None:
    write_whole(path, json.dumps(asdict(value), indent=1, ensure_ascii=False))
