"""`tucano gc`: what old runs left and nothing needs any more. Policy:

- artifacts stay while one younger than the limit, or the newest report, was made from them; the newest of every stage stays;
- work folders (checkpoints of trainings that were not finished) go when nothing was written in them for that long;
- drafts of artifacts, lock files and logs go by the same age.

What MLflow and the registry hold is not touched: they have copies of their own.
"""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from tucano.artifacts import MANIFEST
from tucano.errors import UserError

DAY = 24 * 3600


def collect(home: Path, days: int, remove: bool) -> int:
    """List what is older than `days` and unused, and remove it where wanted; exit code 0."""
    if days < 1:
        raise UserError("--days is at least 1")
    if not home.is_dir():
        raise UserError(f"there is no folder {home}; name the one that runs write to with --home FOLDER")
    total = 0
    for place in sorted(garbage(home, time.time() - days * DAY)):
        total += (size := _size(place))
        print(f"{'removed' if remove else 'would go':<9} {size / 1e6:9.1f} MB  {place}")
        if remove:
            shutil.rmtree(place) if place.is_dir() else place.unlink()
    print(f"{total / 1e6:.1f} MB" + ("" if remove or not total else "; remove them with tucano gc --yes"))
    return 0


def garbage(home: Path, before: float) -> Iterator[Path]:
    """What nothing needs that was last written before this time (seconds since 1970)."""
    needed = _needed(home, before)
    for folder in home.glob("artifacts/*/*"):
        if folder not in needed and _newest(folder) < before:
            yield folder
    for place in (*home.glob("work/*/*"), *home.glob("logs/*.log")):
        if _newest(place) < before and not (place / "owner.lock").exists():
            yield place


def _needed(home: Path, before: float) -> set[Path]:
    """Artifacts younger than that, the newest of every stage, and all that they were made from."""
    made = {path.parent: json.loads(path.read_text(encoding="utf-8")) for path in home.glob(f"artifacts/*/*/{MANIFEST}")}
    by_digest = {manifest["digest"]: folder for folder, manifest in made.items()}
    newest = {max((f for f in made if f.parent == stage), key=_newest) for stage in {folder.parent for folder in made}}
    waiting = [folder for folder in made if folder in newest or _newest(folder) >= before]
    needed: set[Path] = set()
    while waiting:
        folder = waiting.pop()
        if folder not in needed:
            needed.add(folder)
            waiting += [by_digest[value] for value in made[folder]["inputs"].values() if value in by_digest]
    return needed


def _newest(place: Path) -> float:
    return max((path.stat().st_mtime for path in (place, *place.rglob("*"))), default=0.0)


def _size(place: Path) -> int:
    return sum(path.stat().st_size for path in (place, *place.rglob("*")) if path.is_file())
