"""Real reviews as extraction prompts: cleaned, masked, each used once, with as much truth as the tables give."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from data.generator.phrases import BANKS
from data.generator.reviews import BLIND_SHARE, sentiment_of
from data.separation import normal_form
from data.sources import NONCOMMERCIAL
from data.sources.csv_files import TableReader
from data.sources.synthetic import SyntheticSource
from tucano.masking import mask
from tucano.prompts import Prompt, Task
from tucano.settings.data import Style
from tucano.specs.banks import Pool, Reword

BLIND, BLIND_ENVELOPE = "blind", "Extraia em JSON os dados desta avaliação: {t}"
_BETWEEN = " .;,"
"""What may stand between a text and the same text again."""
LONGEST = 300
"""Characters of a review that are shown; the rest is cut at a word."""


@dataclass(frozen=True)
class RealReview:
    """A masked text; `silver` holds what other columns say about fields of the answer."""

    text: str
    stars: int
    category: str | None
    silver: dict[str, Any]


def join_title(title: str | None, message: str | None) -> str:
    """One line from title and message. Line breaks become spaces; a title that the message repeats, and a text given
    twice, stand once.
    """
    title, message = _one_line(title), _one_line(message)
    said = normal_form(title)
    if not said or f"{normal_form(message)} ".startswith(f"{said} "):
        return message or title
    if not message:
        return title
    return f"{title} {message}" if title[-1] in ".!?:,;" else f"{title}. {message}"


def _one_line(text: str | None) -> str:
    line = " ".join((text or "").split())
    half = len(line) // 2
    if len(line) % 2 and line[half] not in _BETWEEN:
        return line
    least = max(1, len(line[:half].rstrip(_BETWEEN)), len(line[-half:].lstrip(_BETWEEN)))
    once = next((size for size in range(least, half + 1) if line.endswith(line[:size])), 0)
    return line[:once] if once > 3 else line


def shorten(text: str) -> str:
    """At most `LONGEST` characters, cut between words."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + "…"


class RealReviews:
    """Real reviews in random order; a text that occurs again, or has no letter, is left out. Offers each at most once.

    Half of the prompts show the text alone, neither stars nor category, so that these have to be read from it; with
    `blind` all do.
    """

    def __init__(
        self, source: str, licence: str, reviews: Iterable[RealReview], rng: Random, blind: bool = False
    ) -> None:
        self._source, self._licence, self._blind = source, licence, blind
        self.masked: Counter[str] = Counter()
        self.rewords: dict[str, Reword] = {}
        """By the text of a prompt offered."""
        self.left_out: Counter[str] = Counter()
        """By why: how many."""
        different: dict[str, RealReview] = {}
        for review in reviews:
            normal = normal_form(review.text)
            if not re.search(r"[a-z]", normal):
                self.left_out["have no letter"] += 1
            elif different.setdefault(normal, review) is not review:
                self.left_out["have the text of another one"] += 1
        self._reviews = list(different.values())
        self.size = len(self._reviews)
        rng.shuffle(self._reviews)

    @property
    def warnings(self) -> list[str]:
        return [f"{count} reviews of {self._source} {why} and are left out" for why, count in self.left_out.items()]

    def offers(self, pool: Pool, rng: Random) -> Iterator[Prompt]:
        while self._reviews:
            yield self._prompt(self._reviews.pop(), pool, rng)

    def _prompt(self, review: RealReview, pool: Pool, rng: Random) -> Prompt:
        text, masked = mask(" ".join(review.text.split()))
        shown, masked_too = mask(review.category or "")
        self.masked += masked + masked_too
        blind = self._blind or rng.random() < BLIND_SHARE
        bank = BANKS["texto" if blind else "envelope" if review.category is None else "ficha"]
        name, envelope = (BLIND, BLIND_ENVELOPE) if self._blind else bank.draw(pool, rng)

        def enveloped(name: str, envelope: str) -> tuple[str, str]:
            return envelope.format(s=review.stars, c=shown, t=shorten(text)), name

        user, _ = enveloped(name, envelope)
        self.rewords[user] = lambda rng: enveloped(*bank.reword(rng))
        category = {"category": shown} if shown and not blind else {}
        fields = {"sentiment": sentiment_of(review.stars), "sentiment_score": review.stars} | category | review.silver
        return Prompt("", "extraction", user, name, self._source, self._licence, review.stars, {"fields": fields})


class ReviewSource(SyntheticSource):
    """Extraction comes from real reviews, the other tasks are generated."""

    def __init__(
        self, reviews: Iterable[RealReview], files: TableReader, folder: Path, seed: int, style: Style
    ) -> None:
        self._real = RealReviews(self.name, NONCOMMERCIAL, reviews, Random(f"{seed}/reviews"))
        super().__init__(folder, seed, style)
        self.masked, self._rewords = self._real.masked, self._real.rewords
        self.bad_rows = files.bad_rows
        self.warnings = files.warnings + self._real.warnings

    def available(self, task: Task) -> int | None:
        return self._real.size if task == "extraction" else super().available(task)

    def prompts(self, task: Task, pool: Pool, rng: Random) -> Iterator[Prompt]:
        return self._real.offers(pool, rng) if task == "extraction" else super().prompts(task, pool, rng)
