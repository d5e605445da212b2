"""The relations that are data: what is known of the scores of answers to certain prompts, in `relations.jsonl.xz`.

Each line is a prompt with pairs of texts, made by hand or by program. docs/audit.md says how a line is added.
"""

import lzma
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tucano.errors import UserError
from tucano.project import COMMITTED_RATINGS
from tucano.prompts import Prompt
from tucano.rating.files import MOST_BYTES, parse
from tucano.rating.ratings import RatingSet
from tucano.rating.store import fill, rating_store
from tucano.specs.registry import spec_of
from tucano.specs.texts import Change, Flaw

TABLE = Path(__file__).with_name("relations.jsonl.xz")
STORE = "relations.sqlite"
"""The table's prompts call the store of the committed ratings so: a rating folder may have another one."""
PLAIN = "all"
"""The kind of a prompt about which there is nothing special."""


class Row(BaseModel):
    """A prompt and what is known of answers to it. One prompt may have several rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: Prompt
    kinds: Annotated[tuple[str, ...], Field(min_length=1)] = (PLAIN,)
    """What the prompt is of; a reward has to be right for each kind. `PLAIN` comes first where it is one of them."""
    right: tuple[str, ...] = ()
    """Faultless answers. Where there are none, `worse` is about answers that may have other blemishes."""
    worse: tuple[Flaw, ...] = ()
    as_good: tuple[Change, ...] = ()
    same: tuple[Change, ...] = ()
    """Kind and two texts that earn the same, whichever is the first."""
    unread: dict[str, str] = {}
    """By kind: the answer of somebody who only looks at what stands around the text."""
    sized: dict[str, tuple[str, ...]] = {}
    """By writing (letters of one byte, of several): good answers around a documented length."""

    @field_validator("prompt")
    @classmethod
    def _known_is_possible(cls, prompt: Prompt) -> Prompt:
        if prompt.reference:
            spec_of(prompt.task).reference.model_validate(prompt.reference)
        return prompt


def read_table(path: Path = TABLE) -> list[Row]:
    """All rows. UserError where a line is none, or the file is too large."""
    with lzma.open(path) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UserError(f"{path} unpacks to more than {MOST_BYTES // 2**20} MB")
    return [parse(Row, line, f"{path} line {number}", "a row") for number, line in enumerate(content.splitlines(), 1)]


@dataclass(frozen=True)
class Material:
    """What the audit asks about: a rating set, and rows of the table."""

    ratings: RatingSet
    rows: Sequence[Row] = ()

    def of(self, task: str) -> "Material":
        parts = (self.ratings.answers, self.ratings.cases)
        ratings = RatingSet(*([one for one in part if one.prompt.task == task] for part in parts))
        return Material(ratings, [row for row in self.rows if row.prompt.task == task])


@contextmanager
def stores(ratings: Path) -> Iterator[Path]:
    """The stores of a rating folder, and those that the table's prompts ask about."""
    with rating_store(ratings) as place:
        fill(place, COMMITTED_RATINGS, STORE)
        yield place
