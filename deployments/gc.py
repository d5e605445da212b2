"""`tucano gc`: what old runs left and nothing needs any more. Policy:

- artifacts stay while one younger than the limit, the newest of its stage, or a registered model was made from them; an
  artifact is as old as its last use;
- work folders (checkpoints of trainings that were not finished) and locks go when nothing was written in them for that
  long;
- an artifact with a damaged manifest stays, and is said;
- runs in the storage's own MLflow store go with their files (tucano/tracking/purge.py says which stay);
- flow runs in Prefect's database go with their logs and events (deployments/vacuum.py).

A folder in which no run has worked is refused. Without --yes it only lists. Removing, it holds the storage alone: no
run of this machine is at work in it then, and one that begins waits.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from deployments.postgres import find_cluster
from deployments.servers import require_history
from tucano.artifacts.store import MANIFEST, read_manifest
from tucano.errors import TucanoError, UserError
from tucano.storage.locks import FILLED, abandoned, alone, is_storage
from tucano.storage.root import require_usable
from tucano.tracking import Tracker
from tucano.tracking.purge import digests_of_registered, find_old
from tucano.tracking.purge import remove as remove_runs

DAY = 24 * 3600
OURS = re.compile(r"\.?[0-9a-f]{16,32}(\.draft|-\d+)?")
"""How a storage names what it makes for an artifact, a training or an MLflow run: nothing else is taken."""


def collect(home: Path, days: int, remove: bool) -> int:
    """List what is older than `days` and unused, and remove it where wanted; exit code 0."""
    if days < 1:
        raise UserError("--days is at least 1")
    if not home.is_dir():
        raise UserError(f"there is no folder {home}; name the one that runs write to with --home FOLDER")
    home = home.resolve()
    require_usable(home)
    if not is_storage(home):
        raise UserError(f"no run has worked in {home}, so nothing there is touched; name a storage with --home FOLDER")
    require_history(home)
    before = time.time() - days * DAY
    done = "removed" if remove else "would go"
    with alone(home) if remove else nullcontext():
        tracker = Tracker.connect(None, home) if os.path.lexists(home / "mlflow" / "mlflow.db") else None
        if tracker is not None and remove:
            for killed in abandoned(home / FILLED):
                tracker.end_abandoned(killed)
        kept = needed(home, before, digests_of_registered(tracker) if tracker else set())
        sizes = {place: _size(place) for place in sorted(garbage(home, kept, before))}
        for place, size in sizes.items():
            print(f"{done:<9} {size / 1e6:9.1f} MB  {place}")
            if remove:
                shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
        databases = _size(home / "mlflow") + _size(home / "prefect")
        told = [*_mlflow(tracker, kept, before, remove), *_prefect(home, days, remove)]
        freed = sum(sizes.values()) + databases - _size(home / "mlflow") - _size(home / "prefect")
    for place in damaged(home):
        print(f"{'damaged':<9} {'':>12}  {place / MANIFEST}; not removed, look at that folder and remove it by hand")
    for line in told:
        print(f"{done:<9} {'':>12}  {line}")
    print(
        f"{freed / 1e6:.1f} MB"
        + ("" if remove or not (sizes or told) else " of files; remove all of it with tucano gc --yes")
    )
    return 0


def needed(home: Path, before: float, registered: Set[str]) -> Mapping[Path, dict[str, Any]]:
    """Artifacts younger than that (seconds since 1970), the newest of every stage, registered ones, and all that they
    were made from.

    {folder: manifest}
    """
    made = {
        folder: manifest for folder in _places(home, "artifacts") if (manifest := read_manifest(folder)) is not None
    }
    by_digest = {manifest["digest"]: folder for folder, manifest in made.items()}
    newest = {max((f for f in made if f.parent == stage), key=_newest) for stage in {folder.parent for folder in made}}
    waiting = [folder for folder in made if folder in newest or _newest(folder) >= before]
    waiting += [
        folder
        for folder, manifest in made.items()
        if manifest["digest"] in registered or manifest["record"].get("registered")
    ]
    found: set[Path] = set()
    while waiting:
        folder = waiting.pop()
        if folder not in found:
            found.add(folder)
            waiting += [by_digest[value] for value in made[folder]["inputs"].values() if value in by_digest]
    return {folder: made[folder] for folder in found}


def garbage(home: Path, kept: Mapping[Path, object], before: float) -> Iterator[Path]:
    """Files and folders that were last written before this time and that nothing needs."""
    stay = {*kept, *damaged(home)}
    for place in _places(home, "artifacts", "work", "locks"):
        if place not in stay and OURS.fullmatch(place.name) and _newest(place) < before:
            yield place


def damaged(home: Path) -> list[Path]:
    """Artifacts that nobody can say of what they are, or were made from: a person looks at them."""
    return [
        folder
        for folder in _places(home, "artifacts")
        if os.path.lexists(folder / MANIFEST) and read_manifest(folder) is None
    ]


def _places(home: Path, *kinds: str) -> Iterator[Path]:
    """What lies in the folders of stages, and nothing that a link leads to."""
    for stage in (path for kind in kinds if not (home / kind).is_symlink() for path in sorted(home.glob(f"{kind}/*"))):
        yield from sorted(stage.glob("*")) if not stage.is_symlink() else ()


def _mlflow(tracker: Tracker | None, kept: Mapping[Path, dict[str, Any]], before: float, remove: bool) -> Iterator[str]:
    """What goes from the storage's own store, if it has one."""
    if tracker is None:
        return
    old = find_old(tracker, before, {str(manifest["record"].get("tracking_run")) for manifest in kept.values()})
    if remove:
        remove_runs(tracker, old)
    if str(old):
        yield str(old)


def _prefect(home: Path, days: int, remove: bool) -> Iterator[str]:
    """What goes from Prefect's databases: that of `tucano run`, and that of `tucano up` while its PostgreSQL runs."""
    cluster = find_cluster(home / "stack" / "postgres") if (home / "stack" / "postgres").is_dir() else None
    databases = {"PostgreSQL": cluster.url} if cluster is not None and cluster.ready() else {}
    if (home / "prefect" / "prefect.db").is_file():
        databases["prefect.db"] = f"sqlite+aiosqlite:///{home}/prefect/prefect.db"
    for name, url in databases.items():
        environment = os.environ | {
            "PREFECT_HOME": str(home / "prefect"),
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": url,
        }
        command = [sys.executable, "-m", "deployments.vacuum", str(days), *(["--remove"] if remove else [])]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise TucanoError(
                f"old flow runs could not be removed from {name}:"
                f" {(done.stderr.strip() or 'no message').splitlines()[-1]}"
            )
        if int(done.stdout):
            yield f"{int(done.stdout)} flow runs in Prefect ({name}) with their logs and events"


def _newest(place: Path) -> float:
    return max((found.st_mtime for found in _found(place)), default=0.0)


def _size(place: Path) -> int:
    return sum(found.st_size for found in _found(place) if stat.S_ISREG(found.st_mode))


def _found(place: Path) -> Iterator[os.stat_result]:
    """Of a file or of a folder and all in it: links as such, and without what goes meanwhile."""
    for path in (place, *(() if place.is_symlink() else place.rglob("*"))):
        with suppress(FileNotFoundError):
            yield path.lstat()
