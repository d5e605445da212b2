"""What stands where a storage has a file or a folder of its own: anybody who can write there may have put something
else in its place.
"""

import os
from pathlib import Path

from tucano.errors import UserError


def require_file(path: Path) -> None:
    """UserError where something other than a file would be opened: a pipe would be waited for."""
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is no ordinary file; move it away, and the same command goes on")


def require_own_folder(root: Path, name: str) -> None:
    """UserError where a folder below a storage's root, or one on the way to it, is a file or a link: links lead out."""
    place = root
    for part in name.split("/"):
        place = place / part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise UserError(f"{place} is no folder of its own; move it away, and the same command goes on")


def write_whole(path: Path, text: str, durable: bool = False) -> None:
    """A file that is there whole, or is what it was; `durable`: after a power cut, too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    draft.replace(path)
