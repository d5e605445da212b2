"""Ratings that are given on the page of `tucano try`: lines of a rating folder, as `tucano rate` writes them."""

import hashlib
import secrets
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from tucano.cli.rating.page import check_form
from tucano.errors import UserError
from tucano.masking import mask
from tucano.preferences import ZERO
from tucano.prompts import Prompt, Task
from tucano.rating.draw import Candidate, CandidateSource, keep_stores, masked
from tucano.rating.files import LONGEST_CORRECTION
from tucano.rating.ledger import LONGEST_NAME
from tucano.rating.ratings import rating_ledger
from tucano.rating.session import Session, corrected
from tucano.rating.store import STORE_DUMP

MOST_SHOWN = 10_000
"""Answers that may still be rated; the oldest goes when there are more."""
BAD_NAME = "com este nome não se avalia aqui; escreva um nome visível, sempre igual, que não seja o de um modelo"


class Rated(BaseModel):
    """What the page sends. answer: the id of one that was shown."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    answer: str = Field(max_length=100)
    rating: int = Field(ge=1, le=5)
    rater: str = Field(min_length=1, max_length=LONGEST_NAME)
    correction: str = Field("", max_length=LONGEST_CORRECTION)
    consent: bool = False


class Ratings:
    """The rating folder of a run's prompt set, and the answers that may be rated. stores: what SQL questions ask."""

    def __init__(self, folder: Path, stores: list[Path]) -> None:
        self.folder = folder
        if not (folder / STORE_DUMP).exists():
            keep_stores(folder, CandidateSource([], stores), folder, set())
        self._shown: dict[str, Candidate] = {}

    def show(self, prompt: Prompt, completion: str, model: str) -> str:
        """The id under which an answer may be rated. Nobody rates a text that no model gave."""
        name = secrets.token_urlsafe(12)
        self._shown[name] = Candidate(prompt, completion, "sampled", model)
        if len(self._shown) > MOST_SHOWN:
            del self._shown[next(iter(self._shown))]
        return name

    def keep(self, rated: Rated) -> None:
        """Write a rating, masked; it takes the place of the one that this person gave before. KeyError for an answer
        that is not known, ValueError in Portuguese for what the person can mend, else UserError or OSError.
        """
        shown = self._shown[rated.answer]
        if ZERO in shown.completion:
            raise ValueError("esta resposta contém um caractere nulo, que um arquivo de notas não guarda")
        candidate = masked(shown)
        ledger = rating_ledger(self.folder)
        if ledger.path.exists():
            with ledger.held():
                ledger.mend_end()
                ledger.read()  # what is wrong with the file is no matter of the name
        try:
            ledger.check_rater(rated.rater, "human", is_new=True)
        except UserError as why:
            raise ValueError(BAD_NAME) from why
        correction = corrected(shown.completion, rated.correction)  # the page sends what it shows, which is not masked
        check_form(candidate.prompt.task, correction)
        session = Session(self.folder, [candidate], rated.rater, "human", rated.consent)
        session.say(candidate.id, str(rated.rating), correction, again=True)


def typed(task: Task, text: str) -> Prompt:
    """A text that somebody wrote as a prompt: nothing is known to be true of it. Its id is kept beside the masked text,
    so it must not tell of the text before.
    """
    name = hashlib.sha256(f"{task}\0{mask(text)[0]}".encode()).hexdigest()[:12]
    return Prompt(f"typed-{name}", task, text, template="", source="typed", licence="own")
