"""Canaries: secrets that must stand nowhere, and a search that looks through encodings, compression and databases.

`CANARIES` is the one list of places where a person may give a secret. Whoever adds a place adds it there.
"""

import base64
import binascii
import gzip
import io
import re
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Self
from urllib.parse import quote

import psutil

from deployments.postgres import DATABASE_USER, Cluster

CANARIES: Mapping[str, str] = {
    # name of the place -> environment variable with the secret as {secret}
    "key of an endpoint": "CANARY_API_KEY={secret}",
    "password of MLflow's database": "MLFLOW_TRACKING_URI=sqlite:///file:{storage}/mlflow/own.db?uri=true&password={secret}",
    "password of Prefect's database": (
        "PREFECT_SERVER_DATABASE_CONNECTION_URL=sqlite+aiosqlite:///file:{storage}/prefect/own.db?uri=true&password={secret}"
    ),
    "token of MLflow": "MLFLOW_TRACKING_TOKEN={secret}",
    "password of a proxy": "HTTPS_PROXY=http://ana:{secret}@127.0.0.1:9",
    "token of the model hub": "HF_TOKEN={secret}",
    "key of the storage": "AWS_SECRET_ACCESS_KEY={secret}",
}
MOST_UNPACKED = 64 * 2**20
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}")


def secret_for(place: str) -> str:
    """A secret with characters that URLs write in their own way."""
    return f"{re.sub('[^a-z]+', '-', place.lower())}~$!{binascii.crc32(place.encode()):08x}"


def needles(secret: str) -> set[bytes]:
    """How a secret may be written: plainly, in UTF-16, percent-encoded, in hexadecimal, in base64 at any offset."""
    plain = secret.encode()
    found = {plain, plain.hex().encode(), plain.hex().upper().encode()}
    found |= {secret.encode(encoding) for encoding in ("utf-16-le", "utf-16-be")}
    quoted = [quote(secret, safe=safe) for safe in ("", "~", "$~", "!$~")]
    found |= {text.encode() for text in (*quoted, quoted[0].lower())}
    for offset in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            coded = encode(b"\0" * offset + plain)
            # whole groups: what stands around does not change them
            found.add(coded[4 if offset else 0 : len(coded) // 4 * 4 - 4])
    return found


def holds(content: bytes, wanted: set[bytes], depth: int = 3) -> bool:
    """Whether any needle stands in `content`, or in what is packed or encoded in it."""
    if any(needle in content for needle in wanted):
        return True
    return depth > 0 and any(holds(inner, wanted, depth - 1) for inner in _unpacked(content))


def _unpacked(content: bytes) -> Iterator[bytes]:
    for found in _ZLIB.finditer(content):
        yield _inflated(content[found.start() :], zlib.MAX_WBITS)
    start = content.find(b"\x1f\x8b\x08")
    while start >= 0:
        yield _inflated(content[start:], zlib.MAX_WBITS | 16)
        start = content.find(b"\x1f\x8b\x08", start + 1)
    if content.startswith(b"PK\x03\x04") and zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    for found in _BASE64.finditer(content):
        text = found[0].replace(b"-", b"+").replace(b"_", b"/")
        yield base64.b64decode(text[: len(text) // 4 * 4])


def _inflated(content: bytes, bits: int) -> bytes:
    """What a stream that may begin here holds, as far as it is one."""
    try:
        return zlib.decompressobj(bits).decompress(content[:MOST_UNPACKED], MOST_UNPACKED)
    except zlib.error:
        return b""


def where(folders: list[Path], wanted: Mapping[str, set[bytes]]) -> dict[str, list[Path]]:
    """{name of a secret: the files that hold it} below some folders, in the rows of SQLite files too."""
    found: dict[str, list[Path]] = {}
    paths = {path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}
    for path in sorted(paths):
        content = path.read_bytes()
        parts = [content, str(path).encode(), *(_rows(path) if content.startswith(b"SQLite format 3\0") else ())]
        for name, secret in wanted.items():
            if any(holds(part, secret) for part in parts):
                found.setdefault(name, []).append(path)
    return found


def _rows(path: Path) -> Iterator[bytes]:
    """Every cell: a long one lies in pieces on several pages. Of a copy, so that what is open stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        for file in path.parent.glob(f"{path.name}*"):
            shutil.copyfile(file, Path(folder) / file.name)
        with closing(sqlite3.connect(Path(folder) / path.name)) as connection:
            connection.text_factory = bytes
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in connection.execute(f'SELECT * FROM "{table.decode()}"'):
                    yield b"\0".join(cell if isinstance(cell, bytes) else str(cell).encode() for cell in row)


def dumped(cluster: Cluster, sockets: Path) -> bytes:
    """Everything in a running PostgreSQL cluster, as text: on disk it is compressed in a way of its own."""
    command = [str(cluster.binaries / "pg_dump"), "-h", str(sockets), "-U", DATABASE_USER, "postgres"]
    return subprocess.run(command, capture_output=True, check=True, timeout=900).stdout


class Arguments:
    """While entered: every command line of this machine, again and again, and the passwords in environments below us."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.passwords: set[str] = set()
        self._looks: Counter[tuple[int, float]] = Counter()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.is_set():
            for process in psutil.process_iter():
                try:
                    self.seen.add("\0".join(process.cmdline()))
                    key = (process.pid, process.create_time())
                    self._looks[key] += 1
                    if self._looks[key] <= 5 and psutil.Process() in process.parents():  # early, it is not yet itself
                        known = process.environ()
                        given = [known.get(f"PREFECT_{of}API_AUTH_STRING") for of in ("", "SERVER_")]
                        self.passwords |= {value for value in given if value}
                except psutil.Error:
                    continue
            time.sleep(0.04)


@contextmanager
def packed(secret: str) -> Iterator[dict[str, bytes]]:
    """A secret as it might hide, by name; for the test that the search finds it."""
    plain = secret.encode()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("settings.json", b"x" * 1000 + plain)
    view = b"deflate;" + base64.b64encode(zlib.compress(b'{"uri": "' + plain + b'"}'))
    yield {
        "plain": b"..." + plain + b"...",
        "header": b"Authorization: Basic " + base64.b64encode(b"ana:" + plain + b":x"),
        "query": b"?password=" + quote(secret).encode() + b"&x=1",
        "gzip": b"\0\0" + gzip.compress(plain * 3),
        "zip": archive.getvalue(),
        "zlib in base64": view,
        "UTF-16": secret.encode("utf-16-le"),
        "hexadecimal": plain.hex().encode(),
    }
