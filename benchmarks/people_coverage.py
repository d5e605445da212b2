"""How often the 90 % interval of the rewards' agreement with people holds the truth, and how often its lower bound, at
which the audit looks, lies above it.

    python -m benchmarks.people_coverage --repetitions 300

People rate few prompts, models these and a hundred others, five answers each; what all three see is an answer's true
worth with noise of their own.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rewards.types import Score
from tucano.audit.agreement import people_agreement
from tucano.audit.bench import Group
from tucano.audit.report import Estimate
from tucano.prompts import Prompt
from tucano.rating.files import RaterKind
from tucano.rating.ratings import RatedAnswer
from tucano.statistics.inference import Floats, spearman, within_prompts

ANSWERS = 5
OTHERS = 100
RESAMPLES = 500
MODELS = {"close": 0.2, "usual": 0.5, "guessing": 3.0}
"""The noise of models beside an answer's worth, whose spread is 1; rewards have 1."""
KINDS: dict[str, RaterKind] = {"m": "model", "h": "human"}
KIND = 0.5
"""Points that models give too many."""


@dataclass(frozen=True)
class Rate:
    """Shares of the repetitions, pooled and within prompts."""

    covers: tuple[float, float]
    above: tuple[float, float]


def rewards_and_people(worth: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    return 1 / (1 + np.exp(-worth - rng.normal(size=worth.shape))), given(worth)


def given(worth: Floats) -> Floats:
    """Ratings, 1 to 5."""
    ratings: Floats = np.clip(np.round(3 + 1.2 * worth), 1, 5)
    return ratings


def truth(prompts: int = 20_000) -> tuple[float, float]:
    """The agreement over very many prompts, pooled and within prompts."""
    rng = np.random.default_rng(99)
    rewards, people = rewards_and_people(rng.normal(size=(prompts, ANSWERS)), rng)
    within = within_prompts(rewards.tolist(), people.tolist())
    return spearman(rewards.ravel(), people.ravel()), float(np.mean(within))


def drawn(by_people: int, others: int, noise: float, rng: np.random.Generator) -> list[Group]:
    """Rated prompts, the first of them by people too."""
    worth = rng.normal(size=(by_people + others, ANSWERS))
    rewards, people = rewards_and_people(worth, rng)
    models = given(worth + KIND / 1.2 + rng.normal(0, noise, worth.shape))
    return [
        rated_group(str(place), rewards[place], models[place], people[place] if place < by_people else None)
        for place in range(len(worth))
    ]


def rated_group(name: str, rewards: Floats, models: Floats, people: Floats | None) -> Group:
    prompt = Prompt(name, "push", "u", "t", "s", "l")
    answers = []
    for place, model in enumerate(models):
        said = {"m": int(model)} | ({"h": int(people[place])} if people is not None else {})
        mean = sum(said.values()) / len(said)
        answers.append(RatedAnswer(prompt, str(place), "sampled", mean, {rater: KINDS[rater] for rater in said}, said))
    return Group(prompt, tuple(answers), tuple(Score(float(reward), {}) for reward in rewards))


def rate(by_people: int, others: int, noise: float, repetitions: int) -> Rate:
    found = [
        people_agreement("push", drawn(by_people, others, noise, np.random.default_rng([seed, 7])), RESAMPLES, [1])
        for seed in range(repetitions)
    ]
    intervals = [(row.pooled, row.within) for row in found if row]
    goal = truth()

    def share(is_so: str) -> tuple[float, float]:
        pooled, within = (_share([pair[side] for pair in intervals], goal[side], is_so) for side in (0, 1))
        return pooled, within

    return Rate(share("covers"), share("above"))


def _share(intervals: Sequence[Estimate], goal: float, is_so: str) -> float:
    hits = [one.low > goal if is_so == "above" else one.low <= goal <= one.high for one in intervals]
    return float(np.mean(hits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=300)
    repetitions = parser.parse_args().repetitions
    for models, noise in MODELS.items():
        for by_people in (12, 20, 40):
            _say(f"{by_people} by people, {OTHERS} by {models} models", rate(by_people, OTHERS, noise, repetitions))
    for by_people in (12, 20, 40):
        _say(f"{by_people} by people alone", rate(by_people, 0, 0.5, repetitions))


def _say(name: str, found: Rate) -> None:
    covers, above = (" / ".join(f"{value:.0%}" for value in pair) for pair in (found.covers, found.above))
    print(f"{name}: covers {covers}, lower bound above the truth {above} (pooled / within prompts)", flush=True)


if __name__ == "__main__":
    main()
