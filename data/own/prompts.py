"""All usable prompts of an own file or folder, with what is wrong with the others, counted and named row by row."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from data.own.chats import chat_of
from data.own.reading import raw_rows
from data.own.rows import Bad, own_row
from data.reading.files import NOT_UTF8
from data.reading.findings import Findings
from data.separation import without_accents
from tucano.errors import UserError
from tucano.lengths import USUAL, count_long
from tucano.prompts import GENERAL, Prompt

_PIECES = re.compile(r"""\w+|[^\w\s.,;:!?…"'“”‘’«»()\[\]]""")
"""Words, and what is no punctuation of a sentence, like + - % and emoji."""
MOST_NAMES = 20
"""Different licences, and different sources, of a file."""


@dataclass
class OwnPrompts:
    """`bad`: why rows are not used. `notes`: what one should know about rows that are. `general`: demonstrations that
    belong to no task (`data.general`). `not_utf8`: bad rows with bytes of another encoding.
    """

    prompts: list[Prompt] = field(default_factory=list)
    bad: Findings = field(default_factory=Findings)
    notes: Findings = field(default_factory=Findings)
    masked: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    general: list[Prompt] = field(default_factory=list)
    not_utf8: int = 0

    @property
    def usable(self) -> list[Prompt]:
        return [*self.prompts, *self.general]


def read_own(place: Path) -> OwnPrompts:
    """Every row is looked at. Raises `UserError` where a whole file cannot be read."""
    found = OwnPrompts()
    seen: dict[tuple[str, str], str] = {}
    for raw in raw_rows(place):
        found.rows += 1
        where = f"{raw.file} {'row' if raw.form == 'columns' else 'line'} {raw.number}"
        try:
            row = own_row(raw)
            first = seen.setdefault((row.prompt.task, _form(row.prompt.user)), where)
            if first != where:
                raise Bad("doubled", f"its text stands in {first} already")
        except Bad as fault:
            found.bad.add(fault.kind, f"{where}: {fault}")
            found.not_utf8 += NOT_UTF8 in str(fault)
            continue
        if count_long([chat_of(row.prompt.task, row.prompt.user, row.prompt.demonstration or "")], USUAL):
            found.notes.add(
                "long", f"{where}: by its characters, it has more tokens than model.max_length_tokens={USUAL}"
            )
        (found.general if row.prompt.task == GENERAL else found.prompts).append(row.prompt)
        found.masked += row.masked
        for kind, sentence in row.notes:
            found.notes.add(kind, f"{where}: {sentence}")
    _refuse_many("licence", {prompt.licence for prompt in found.usable}, place)
    _refuse_many("source", {prompt.source for prompt in found.usable}, place)
    return found


def _form(text: str) -> str:
    """What makes two rows of a task the same: as `normal_form`, but a rise is no fall, and a smile no frown."""
    return " ".join(_PIECES.findall(without_accents(text).casefold().replace("_", " ")))


def _refuse_many(name: str, different: set[str], place: Path) -> None:
    """They stand with the registered model and in tables."""
    if len(different) > MOST_NAMES:
        raise UserError(
            f"{place} has {len(different)} different values of {name}, at most {MOST_NAMES} are allowed; a link or a"
            " name of each row belongs into `id`"
        )


def per_task(prompts: list[Prompt]) -> str:
    """Like «push 700, churn 12»."""
    return ", ".join(f"{task} {count}" for task, count in Counter(prompt.task for prompt in prompts).most_common())
