"""A checkpoint exists only when its manifest, written last, says so. Sizes and hashes make a torn or changed file
visible.

After OLMo-core's train/checkpoint.py. Which checkpoint a run goes on from is decided in
tucano/training/checkpoints/attempts.py.
"""

import json
from pathlib import Path

from tucano.artifacts.identity import fingerprint
from tucano.artifacts.records import parsed
from tucano.storage.places import write_whole

MANIFEST = "COMPLETE.json"


def seal(folder: Path) -> None:
    """Write the manifest of a finished checkpoint folder, atomically and last."""
    files = {
        path.relative_to(folder).as_posix(): fingerprint(path) for path in sorted(folder.rglob("*")) if path.is_file()
    }
    write_whole(folder / MANIFEST, json.dumps({"files": files}, indent=1))


def fault(folder: Path) -> str | None:
    """Why a checkpoint cannot be used, or None when it is whole."""
    if not (folder / MANIFEST).is_file():
        return f"it has no {MANIFEST}"
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files = parsed(dict[str, dict[str, int | str]], content["files"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"its {MANIFEST} is damaged"
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != expected.get("bytes"):
            return f"{name} has {path.stat().st_size} bytes instead of {expected.get('bytes')}"
        if fingerprint(path) != expected:
            return f"{name} has changed"
    return None


def step_of(name: str) -> int:
    """The step in a checkpoint's name, like 40 in `attempt-2/checkpoint-40`."""
    return int(name.rpartition("-")[2])
