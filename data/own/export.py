"""A prompt set in the form that `data.source=jsonl` reads: reading it again gives the same prompts."""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tucano.artifacts.store import newest_first, read_manifest
from tucano.errors import UserError
from tucano.files.prompts import SETS, PromptFiles
from tucano.prompts import Prompt, read_prompts
from tucano.security.printable import short

ENDING = ".jsonl"


def row_of(prompt: Prompt) -> dict[str, Any]:
    """Its row; what is not known is left out."""
    row = {
        "prompt": prompt.user,
        "task": prompt.task,
        "reference": prompt.reference or None,
        "demonstration": prompt.demonstration,
        "stars": prompt.stars,
        "licence": prompt.licence,
        "id": prompt.id,
        "template": prompt.template,
        "source": prompt.source,
    }
    return {name: value for name, value in row.items() if value is not None}


def require_new(file: Path) -> None:
    """UserError for a place where no new file of rows can be."""
    shown = short(str(file))
    if file.suffix.lower() != ENDING:
        raise UserError(f"{shown} does not end in {ENDING}; an export has one JSON object a line, so name it like that")
    if file.exists() or file.is_symlink():
        raise UserError(f"{shown} is there already; name another file, or remove it")


def write_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Whole or not at all; the number of rows. UserError for a place where no new file can be."""
    require_new(file)
    lines = [json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows]
    try:
        content = "".join(lines).encode()
    except UnicodeEncodeError:
        raise UserError("a text holds half a character; make these rows again where they are from") from None
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".export-") as place:
            draft = Path(place) / file.name
            draft.write_bytes(content)
            os.link(draft, file)  # refuses what has come into its place meanwhile
    except OSError as error:
        raise UserError(f"{short(str(file))} cannot be written ({error.strerror}); name another place") from None
    return len(lines)


def prompts_of(place: Path) -> list[Prompt]:
    """All prompts of a prompt set's folder, or of the newest prompt set in a storage folder."""
    files = PromptFiles(prompt_set(place))
    found = [files.of(name) for name in SETS if files.of(name).is_file()]
    try:
        return [prompt for path in found for prompt in read_prompts(path)]
    except (ValueError, TypeError, RecursionError):
        raise UserError(f"{files.folder} holds no whole prompt set; the same tucano run makes it again") from None


def prompt_set(place: Path) -> Path:
    """The folder of a prompt set, which `place` is, or the newest in the storage `place`. UserError without one."""
    shown = short(str(place))
    if not place.is_dir():
        raise UserError(f"there is no folder {shown}; name a prompt set's folder, or the storage of a run")
    if PromptFiles(place).test.is_file():
        return place
    made = next((folder for folder in newest_first(place, "data") if read_manifest(folder)), None)
    if made is None:
        raise UserError(f"{shown} holds no prompts; name a prompt set's folder, or the storage of a finished run")
    return made
