"""Rewards and truth on ratings of other writers' answers, which are held out until they have been shown once.

    python -m benchmarks.held_out_ratings [--set 25 | --ratings FOLDER] [--resamples 10000]

Mean score by rating; Spearman's rho over sampled answers with the lower end of its 90 % interval (bootstrap by prompt);
and by how much rho exceeds the better of two baselines that read nothing: the answer's length, and whether it is valid
JSON. Exit code 1 when a task misses what is promised: rising means, rho of .60, an excess above 0.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.truth_search import Judge, judge
from rewards.names import REPORTED
from tucano.audit.report import Estimate
from tucano.audit.resampling import draw_prompts, estimate, resampled_spearman
from tucano.project import COMMITTED_RATINGS
from tucano.rating.ratings import RatedAnswer, read_ratings
from tucano.rating.store import rating_store
from tucano.rating.table import HELD_OUT, read_sets
from tucano.statistics.inference import Floats, spearman

SEED = 20261122
SMALLEST_RHO = 0.60


@dataclass(frozen=True)
class Row:
    """What became of one judge on one task. `means`: {rating, rounded: mean score}."""

    judge: str
    task: str
    means: dict[int, float]
    rho: Estimate
    excess: Estimate
    baseline: str

    @property
    def kept(self) -> bool:
        means = [self.means[rating] for rating in sorted(self.means)]
        rises = all(lower < higher for lower, higher in pairwise(means))
        return rises and self.rho.low >= SMALLEST_RHO and self.excess.low > 0

    def line(self) -> str:
        means = " / ".join(f"{self.means.get(rating, float('nan')):.2f}" for rating in range(1, 6))
        rho = f"{self.rho.value:.2f} ({self.rho.low:.2f})"
        excess = f"{self.excess.value:+.2f} ({self.excess.low:+.2f}) over {self.baseline}"
        return f"| {self.judge} | {self.task} | {means} | {rho} | {excess} | {'yes' if self.kept else 'no'} |"


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


BASELINES: dict[str, Callable[[str], float]] = {"length": len, "valid JSON": is_json}


def judged(name: str, asked: Judge, answers: Sequence[RatedAnswer], resamples: int) -> Row:
    """One judge on the answers of one task."""
    scores = [asked(answer.prompt, answer.completion) for answer in answers]
    by_rating: dict[int, list[float]] = {}
    for answer, score in zip(answers, scores, strict=True):
        by_rating.setdefault(int(answer.rating + 0.5), []).append(score)
    sampled = [place for place, answer in enumerate(answers) if answer.origin == "sampled"]
    ratings = [answers[place].rating for place in sampled]
    names = [answers[place].prompt.id for place in sampled]
    owner = [list(dict.fromkeys(names)).index(one) for one in names]
    counts = draw_prompts(len(set(names)), resamples, np.random.default_rng(SEED))

    def rho(values: Sequence[float]) -> tuple[float, Floats]:
        return spearman(values, ratings), resampled_spearman(values, ratings, counts, owner)

    ours = rho([scores[place] for place in sampled])
    known = {kind: rho([float(of(answers[place].completion)) for place in sampled]) for kind, of in BASELINES.items()}
    best = max(known, key=lambda kind: known[kind][0])
    return Row(
        judge=name,
        task=answers[0].prompt.task,
        means={rating: fmean(values) for rating, values in by_rating.items()},
        rho=estimate(*ours),
        excess=estimate(ours[0] - known[best][0], ours[1] - known[best][1]),
        baseline=best,
    )


def rows(rated: Sequence[RatedAnswer], stores: Path, resamples: int) -> Iterator[Row]:
    with rating_store(stores) as databases:
        for name in ("grounded", "truth"):
            asked = judge(name, databases)
            for task in REPORTED:
                yield judged(name, asked, [one for one in rated if one.prompt.task == task], resamples)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--set", type=int, default=25, help="from 1; no judge has learned from 24 and 25 (default: 25)")
    chosen.add_argument("--ratings", type=Path, help="a folder that nobody has looked at yet")
    parser.add_argument("--resamples", type=int, default=10_000)
    arguments = parser.parse_args()
    print(
        "| judge | task | mean score by rating, 1 to 5 | rho, sampled (90 % from) | beyond a baseline | as promised |"
    )
    print("|---|---|---|---|---|---|")
    found = []
    folder = arguments.ratings
    rated = read_ratings(folder) if folder else {**read_sets(), **read_sets(HELD_OUT)}[arguments.set]
    for row in rows(rated, folder or COMMITTED_RATINGS, arguments.resamples):
        print(row.line(), flush=True)
        found.append(row.kept)
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
