"""Replies of an API as they came: each is on disk before the next is waited for, and what has been paid for is never
asked again.

One folder per API and model, one line per reply, named by a digest of its whole request. It stays beside the artifacts
of a storage, so that a benchmark that was killed, or scored anew by changed code, asks only what no reply has come for.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from tucano.storage.locks import owned

FILE = "replies.jsonl"


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of an endpoint. `seconds`: of the attempt that brought it; `failed`: there is none that can be used,
    and the text is empty.
    """

    text: str
    tokens_in: int
    tokens_out: int
    seconds: float
    truncated: bool
    failed: bool


@dataclass(frozen=True)
class Ledger:
    """The replies of one API and model by their requests, and the file that they are in."""

    known: dict[str, Reply]
    file: IO[bytes]

    def get(self, request: Mapping[str, Any]) -> Reply | None:
        return self.known.get(_name(request))

    def add(self, request: Mapping[str, Any], reply: Reply) -> None:
        """Durably, before this returns."""
        self.known[_name(request)] = reply
        self.file.write(json.dumps({"request": _name(request), **asdict(reply)}, ensure_ascii=False).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())


@contextmanager
def opened(folder: Path, url: str, model: str) -> Iterator[Ledger]:
    """The ledger of an API's model below `folder`, for one benchmark at a time: another one is waited for."""
    place = folder / hashlib.sha256(f"{url}\n{model}".encode()).hexdigest()[:16]
    with owned(place, wait=lambda sentence: None), (place / FILE).open("a+b") as file:
        yield Ledger(_whole_lines(file), file)


def _whole_lines(file: IO[bytes]) -> dict[str, Reply]:
    """What the file holds; a last line that was torn while it was written is cut off, and a damaged one is no reply."""
    file.seek(0)
    whole, newline, torn = file.read().rpartition(b"\n")
    if torn:
        file.truncate(len(whole) + len(newline))
    known = {}
    for line in whole.split(b"\n") if whole else ():
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
            fields = json.loads(line)
            name = fields.pop("request")
            known[name] = Reply(**fields)
    return known


def _name(request: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
