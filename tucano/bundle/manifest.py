"""What a bundle holds, by name: its manifest is its first file, and lists every other with size and SHA-256."""

import json
import re
from dataclasses import asdict, dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter

from tucano.artifacts.identity import digest
from tucano.errors import UserError
from tucano.security.printable import short
from tucano.security.strict_json import strict_json

NAME = "bundle.json"
CARD = "README.md"
ARTIFACTS, MODEL, RATINGS = "artifacts", "model", "ratings"
"""Folders: the artifacts as a storage keeps them, the files of the registered version, what people rated."""
SCHEMA_VERSION = 1
MOST_FILES, MOST_BYTES, MOST_MANIFEST = 10_000, 2**36, 2**24
LONGEST_NAME = 240
_STAGE = re.compile(r"[a-z][a-z0-9-]{0,60}", re.ASCII)
_PART = re.compile(r"\w[\w.+\- ]{0,120}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file: its size, what it is, and the file of the same content that stands for it, where one does."""

    bytes: int
    sha256: str
    same_as: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """`tags` are the registry's of the version; `chain` is {stage: digest of its artifact}, the report's among them.

    `consent`: who said that texts which are not ours may be passed on. `packages`: versions of the numeric packages
    where the bundle was packed.
    """

    schema_version: Annotated[int, Field(ge=SCHEMA_VERSION, le=SCHEMA_VERSION)]  # to a Literal, `true` is a 1
    model: str
    version: Annotated[int, Field(ge=1)]
    tags: dict[str, str]
    chain: dict[str, str]
    consent: str | None
    packages: dict[str, str]
    files: dict[str, Entry]

    def text(self) -> bytes:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, sort_keys=True).encode()

    @property
    def identity(self) -> str:
        """What to compare by word of mouth: whoever can edit a bundle can write a manifest that fits."""
        return digest(asdict(self))


def read_manifest(content: bytes) -> Manifest:
    """UserError where it is none, or lists what no bundle holds."""
    try:
        strict_json(content.decode())  # a name given twice, which pydantic takes
        manifest = TypeAdapter(Manifest).validate_json(content, strict=True)
    except ValueError:  # no UTF-8, no JSON, half a character, or a value of another type
        raise UserError(f"its {NAME} is damaged, or another version's; take the bundle from its maker again") from None
    for name in manifest.files:
        require_name(name)
    for stage in manifest.chain:  # a folder's name: another could lead out of the bundle
        if not _STAGE.fullmatch(stage):
            raise UserError(f"its {NAME} has a stage called {short(stage)!r}, which no run has; do not unpack it")
    sizes = [entry.bytes for entry in manifest.files.values()]
    if len(sizes) > MOST_FILES or min(sizes, default=0) < 0 or sum(sizes) > MOST_BYTES:
        raise UserError(f"its {NAME} lists more than a bundle may hold ({MOST_FILES} files, {MOST_BYTES >> 30} GiB)")
    return manifest


def require_name(name: str) -> None:
    """UserError for what could lie outside of the folder that a bundle is unpacked into, or be hidden there."""
    if len(name) > LONGEST_NAME or not all(map(_PART.fullmatch, name.split("/"))):
        raise UserError(f"it holds a file called {short(name)!r}, which no bundle has; do not unpack it")
