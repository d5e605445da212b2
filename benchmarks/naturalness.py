"""How natural generated prompts are: the share of each template part, lengths, variety, and whether a classifier tells
generated reviews from real ones.

    python -m benchmarks.naturalness [--prompts 5000] [--real FOLDER]

`FOLDER` has the Olist tables in `olist/` and the B2W reviews in `b2w/`; without it, what needs real reviews is left
out. Real reviews are halved by a digest of their text. The tables of data/generator/natural were written and weighed
with the first half before one's eyes; the classifier is fitted on that half too, and measured on the second.
"""

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from statistics import fmean, quantiles
from tempfile import TemporaryDirectory
from typing import Any, get_args

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from data.generator.styles import WRITERS
from data.prepare import prepare
from data.separation import normal_form
from data.sources.b2w import csv_file, real_reviews
from data.sources.csv_files import TableReader
from data.sources.olist import olist_reviews
from data.sources.olist_tables import read_olist
from data.sources.reviews import shorten
from data.sources.synthetic import SyntheticSource
from rewards import load_reward_set
from tucano.masking import mask
from tucano.prompts import Prompt, read_prompts
from tucano.settings import DataSettings
from tucano.settings.data import DEFAULT_MIX, Style
from tucano.specs.banks import JOINT, Pool
from tucano.truth import truth

SEED = 7
TASKS = tuple(DEFAULT_MIX)
GRAM = 8
"""Words in a row that no real review and the generator share."""
WORKED = 300
"""Demonstrations of a task that truth and reward judge."""
DRAWN = 400
RESAMPLES = 500
POOLS: tuple[Pool, ...] = get_args(Pool)


def halves(folder: Path) -> tuple[list[str], list[str]]:
    """Texts of real reviews as prompts show them, each once: the half to develop with, the half to measure on."""
    texts = [review.text for review in olist_reviews(read_olist(folder / "olist", TableReader()))]
    texts += [review.text for review in real_reviews(csv_file(folder / "b2w"), TableReader())]
    found: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for text in texts:
        normal = normal_form(text)
        if re.search("[a-z]", normal):
            half = hashlib.sha256(normal.encode()).digest()[0] % 2
            found[half].setdefault(normal, shorten(mask(" ".join(text.split()))[0]))
    return list(found[0].values()), list(found[1].values())


def generated_reviews(style: Style, count: int, pool: Pool = "known") -> list[str]:
    rng = Random(f"{SEED}/{style}/{pool}")
    return [WRITERS[style].review(pool, rng).text for _ in range(count)]


def auc(style: Style, fitted: Sequence[str], measured: Sequence[str]) -> dict[str, float]:
    """The area under the curve of a classifier over character 1- to 5-grams, case kept, with a 95 % interval.

    1: real and generated reviews are told apart, .5: they are not. As many generated ones as real ones.
    """
    made = generated_reviews(style, len(fitted) + len(measured))
    grams = TfidfVectorizer(analyzer="char", ngram_range=(1, 5), lowercase=False, sublinear_tf=True, min_df=2)
    known = grams.fit_transform([*fitted, *made[: len(fitted)]])
    classifier = LogisticRegression(C=5, max_iter=500).fit(known, [1] * len(fitted) + [0] * len(fitted))
    scores = classifier.decision_function(grams.transform([*measured, *made[len(fitted) :]]))
    real = np.array([1] * len(measured) + [0] * len(measured))
    rng = np.random.default_rng(SEED)
    draws = (rng.integers(0, len(real), len(real)) for _ in range(RESAMPLES))
    low, high = np.quantile([roc_auc_score(real[drawn], scores[drawn]) for drawn in draws], (0.025, 0.975))
    return {"auc": float(roc_auc_score(real, scores)), "low": float(low), "high": float(high)}


def grams_of(text: str, size: int) -> set[str]:
    words = normal_form(text).split()
    return {" ".join(words[place : place + size]) for place in range(len(words) - size + 1)}


def shared_grams(texts: Iterable[str], real: Iterable[str]) -> set[str]:
    """Rows of `GRAM` words that stand both in some of the texts and in some real review."""
    known = set().union(*(grams_of(text, GRAM) for text in real))
    return known & set().union(*(grams_of(text, GRAM) for text in texts))


def variety(texts: Sequence[str]) -> dict[str, Any]:
    """Characters of a text (mean, tenths, median), different word n-grams among all, the most frequent word's share."""
    words = [normal_form(text).split() for text in texts]
    lengths = [len(text) for text in texts]
    tenths = quantiles(lengths, n=10)
    counts = Counter(word for text in words for word in text)
    found: dict[str, Any] = {"characters": fmean(lengths), "p10": tenths[0], "median": tenths[4], "p90": tenths[8]}
    for size in (1, 2, 3):
        rows = [tuple(text[place : place + size]) for text in words for place in range(len(text) - size + 1)]
        found[f"distinct-{size}"] = len(set(rows)) / len(rows)
    found["words"] = len(counts)
    found["shares of words"] = {word: count / counts.total() for word, count in counts.most_common(10)}
    fives = Counter(gram for text in texts for gram in grams_of(text, 5))
    gram, times = fives.most_common(1)[0]
    found["most frequent five words"] = {gram: times / len(texts)}
    return found


def parts(prompts: Sequence[Prompt]) -> dict[str, Any]:
    """Template parts, the largest share of one among the prompts, and the same for rows of a table, whose choices are
    open; how many different compositions."""
    part_counts = Counter(part for prompt in prompts for part in set(prompt.template.split(JOINT)))
    rows = Counter(row for prompt in prompts for row in {part.split("-")[0] for part in prompt.template.split(JOINT)})
    (part, times), (row, of_row) = part_counts.most_common(1)[0], rows.most_common(1)[0]
    return {
        "prompts": len(prompts),
        "parts": len(part_counts),
        "largest part": {part: times / len(prompts)},
        "largest row": {row: of_row / len(prompts)},
        "compositions": len({prompt.template for prompt in prompts}),
    }


def worth(prompts: Sequence[Prompt], folder: Path) -> dict[str, float]:
    """Mean truth and mean reward of worked answers without defects."""
    rewards = load_reward_set("grounded", folder)
    return {
        "truth": fmean(truth(prompt, prompt.demonstration or "", folder) or 0 for prompt in prompts),
        "grounded": fmean(rewards.score(prompt, prompt.demonstration or "").total for prompt in prompts),
    }


def measured(style: Style, prompts: int, folder: Path) -> dict[str, Any]:
    """All that needs no real review."""
    settings = DataSettings(style=style, train_prompts=prompts, demonstrations=4 * WORKED, defect_share=0)
    prepare(settings, SEED, TASKS, folder)
    train, worked = (read_prompts(folder / name) for name in ("train.jsonl", "demonstrations.jsonl"))
    found = {}
    for task in TASKS:
        own = [prompt for prompt in train if prompt.task == task]
        answers = [prompt for prompt in worked if prompt.task == task][:WORKED]
        found[task] = parts(own) | variety([prompt.user for prompt in own]) | worth(answers, folder)
    return found


def compositions(style: Style, folder: Path) -> dict[str, dict[str, int]]:
    """Different compositions among `DRAWN` prompts, per task and split."""
    with closing(SyntheticSource(folder, SEED, style)) as source:
        return {
            task: {
                pool: len({prompt.template for prompt in islice(source.prompts(task, pool, Random(SEED)), DRAWN)})
                for pool in POOLS
            }
            for task in TASKS
        }


def report(prompts: int, real: Path | None) -> dict[str, Any]:
    """Both styles; the classifier and the shared rows of words only where real reviews are."""
    found: dict[str, Any] = {}
    for style in get_args(Style):
        with TemporaryDirectory() as scratch:
            folder = Path(scratch)
            found[style] = {"tasks": measured(style, prompts, folder), "compositions": compositions(style, folder)}
    if real is None or not real.is_dir():
        print("without real reviews (--real): neither classifier nor shared rows of words", file=sys.stderr)
        return found
    first, second = halves(real)
    found["real"] = {"first half": len(first), "second half": len(second)} | variety([*first, *second])
    for style in get_args(Style):
        made = generated_reviews(style, len(second))
        found[style] |= {
            "classifier": auc(style, first, second),
            "reviews": variety(made),
            f"rows of {GRAM} words of real reviews": sorted(shared_grams(made, [*first, *second])),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=5000)
    parser.add_argument("--real", type=Path)
    arguments = parser.parse_args()
    print(json.dumps(report(arguments.prompts, arguments.real), ensure_ascii=False, indent=2))


if __name__ == "__main__":
    main()
