"""What a file, a value or a model is, whatever it is called: digests."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

SHIPPED = {"mini": Path(__file__).parents[1] / "mini" / "model"}
"""Models that come with the program, by the name that settings give them."""


def digest(value: Any) -> str:
    """SHA-256 of a JSON-able value in canonical form (sorted keys, no spaces)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint(path: Path) -> dict[str, int | str]:
    """Size and SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def digests_at(path: Path, pattern: str) -> dict[str, str]:
    """{name: SHA-256} of a file, or of a folder's files whose names match one of the patterns (between blanks); empty
    where there is nothing.
    """
    found = sorted({file for part in pattern.split() for file in path.glob(part)}) if path.is_dir() else [path]
    return {file.name: str(fingerprint(file)["sha256"]) for file in found if file.is_file()}


def folder_digest(folder: Path) -> str:
    """SHA-256 over names and contents of the files that lie directly in `folder`."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return _digest_of(tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files))


@cache
def _digest_of(files: tuple[tuple[str, int, int], ...]) -> str:
    """Model files are large and asked for by every stage: what has its size and time still is not read again."""
    return digest({Path(path).name: fingerprint(Path(path))["sha256"] for path, _, _ in files})


def base_identity(name: str) -> str:
    """What identifies a base model: `nano`, the name on a hub, or the content of a local folder, wherever that lies."""
    return f"folder {folder_digest(Path(name))}" if Path(name).is_dir() else name
