"""A folder in any storage that fsspec reaches. What is written to one is complete when its manifest, sent last, is
there.
"""

import re
import shutil
from pathlib import Path

from fsspec.core import url_to_fs

from tucano.errors import UserError

UNSAFE_NAME = re.compile(r"[\x00-\x1f\x7f\\:]")
"""Characters that part a path, name a drive or end a name somewhere."""


class Folder:
    """A folder at a local path or an fsspec URL; names are relative to it, with slashes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.fs, self.root = url_to_fs(url)

    def names(self, folder: str) -> list[str]:
        """What lies directly in a folder, sorted; nothing where there is none."""
        self.fs.invalidate_cache()
        try:
            found = {path.rstrip("/").rpartition("/")[2] for path in self.fs.ls(self._path(folder), detail=False)}
            return sorted(found - {".", ".."})
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        return self.fs.cat_file(self._path(name))

    def create(self, name: str, content: bytes) -> None:
        """Write a file that must not exist yet; FileExistsError when it does."""
        self.fs.makedirs(self._path(""), exist_ok=True)
        self.fs.pipe_file(self._path(name), content, mode="create")

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whether or not it exists."""
        target = self._path(name)
        self.fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        self.fs.pipe_file(target, content)

    def push(self, folder: Path, name: str, last: str) -> None:
        """Upload a folder; its file `last`, which makes it complete, is taken away first and sent last."""
        if last in self.names(name):
            self.fs.rm_file(self._path(f"{name}/{last}"))
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / last]
        for path in [*files, folder / last]:
            target = self._path(f"{name}/{path.relative_to(folder).as_posix()}")
            self.fs.makedirs(target.rpartition("/")[0], exist_ok=True)
            self.fs.put_file(str(path), target)

    def pull(self, name: str, folder: Path) -> None:
        """Download a folder; it stands in its place only once it is there whole."""
        draft = folder.with_name(f"{folder.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)  # not through a link that somebody has put there
        for path, about in self.fs.find(self._path(name), detail=True).items():
            if path.endswith("/"):  # some stores keep an object for a folder
                continue
            target = draft / self._below(path, name, is_link=about.get("islink", False))
            target.parent.mkdir(parents=True, exist_ok=True)
            self.fs.get_file(path, str(target))
        draft.replace(folder)

    def _below(self, path: str, name: str, is_link: bool) -> str:
        """The name of an object relative to its folder. Whoever writes the storage chooses it: UserError where it leads
        out of the folder.
        """
        folder = f"{self._path(name)}/"
        relative = path.removeprefix(folder)
        parts = relative.split("/")
        if (
            is_link
            or not path.startswith(folder)
            or UNSAFE_NAME.search(relative)
            or not {"", ".", ".."}.isdisjoint(parts)
        ):
            raise UserError(f"{self.url}: its object {path!r} would be written outside the folder {name}; remove it")
        return relative

    def remove(self, name: str, first: str | None = None) -> None:
        """Delete a folder if it is there, its file `first` before the others, so that a half-deleted one is visibly
        incomplete.
        """
        if first is not None and first in self.names(name):
            self.fs.rm_file(self._path(f"{name}/{first}"))
        if self.names(name):
            self.fs.rm(self._path(name), recursive=True)

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}".rstrip("/")


def is_remote(storage: str) -> bool:
    return "://" in storage and not storage.startswith("file:")


def remote_of(storage: str) -> Folder | None:
    """The remote storage, where `storage` is the URL of one."""
    return Folder(storage) if is_remote(storage) else None
