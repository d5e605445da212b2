"""The files of a rating folder, which may come from anybody: ordinary files of bounded size, never links, and lines
with types.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tucano.errors import UserError
from tucano.prompts import Prompt, decoded, lines_of
from tucano.security.printable import short
from tucano.security.strict_json import NoJson, strict_json
from tucano.specs.registry import spec_of
from tucano.storage.places import require_file

Origin = Literal["sampled", "written"]
RaterKind = Literal["human", "model"]

MOST_BYTES = 64 * 2**20
"""Of one file. Ten thousand ratings have 8 MB; Olist's hundred thousand orders, as a dump, 25."""
LONGEST_LINE = 2**20
LONGEST_CORRECTION = 8000
"""Characters; as many as a demonstration of own data may have."""
_ZERO = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""A zero byte as JSON writes it: behind an odd number of backslashes."""


class CandidateLine(BaseModel):
    """A completion to rate. Further fields are ignored, so that ratings can be rated again."""

    model_config = ConfigDict(strict=True, frozen=True)

    prompt: Prompt
    completion: str
    origin: Origin = "sampled"
    model: str = "unknown"

    @model_validator(mode="after")
    def _known_is_possible(self) -> Self:
        if self.prompt.stars is not None and not 1 <= self.prompt.stars <= 5:
            raise ValueError(f"prompt.stars is {self.prompt.stars}; a review has 1 to 5, or null where it has none")
        if self.prompt.reference:
            spec_of(self.prompt.task).reference.model_validate(self.prompt.reference)
        return self


_CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029"


class Judged(BaseModel):
    """Who said something; `consent`: whether models may be trained with it."""

    model_config = ConfigDict(strict=True, frozen=True)

    rater: str = Field(pattern=rf"^[^{_CONTROL}]*[^{_CONTROL}\s][^{_CONTROL}]*$")
    """A name in one line, not blank: it stands in reports."""
    rater_kind: RaterKind
    consent: bool = False


class RatingLine(CandidateLine, Judged):
    """A completion with a rating, and what it should have been, where the rater wrote that."""

    origin: Origin
    rating: int = Field(ge=1, le=5)
    """No `Literal`: to that, `true` is a 1."""
    correction: str | None = Field(None, max_length=LONGEST_CORRECTION)


Line = TypeVar("Line", bound=BaseModel)


def parse(kind: type[Line], text: str | bytes, where: str, what: str) -> Line:
    """One line of JSON; `where` and `what` are the subject and the object of the UserError for one that is something
    else.
    """
    try:
        found = kind.model_validate_json(text)
        _require_plain(text if isinstance(text, str) else text.decode())
    except (ValidationError, NoJson) as error:
        reason = str(error) if isinstance(error, NoJson) else _first_fault(error)
        raise UserError(f"{where} is not {what} ({reason}); mend or remove the line") from None
    return found


def _require_plain(text: str) -> None:
    """NoJson for what pydantic takes and other readers of the same text do not."""
    strict_json(text)
    if "\\u0000" in text and _ZERO.search(text):  # few lines have it, and the pattern takes its time
        raise NoJson("a text of it holds a zero byte")


def _first_fault(error: ValidationError) -> str:
    first: Any = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return short(f"{place}: {first['msg']}".removeprefix(": "))


def check_ids(prompts: Iterable[Prompt], path: Path) -> None:
    """UserError for two different prompts under one id: answers to them would be taken for answers to one. `prompts`
    holds one per line of the file at `path`.
    """
    known: dict[str, Prompt] = {}
    for number, prompt in enumerate(prompts, start=1):
        if known.setdefault(prompt.id, prompt) != prompt:
            raise UserError(
                f"{path} line {number} has another prompt under the id {short(prompt.id)!r}; give each prompt its own"
                " id"
            )


def read(path: Path) -> str:
    """One of the folder's files. UserError where it is no ordinary one, too large, or not UTF-8."""
    with opened(path, os.O_RDONLY) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UserError(f"{path} has more than {MOST_BYTES // 2**20} MB; a rating folder's files are smaller, split it")
    return decoded(content, path)


def lines(path: Path) -> list[str]:
    """The lines of one of the folder's files. UserError as `read`, and for a line that is too long."""
    found = lines_of(read(path))
    for number, line in enumerate(found, start=1):
        if len(line) > LONGEST_LINE:
            raise UserError(f"{path} line {number} has more than {LONGEST_LINE} characters; mend or remove the line")
    return found


def write(path: Path, text: str, mode: int = 0o666) -> None:
    """Whole or not at all, and beside a link that stands there, not through it."""
    draft = path.with_name(f"{path.name}.draft")
    draft.unlink(missing_ok=True)
    with opened(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode) as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


@contextmanager
def opened(path: Path, flags: int, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """An ordinary file in binary mode, never through a link. UserError for anything else."""
    if path.is_symlink():
        raise UserError(f"{path} is a link; a rating folder holds its files itself, so put the file in its place")
    require_file(path)
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode)  # a pipe would be waited for
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UserError(f"{path} is no ordinary file; remove it")
    with os.fdopen(handle, {os.O_RDONLY: "rb", os.O_WRONLY: "ab", os.O_RDWR: "r+b"}[flags & os.O_ACCMODE]) as file:
        yield file
