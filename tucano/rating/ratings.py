"""The rating set: completions with people's 1-5 ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tucano.errors import UserError
from tucano.masking import mask
from tucano.masking.prompts import masked_prompt
from tucano.prompts import Prompt
from tucano.rating.files import Origin, RaterKind, RatingLine, check_ids
from tucano.rating.ledger import Ledger
from tucano.security.printable import short

RATINGS = "ratings.jsonl"
CASES = "cases.jsonl"
"""Lines like the others, one of each answer about whose rating nobody is in doubt."""


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """One completion with the mean of its ratings (1-5), who gave them, as {rater: kind}, and what each gave, as
    {rater: rating}.
    """

    prompt: Prompt
    completion: str
    origin: Origin
    rating: float
    raters: dict[str, RaterKind]
    given: dict[str, int]

    def mean_of(self, kind: RaterKind) -> float | None:
        """The mean of the ratings by people or by models; None where there are none."""
        given = [rating for rater, rating in self.given.items() if self.raters[rater] == kind]
        return sum(given) / len(given) if given else None


@dataclass(frozen=True, slots=True)
class RatingSet:
    """What a rating folder holds. cases: answers about whose rating nobody is in doubt."""

    answers: Sequence[RatedAnswer]
    cases: Sequence[RatedAnswer] = ()


def read_rating_set(folder: Path) -> RatingSet:
    """Both files of a folder; no cases where it has none. UserError as for `read_ratings`."""
    path = folder / CASES
    if path.is_symlink():
        raise UserError(f"{path} is a link; put the file itself there, or nothing")
    cases = answers_of(Ledger(path, RatingLine, "a rating").read(), path)
    for case in cases:
        if len(set(case.given.values())) > 1:
            raise UserError(
                f"{path}: prompt {case.prompt.id}: ratings of one answer differ; keep those that nobody doubts"
            )
    return RatingSet(read_ratings(folder), cases)


def read_ratings(folder: Path) -> list[RatedAnswer]:
    """All rated completions, masked, in the order of the file; the ratings of one completion by several raters are
    averaged.

    Each line of ratings.jsonl is `{"prompt": {fields of Prompt}, "completion", "origin", "model", "rating", "rater",
    "rater_kind"}`. Raises UserError naming file and line where a line is not that, or contradicts one before it.
    """
    path = folder / RATINGS
    if not path.exists():
        raise UserError(f"{path} does not exist; name a folder that holds {RATINGS}, as tucano rate makes it")
    return answers_of(rating_ledger(folder).read(), path)


def answers_of(records: Sequence[RatingLine], path: Path) -> list[RatedAnswer]:
    """One for each answer of the lines of the file at `path`. UserError as for `read_ratings`."""
    check_ids((record.prompt for record in records), path)
    answers: dict[tuple[str, str], dict[str, RatingLine]] = {}
    for number, record in enumerate(records, start=1):
        given = answers.setdefault((record.prompt.id, record.completion), {})
        before = given.setdefault(record.rater, record).rating  # the same twice counts once
        if before != record.rating:
            raise UserError(
                f"{path} line {number} is a {record.rating} by {short(record.rater)!r} for an answer that they"
                f" rated {before} before; keep one of the two lines"
            )
    prompts = {record.prompt.id: record.prompt for record in records}
    masked = {name: masked_prompt(prompt) for name, prompt in prompts.items()}
    return [_averaged(list(given.values()), masked) for given in answers.values()]


def rating_ledger(folder: Path) -> Ledger[RatingLine]:
    return Ledger(folder / RATINGS, RatingLine, "a rating")


def _averaged(records: Sequence[RatingLine], prompts: Mapping[str, Prompt]) -> RatedAnswer:
    first = records[0]
    return RatedAnswer(
        prompt=replace(prompts[first.prompt.id]),
        completion=mask(first.completion)[0],
        origin=first.origin,
        rating=sum(record.rating for record in records) / len(records),
        raters={record.rater: record.rater_kind for record in records},
        given={record.rater: record.rating for record in records},
    )
