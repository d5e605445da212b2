"""Bundles as files: a gzipped tar that is the same whenever it is packed, and is unpacked as if an enemy had made it.

Only the headers are the library's (`tarfile.TarInfo`): its reader follows links, sparse files and headers of any size
before a caller sees them. What may be in here are files, one after the other, nothing else.
"""

import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Mapping
from io import BufferedIOBase
from pathlib import Path

from tucano.bundle.manifest import (
    MOST_BYTES,
    MOST_FILES,
    MOST_MANIFEST,
    NAME,
    Entry,
    Manifest,
    read_manifest,
    require_name,
)
from tucano.errors import UserError
from tucano.security.printable import short

BLOCK = tarfile.BLOCKSIZE
PIECE = 2**20
MOST_RATIO, FREE_RATIO_BYTES = 100, 2**26
"""What is unpacked may be so many times as large as the file (and 64 MiB): texts shrink to a tenth, weights hardly."""
SPARE_BYTES = 2**28
_EMPTY = bytes(BLOCK)


def write(path: Path, manifest: Manifest, sources: Mapping[str, Path | bytes]) -> None:
    """The manifest, then the files that it lists, but those that another stands for. In place of an older one at
    once.
    """
    draft = _draft(path)
    try:
        with draft.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
            _append(file, NAME, manifest.text())
            for name, entry in manifest.files.items():
                if entry.same_as is None:
                    _append(file, name, sources[name])
            file.write(2 * _EMPTY)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def require_place(path: Path) -> None:
    """UserError unless a bundle can be written there: in a folder that takes files, in the place of nothing or of
    another bundle.
    """
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {path.parent}; make it, or name another place")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise UserError(f"{path} is no file; name a file for the bundle, like {path.name or 'tucano'}.tar.gz")
    if path.exists() and not _is_bundle(path):
        raise UserError(f"{path} is another file than a bundle and would be lost; name another place")
    try:
        _draft(path).touch()
        _draft(path).unlink()
    except OSError:
        raise UserError(f"nothing can be written in {path.parent}; name another place") from None


def _draft(path: Path) -> Path:
    """Where this process writes; another one may be packing for the same place."""
    return path.with_name(f"{path.name}.{os.getpid()}.draft")


def _is_bundle(path: Path) -> bool:
    try:
        with gzip.open(path) as file:
            return file.read(tarfile.LENGTH_NAME).rstrip(b"\0") == NAME.encode()
    except (OSError, EOFError, zlib.error):
        return False


def _append(file: BufferedIOBase, name: str, source: Path | bytes) -> None:
    header = tarfile.TarInfo(name)
    header.size = len(source) if isinstance(source, bytes) else source.stat().st_size
    try:
        file.write(header.tobuf(tarfile.USTAR_FORMAT))
    except ValueError as error:
        raise UserError(f"{short(name)} cannot be packed ({error}); a bundle holds files of up to 8 GiB") from None
    if isinstance(source, bytes):
        file.write(source)
    else:
        with source.open("rb") as content:
            shutil.copyfileobj(content, file, PIECE)
    file.write(bytes(-header.size % BLOCK))


def unpack(path: Path, folder: Path) -> Manifest:
    """Write the files of a bundle into an empty folder, whether or not they are those of its manifest.

    UserError for what is no bundle, or is none that anybody should unpack.
    """
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is no file; name a bundle, like tucano.tar.gz")
    try:
        with path.open("rb") as raw, gzip.open(raw) as file:
            most = min(MOST_BYTES, FREE_RATIO_BYTES + MOST_RATIO * path.stat().st_size)
            return _Unpacking(file, folder, most).all()
    except (OSError, EOFError, zlib.error, tarfile.HeaderError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise UserError(f"{path} cannot be read: {error.strerror}") from None
        raise UserError(
            f"{path} is no whole bundle ({short(str(error))}); copy it again, or take it from its maker"
        ) from None
    except UserError as refused:
        raise UserError(f"{path} is refused: {refused}") from None


class _Unpacking:
    def __init__(self, file: BufferedIOBase, folder: Path, most: int) -> None:
        self.file, self.folder, self.left = file, folder, most
        self.names: set[str] = set()
        self.folders: set[str] = set()
        """Both as a disk without capitals knows them."""
        self.files = 0

    def all(self) -> Manifest:
        header = self._header()
        if header is None or header.name != NAME or header.size > MOST_MANIFEST:
            raise UserError(f"its first file is not {NAME}")
        manifest = read_manifest(self._exactly(header.size))
        self._exactly(-header.size % BLOCK)
        self.left -= sum(entry.bytes for entry in manifest.files.values() if entry.same_as is not None)
        while (header := self._header()) is not None:
            self._take(header)
        behind = self.file.read(tarfile.RECORDSIZE + 1)  # writers fill the last record
        if any(behind) or not BLOCK <= len(behind) <= tarfile.RECORDSIZE:
            raise UserError("something stands behind its end")
        for name, entry in manifest.files.items():
            self._repeat(name, entry)
        return manifest

    def _header(self) -> tarfile.TarInfo | None:
        """The next file's; None at the end."""
        block = self._exactly(BLOCK)
        if block == _EMPTY:
            return None
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        if header.type != tarfile.REGTYPE:
            raise UserError(f"{short(header.name)!r} in it is no file but a link, folder, device or the like")
        require_name(header.name)
        self.left -= header.size
        self.files += 1
        if header.size < 0 or self.left < 0 or self.files > MOST_FILES:
            raise UserError("unpacked it would be far larger than any bundle")
        return header

    def _take(self, header: tarfile.TarInfo) -> None:
        self._claim(header.name)
        place = self.folder / header.name
        place.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self.folder).free < header.size + SPARE_BYTES:
            raise UserError(f"{self.folder} has no room for it; give TMPDIR a larger one")
        left = header.size
        with place.open("xb") as file:
            while left:
                left -= file.write(self._exactly(min(left, PIECE)))
        self._exactly(-header.size % BLOCK)

    def _claim(self, name: str) -> None:
        """No name twice, and none that is a folder of another."""
        plain = name.casefold()
        parents = {plain.rsplit("/", depth)[0] for depth in range(1, plain.count("/") + 1)}
        if plain == NAME or plain in self.names | self.folders or parents & self.names:
            raise UserError(f"it holds {short(name)!r} twice, or as a file and as a folder")
        self.names.add(plain)
        self.folders |= parents

    def _repeat(self, name: str, entry: Entry) -> None:
        """A file that another one stands for. One that is missing, or is there itself, is a matter of the checks."""
        other = self.folder / (entry.same_as or name)
        place = self.folder / name
        if entry.same_as in (None, name) or place.exists():
            return
        require_name(str(entry.same_as))
        if other.is_file() and other.stat().st_size == entry.bytes:
            self._claim(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.link(other, place)

    def _exactly(self, count: int) -> bytes:
        found = self.file.read(count)
        if len(found) != count:
            raise EOFError("it ends in the middle")
        return found
