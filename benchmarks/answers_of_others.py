"""What the rewards and the truth make of answers that other people would write.

    python -m benchmarks.answers_of_others

Two authors, language models, who had seen the rating guide and the prompts and nothing else of the project wrote good,
middling and bad answers in styles of their own and rated them (tests/answers_of_others.jsonl). A judge made for one
kind of text fails good ones of every other kind: the first table says how many. `order`: the share of pairs of a good
and a bad answer that a judge orders right, ties by half (Mann-Whitney).
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from rewards import load_reward_set
from rewards.sets import SetName
from tucano.prompts import Prompt
from tucano.rating.ratings import read_ratings
from tucano.rating.store import rating_store
from tucano.truth import truth

ROOT = Path(__file__).parents[1]
ANSWERS = ROOT / "tests" / "answers_of_others.jsonl"
RATINGS = ROOT / "data" / "ratings"
KEPT = 0.5
LOW = 0.3
JUDGES = ("v4.2", "grounded", "truth")


@dataclass(frozen=True)
class Row:
    """What a judge gives for an author's answers to a task's prompts."""

    author: str
    task: str
    judge: str
    good: list[float]
    middling: list[float]
    bad: list[float]

    @property
    def order(self) -> float:
        pairs = [(one > other) + 0.5 * (one == other) for one in self.good for other in self.bad]
        return fmean(pairs)

    @property
    def kept(self) -> float:
        """Share of good answers that earn half or more."""
        return sum(value >= KEPT for value in self.good) / len(self.good)

    @property
    def passed(self) -> float:
        """Share of bad answers that earn more than .30."""
        return sum(value > LOW for value in self.bad) / len(self.bad)


def rows() -> Iterator[Row]:
    answers = [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
    prompts = {answer.prompt.id: answer.prompt for answer in read_ratings(RATINGS)}
    with judges() as found:
        for author, task in dict.fromkeys((answer["author"], answer["task"]) for answer in answers):
            mine = [answer for answer in answers if (answer["author"], answer["task"]) == (author, task)]
            for name, judge in found.items():
                by_kind: dict[str, list[float]] = {"good": [], "middling": [], "bad": []}
                for answer in mine:
                    by_kind[answer["kind"]].append(judge(prompts[answer["prompt"]], answer["completion"]))
                yield Row(author, task, name, by_kind["good"], by_kind["middling"], by_kind["bad"])


Judge = Callable[[Prompt, str], float]


@contextmanager
def judges() -> Iterator[dict[str, Judge]]:
    with rating_store(RATINGS) as databases:

        def rewarded(name: SetName) -> Judge:
            rewards = load_reward_set(name, databases)
            return lambda prompt, text: rewards.score(prompt, text).total

        yield {
            "v4.2": rewarded("v4.2"),
            "grounded": rewarded("grounded"),
            "truth": lambda prompt, text: truth(prompt, text, databases) or 0.0,
        }


def table(found: Sequence[Row]) -> str:
    head = "| author, task | judge | good | middling | bad | good from .50 on | bad above .30 | order |\n"
    lines = [
        f"| {row.author}, {row.task} | {row.judge} | {fmean(row.good):.2f} |"
        f" {f'{fmean(row.middling):.2f}' if row.middling else '–'} | {fmean(row.bad):.2f} | {row.kept:.0%} of"
        f" {len(row.good)} | {row.passed:.0%} of {len(row.bad)} | {row.order:.2f} |"
        for row in found
    ]
    return head + "|---|---|---:|---:|---:|---:|---:|---:|\n" + "\n".join(lines)


def main() -> None:
    print(table(list(rows())))


if __name__ == "__main__":
    main()
