"""Search for texts that a judge takes for good answers and that nobody would: evolutionary, seeded.

For one prompt a population of texts is made of worthless answers, words of the prompt and short pieces of other texts,
then changed and crossed over. A text is paid for its score and for how little of it stands in any good answer, so that
the search goes where the judge is wrong and not where answers are good. Whether what it finds is bad, only people can
say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

Judge = Callable[[str], float]
"""The score of an answer to the prompt, 0 to 1."""

POPULATION = 30
LONGEST_PIECE = 4
"""Words of another text that are taken in one piece."""
FIRST_PIECES = 12
RUN = 4
"""So many words in a row tell where a text was borrowed."""
LONGEST = 2_000
"""Characters; a longer text is cut, so that no judge takes long."""


@dataclass(frozen=True, slots=True)
class Found:
    text: str
    score: float
    borrowed: float
    """Share of its runs of four words that stand in a good answer; 1 for a text without such runs."""

    @property
    def pay(self) -> float:
        return self.score * (1.5 - self.borrowed)


class Search:
    """Texts for one prompt, better and better the more often the judge is asked.

    `start`: worthless answers that the search begins with, alone and two at a time. `pieces`: texts from which it takes
    words. `good`: what it must not simply copy.
    """

    def __init__(
        self, user: str, start: Sequence[str], pieces: Sequence[str], good: Sequence[str], judge: Judge, rng: Random
    ) -> None:
        self._judge, self._rng = judge, rng
        self._start, self._words = start, user.split() or [""]
        self._pieces = pieces or [user]  # nobody else may have written a word
        self._known = {run for text in good for run in _runs(text)}

    def run(self, calls: int) -> list[Found]:
        """All texts of the last population, best first."""
        found = {text: self._judged(text) for text in self._first()[:calls]}
        for _ in range(calls - len(found)):
            text = self._child(list(found))
            if text not in found:
                found[text] = self._judged(text)
                if len(found) > POPULATION:
                    del found[min(found, key=lambda other: (found[other].pay, other))]
        return sorted(found.values(), key=lambda item: (-item.pay, item.text))

    def shortest(self, found: Found) -> Found:
        """The text without the words that it can lose and be paid as much: what is left shows why it is paid."""
        best, place = found, 0
        while place < len(words := best.text.split(" ")) > 1:
            fewer = self._judged(" ".join([*words[:place], *words[place + 1 :]]))
            if fewer.score >= best.score and fewer.pay >= best.pay:
                best = fewer
            else:
                place += 1
        return best

    def _judged(self, text: str) -> Found:
        mine = _runs(text)
        borrowed = sum(run in self._known for run in mine) / len(mine) if mine else 1.0
        return Found(text, self._judge(text), borrowed)

    def _first(self) -> list[str]:
        """Worthless answers, pairs of them, and words from everywhere; none twice."""
        half = POPULATION // 2
        pairs = [f"{one}\n{other}" for one in self._start for other in self._start if one != other]
        mixed = self._rng.sample(pairs, min(half, len(pairs)))
        words = (" ".join(self._piece() for _ in range(self._rng.randint(2, FIRST_PIECES))) for _ in range(half))
        return list(dict.fromkeys(text[:LONGEST] for text in [*self._start, *mixed, *words]))

    def _piece(self) -> str:
        source = self._rng.choice((self._words, self._pieces, self._pieces))
        words = source if source is self._words else self._rng.choice(source).split(" ")
        start = self._rng.randrange(len(words))
        return " ".join(words[start : start + self._rng.randint(1, LONGEST_PIECE)])

    def _child(self, population: list[str]) -> str:
        words = self._rng.choice(population).split(" ")
        place, stop = sorted(self._rng.choices(range(len(words) + 1), k=2))
        change: Callable[[], list[str]] = self._rng.choice(
            (
                lambda: [*words[:place], self._piece(), *words[place:]],
                lambda: [*words[:place], self._piece(), *words[place + 1 :]],
                lambda: [*words[:place], *words[min(stop, place + 3) :]],
                lambda: [*words[:place], *reversed(words[place:stop]), *words[stop:]],
                lambda: [*words[:place], *self._rng.choice(population).split(" ")[-stop:]],
                lambda: [*words[stop:], *words[:place], *words[place:stop]],
            )
        )
        return " ".join(change())[:LONGEST]


def _runs(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}
