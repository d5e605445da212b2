"""Search for texts that the truth, or a reward, takes for good answers and that nobody would: evolutionary, seeded.

Per prompt a population of texts is made of words of the prompt, words of the lexicon and short pieces of other answers,
then changed and crossed over. A text is paid for its score and for how little of it stands in any good answer, so that
the search goes where the judge is wrong and not where answers are good. The best texts are printed for people to look
at; whether they are bad, only they can say.

    python -m benchmarks.truth_search --task push --calls 10000 --seed 1
    python -m benchmarks.truth_search --of grounded --task push --calls 10000 --seed 1
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from random import Random

from rewards import load_reward_set
from rewards.sets import SETS
from tucano.prompts import TASKS, Prompt
from tucano.rating.ratings import read_ratings
from tucano.rating.store import rating_store
from tucano.truth import truth

RATINGS = Path(__file__).parents[1] / "data" / "ratings"
PROMPTS = 10
POPULATION = 30
LONGEST_PIECE = 4
"""Words of another answer that are taken in one piece."""
SHOWN = 10
GOOD = 4
"""Ratings from here on are of good answers."""


@dataclass(frozen=True)
class Found:
    text: str
    score: float
    borrowed: float
    """Share of its runs of four words that stand in a good answer to this prompt or in the model's own texts."""

    @property
    def pay(self) -> float:
        return self.score * (1.5 - self.borrowed)


Judge = Callable[[Prompt, str], float]


def judge(name: str, databases: Path) -> Judge:
    """The truth, or the total of a reward set."""
    if name == "truth":
        return lambda prompt, text: truth(prompt, text, databases) or 0.0
    rewards = load_reward_set(name, databases)  # type: ignore[arg-type]  # argparse has checked it
    return lambda prompt, text: rewards.score(prompt, text).total


class Search:
    """Texts for one prompt, better and better for `calls` calls of the judge."""

    def __init__(self, prompt: Prompt, pieces: Sequence[str], good: Sequence[str], judged: Judge, rng: Random) -> None:
        self._prompt, self._judge, self._rng = prompt, judged, rng
        self._words = prompt.user.split()
        self._pieces = pieces
        self._known = {run for text in good for run in runs(text)}

    def run(self, calls: int) -> list[Found]:
        """All texts of the last population, best first."""
        found = {text: self._judged(text) for text in (self._fresh() for _ in range(POPULATION))}
        for _ in range(calls - POPULATION):
            text = self._child(list(found))
            if text not in found:
                found[text] = self._judged(text)
                if len(found) > POPULATION:
                    del found[min(found, key=lambda other: (found[other].pay, other))]
        return sorted(found.values(), key=lambda item: (-item.pay, item.text))

    def _judged(self, text: str) -> Found:
        mine = runs(text)
        borrowed = sum(run in self._known for run in mine) / len(mine) if mine else 1.0
        return Found(text, self._judge(self._prompt, text), borrowed)

    def _fresh(self) -> str:
        return " ".join(self._piece() for _ in range(self._rng.randint(2, 12)))

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
        return " ".join(change())


def runs(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[start : start + 4]) for start in range(len(words) - 3)}


def searched(of: str, task: str, calls: int, seed: int) -> Iterator[tuple[Prompt, list[Found]]]:
    """The search over some rated prompts of a task; the pieces come from answers to other prompts."""
    rng = Random(f"{task}/{seed}")
    with ExitStack() as stack:
        databases = stack.enter_context(rating_store(RATINGS))
        rated = [answer for answer in read_ratings(RATINGS) if answer.prompt.task == task]
        prompts = {answer.prompt.id: answer.prompt for answer in rated}
        lexicon = files("tucano.truth").joinpath("corpus.txt").read_text(encoding="utf-8").splitlines()
        for name in rng.sample(sorted(prompts), min(PROMPTS, len(prompts))):
            pieces = [answer.completion for answer in rated if answer.prompt.id != name and answer.completion.strip()]
            good = [answer.completion for answer in rated if answer.rating >= GOOD]
            search = Search(prompts[name], pieces + lexicon, good + lexicon, judge(of, databases), rng)
            yield prompts[name], search.run(calls // PROMPTS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", choices=("truth", *SETS), default="truth", help="who judges the texts")
    parser.add_argument("--task", choices=TASKS, required=True)
    parser.add_argument("--calls", type=int, default=10_000, help="calls of the judge over all prompts")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    best: list[Found] = []
    for prompt, found in searched(arguments.of, arguments.task, arguments.calls, arguments.seed):
        print(f"\n{prompt.user}")
        for item in found[: SHOWN // 2]:
            print(
                f"  score {item.score:.2f}  borrowed {item.borrowed:.2f}  {json.dumps(item.text, ensure_ascii=False)}"
            )
        best += found[:SHOWN]
    above = sum(item.score > 0.3 for item in best)
    print(f"\n{arguments.task}: {above} of the {len(best)} best texts are above .30; look at them")


if __name__ == "__main__":
    main()
