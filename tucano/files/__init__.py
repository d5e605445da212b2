"""What lies in the folders that stages hand to each other: every file's name stands here, and only here."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Files:
    """A folder; its kinds name what lies in it."""

    folder: Path


def below(name: str) -> cached_property[Path]:
    """A file or folder of `Files`, by its name there."""

    def place(files: Files) -> Path:
        return files.folder / name

    return cached_property(place)
