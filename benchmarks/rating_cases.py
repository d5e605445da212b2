"""Writes the answers of spent rating sets about whose rating nobody is in doubt, one by one asked by the audit.

    python -m benchmarks.rating_cases [--write]

Of every set in data/rated.jsonl.xz: answers that both raters rated alike, where truth and the rewards `grounded`
earn what the rating says with a margin. Written ones first, then sampled ones drawn at random. Queries run on the
stores of data/ratings, as in the audit. Without --write it only counts, and says how many answers that raters agree on
the judges see otherwise.
"""

import argparse
import json
import random
from dataclasses import asdict
from pathlib import Path

from rewards import RewardSet, load_reward_set
from rewards.names import REPORTED
from tucano.audit.relations.agreed import BANDS
from tucano.rating.ratings import CASES, RatedAnswer
from tucano.rating.store import rating_store
from tucano.rating.table import read_sets
from tucano.truth import truth

DATA = Path(__file__).parents[1] / "data"
MARGIN = 0.04
MOST = {1: 60, 2: 150, 3: 100, 4: 130, 5: 400}
"""Of each task and rating."""
SEED = 20261126


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace data/ratings/cases.jsonl")
    write = parser.parse_args().write
    chosen: list[RatedAnswer] = []
    with rating_store(DATA / "ratings") as databases:
        rewards = load_reward_set("grounded", databases)
        alike = [answer for answers in read_sets().values() for answer in answers if is_alike(answer)]
        agreed = [answer for answer in alike if is_agreed(answer, rewards, databases)]
    for task in REPORTED:
        for rating in BANDS:
            of_it = [a for a in agreed if a.prompt.task == task and round(a.rating) == rating]
            there = sum(a.prompt.task == task and round(a.rating) == rating for a in alike)
            kept = drawn(of_it, MOST[rating])
            chosen += kept
            print(f"{task}, rated {rating}: {there} answers, {len(of_it)} agreed upon by all, {len(kept)} kept")
    if write:
        text = "".join(f"{line(answer)}\n" for answer in chosen)
        (DATA / "ratings" / CASES).write_text(text, encoding="utf-8")
    return 0


def line(answer: RatedAnswer) -> str:
    """As a rating by the first of its raters, who are of one mind."""
    rater, rating = next(iter(answer.given.items()))
    said = {
        "prompt": asdict(answer.prompt),
        "completion": answer.completion,
        "origin": answer.origin,
        "rating": rating,
        "rater": rater,
        "rater_kind": answer.raters[rater],
    }
    return json.dumps(said, ensure_ascii=False)


def is_alike(answer: RatedAnswer) -> bool:
    return len(answer.given) > 1 and len(set(answer.given.values())) == 1


def is_agreed(answer: RatedAnswer, rewards: RewardSet, databases: Path) -> bool:
    least, most = BANDS[round(answer.rating)]
    low, high = least + MARGIN * (least > 0), most - MARGIN * (most < 1)
    scores = (rewards.score(answer.prompt, answer.completion).total, truth(answer.prompt, answer.completion, databases))
    return all(score is not None and low <= score <= high for score in scores)


def drawn(answers: list[RatedAnswer], most: int) -> list[RatedAnswer]:
    mixed = random.Random(SEED).sample(answers, len(answers))
    return sorted(mixed, key=lambda answer: answer.origin == "sampled")[:most]


if __name__ == "__main__":
    raise SystemExit(main())
