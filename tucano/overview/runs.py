"""What a pipeline run says about itself while it lives: a small file per run, read by the overview and by nothing else.

Artifacts know what was made; that a run is at work, since when and where its pages are, only the run knows.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from tucano.artifacts.records import read_record
from tucano.errors import UserError
from tucano.storage.locks import FILLED, is_claimed

FOLDER = "overview"
NEWEST = 200
"""Files of runs that are read."""
MOST_BYTES = 2**16
"""Of such a file: some dozens of sentences."""
ADDRESSES = "addresses.json"

State = Literal["running", "waiting", "finished", "failed", "killed"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run: `run` is its MLflow id, `began` and `seen` (its last sign of life) are ISO times in UTC.

    `stages` are the digests of what it has made or reused so far, `at_work` the newest sentence of each child. `mlflow`
    and `prefect` are addresses, or what follows the address of the page that `tucano ui` shows; "" where there is none.
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


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where `tucano ui` shows the pages of a storage."""

    mlflow: str = "http://127.0.0.1:5000"
    prefect: str = "http://127.0.0.1:4200"

    def of(self, record: RunRecord) -> dict[str, str]:
        """{page: address} of a run."""
        pages = {"MLflow": (self.mlflow, record.mlflow), "Prefect": (self.prefect, record.prefect)}
        return {
            name: page if _is_of_the_web(page) else f"{base}/{page}" for name, (base, page) in pages.items() if page
        }


def write_run(root: Path, record: RunRecord) -> None:
    _replace(root / FOLDER / f"{record.run}.json", asdict(record))


def write_addresses(root: Path, addresses: Addresses) -> None:
    _replace(root / FOLDER / ADDRESSES, asdict(addresses))


def read_addresses(root: Path) -> Addresses:
    """Those that `tucano ui` had last; its usual ones where that is not known."""
    path = root / FOLDER / ADDRESSES
    try:
        found = read_record(Addresses, path) if path.is_file() else Addresses()
    except (OSError, UserError, ValueError):
        return Addresses()
    return found if all(map(_is_of_the_web, (found.mlflow, found.prefect))) else Addresses()


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
        runs.append(replace(record, state="killed") if dead else record)
    return sorted(runs, key=lambda record: record.began, reverse=True), unreadable


def _read(path: Path) -> RunRecord:
    """OSError, UserError or ValueError for a file that no run has written."""
    if path.stat().st_size > MOST_BYTES:
        raise ValueError("it is too long")
    record = read_record(RunRecord, path)
    for moment in (record.began, record.seen):
        datetime.fromisoformat(moment)
    if record.run != path.stem:
        raise ValueError("it has the name of another run")
    return record


def _is_of_the_web(address: str) -> bool:
    return address.startswith(("http://", "https://"))


def _replace(path: Path, value: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    draft.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
    draft.replace(path)
