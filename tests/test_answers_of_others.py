"""Good answers of writers who have seen neither rewards nor truth earn, and their bad ones do not.

Two authors, language models, who had seen the rating guide and the prompts and nothing else of the project wrote good,
middling and bad answers in styles of their own and rated them (answers_of_others.jsonl). The first author's were looked
at while fluency, figures and advice were loosened; the second's were not.
"""

import json
from pathlib import Path
from statistics import fmean

import pytest
from scipy.stats import mannwhitneyu

from benchmarks.truth_search import judge as judge_of
from tucano.project import COMMITTED_RATINGS
from tucano.rating.ratings import read_ratings
from tucano.rating.store import rating_store

ANSWERS = Path(__file__).with_name("answers_of_others.jsonl")
KEPT = 0.5
LOW = 0.3
JUDGES = ("v4.2", "grounded", "truth")
LEAST_KEPT = {
    ("first", "insights", "grounded"): 0.90, ("first", "push", "grounded"): 0.90,
    ("second", "insights", "grounded"): 0.85, ("second", "push", "grounded"): 0.80,
    ("second", "sql_qa", "grounded"): 0.95, ("first", "insights", "truth"): 0.60, ("first", "push", "truth"): 0.80,
    ("second", "insights", "truth"): 0.85, ("second", "push", "truth"): 0.85, ("second", "sql_qa", "truth"): 0.85,
}  # fmt: skip
"""Good answers from .50 on: one or two fewer than there are."""
LEAST_ORDER = {"grounded": 0.92, "truth": 0.70}

Scores = dict[tuple[str, str, str], dict[str, list[float]]]


@pytest.fixture(scope="module")
def found() -> Scores:
    """{(author, task, judge): scores of its good, middling and bad answers}"""
    answers = [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
    prompts = {answer.prompt.id: answer.prompt for answer in read_ratings(COMMITTED_RATINGS)}
    scores: Scores = {}
    with rating_store(COMMITTED_RATINGS) as databases:
        for name in JUDGES:
            judge = judge_of(name, databases)
            for answer in answers:
                of_author = scores.setdefault((answer["author"], answer["task"], name), {})
                score = judge(prompts[answer["prompt"]], answer["completion"])
                of_author.setdefault(answer["kind"], []).append(score)
    return scores


def order(scores: dict[str, list[float]]) -> float:
    """The share of pairs of a good and a bad answer that a judge orders right, ties by half."""
    good, bad = scores["good"], scores["bad"]
    return float(mannwhitneyu(good, bad).statistic) / (len(good) * len(bad))


@pytest.mark.parametrize("place", LEAST_KEPT, ids=" ".join)
def test_good_answers_earn(found: Scores, place: tuple[str, str, str]) -> None:
    assert fmean(score >= KEPT for score in found[place]["good"]) >= LEAST_KEPT[place]


@pytest.mark.parametrize("judge", LEAST_ORDER)
def test_bad_ones_do_not_and_stand_below(found: Scores, judge: str) -> None:
    mine = [scores for (*_, name), scores in found.items() if name == judge]
    assert len(mine) == 5
    assert min(map(order, mine)) >= LEAST_ORDER[judge]
    assert max(fmean(score > LOW for score in scores["bad"]) for scores in mine) <= 0.13


def test_form_and_words_alone_cannot_tell_them_apart(found: Scores) -> None:
    """What v4.2 makes of them, so that the sets are no easy ones."""
    assert min(order(found[author, task, "v4.2"]) for author, task, _ in LEAST_KEPT) <= 0.75
