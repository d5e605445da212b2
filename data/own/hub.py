"""Data sets of the Hugging Face hub as rows of a file: fetched once, at one commit. What a run reads are files."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from data.own.chats import CHAT_FIELDS
from data.own.reading import BEGINNINGS, FIELDS, MOST_ROWS
from tucano.errors import UserError
from tucano.security.printable import short

_PINNED = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})")


def hub_rows(pinned: str, more: Mapping[str, str], split: str, config: str | None = None) -> Iterator[dict[str, Any]]:
    """The rows of OWNER/NAME@COMMIT, each with its place as `id` and the fields `more` that it lacks. UserError."""
    if (found := _PINNED.fullmatch(pinned)) is None:
        raise UserError(
            f"{short(pinned)} is not OWNER/NAME@COMMIT with the 40 digits of a commit; a branch may change, so copy the"
            " commit from the page `Files and versions` of the data set"
        )
    name, commit = found["name"], found["commit"]
    if Path(name).exists():
        raise UserError(f"{name} lies here too, and would be read instead of the hub's; call this from another folder")
    source = name.replace("/", "--")
    for number, row in enumerate(dataset_rows(name, commit, split, config)):
        yield {"id": f"{name}@{commit[:7]}/{split}/{number}", "source": source, **more, **row}


def dataset_rows(name: str, commit: str | None, split: str, config: str | None) -> Iterator[dict[str, Any]]:
    """What `datasets` finds there: the fields that are read, without what stands beside a chat, whose `task` or
    `source` are not ours.
    """
    import datasets  # takes seconds

    try:
        rows = datasets.load_dataset(name, config, split=split, revision=commit, streaming=True)
        for row in islice(rows, MOST_ROWS):
            if BEGINNINGS.isdisjoint(row):
                names = short(", ".join(row), 200)
                raise UserError(f"{name} has the columns {names}; one of {', '.join(sorted(BEGINNINGS))} is needed")
            fields = FIELDS if "prompt" in row else CHAT_FIELDS
            yield {field: row[field] for field in fields if row.get(field) is not None}
    except (OSError, ValueError, StopIteration, datasets.exceptions.DatasetsError) as error:  # StopIteration: no rows
        if isinstance(error, UserError):
            raise
        why = short(str(error), 200)
        raise UserError(f"{name} cannot be fetched ({why}); look at name, commit, split and network") from None
