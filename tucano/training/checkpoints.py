"""A checkpoint exists only when its manifest, written last, says so; the newest valid one is where a run goes on.

After OLMo-core's train/checkpoint.py. Sizes and hashes in the manifest make a torn or changed file visible.
"""

import hashlib
import json
import logging
import shutil
from pathlib import Path

MANIFEST = "COMPLETE.json"
logger = logging.getLogger(__name__)


def seal(folder: Path) -> None:
    """Write the manifest of a finished checkpoint folder, atomically and last."""
    files = {path.relative_to(folder).as_posix(): _fingerprint(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    draft = folder / f"{MANIFEST}.draft"
    draft.write_text(json.dumps({"files": files}, indent=1), encoding="utf-8")
    draft.replace(folder / MANIFEST)


def fault(folder: Path) -> str | None:
    """Why a checkpoint cannot be used, or None when it is whole."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return "it was not finished"
    for name, expected in json.loads(manifest.read_text(encoding="utf-8"))["files"].items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != expected["bytes"]:
            return f"{name} has {path.stat().st_size} bytes instead of {expected['bytes']}"
        if _fingerprint(path) != expected:
            return f"{name} has changed"
    return None


def newest_valid(work: Path) -> Path | None:
    """The valid checkpoint of the highest step in `work`; what is passed over is logged with its reason."""
    for folder in sorted(work.glob("checkpoint-*"), key=step_of, reverse=True):
        reason = fault(folder)
        if reason is None:
            return folder
        logger.warning("checkpoint %s is not used: %s", folder.name, reason)
    return None


def prune(work: Path, keep: int) -> None:
    """Delete all but the `keep` newest valid checkpoints; an invalid newer one goes too."""
    valid = [folder for folder in sorted(work.glob("checkpoint-*"), key=step_of, reverse=True) if fault(folder) is None]
    for folder in work.glob("checkpoint-*"):
        if folder not in valid[:keep]:
            shutil.rmtree(folder)


def step_of(folder: Path) -> int:
    return int(folder.name.rpartition("-")[2])


def _fingerprint(path: Path) -> dict[str, int | str]:
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
