"""Reward and truth on two rating sets that nothing was learned from (data/held_out.jsonl.xz), as they were shown once."""

from statistics import fmean

import pytest
from scipy.stats import spearmanr

from rewards import load_reward_set
from rewards.names import REPORTED
from tucano.project import COMMITTED_RATINGS
from tucano.rating.ratings import RatedAnswer
from tucano.rating.store import rating_store
from tucano.rating.table import read_held_out
from tucano.truth import truth

Scores = dict[str, list[tuple[float, float]]]


@pytest.fixture(scope="module", params=["reward", "truth"])
def scored(request: pytest.FixtureRequest) -> tuple[str, Scores]:
    """{task: (rating, score) of each answer}"""
    with rating_store(COMMITTED_RATINGS) as stores:
        grounded = load_reward_set("grounded", stores)

        def score(one: RatedAnswer) -> float:
            if request.param == "reward":
                return grounded.score(one.prompt, one.completion).total
            return truth(one.prompt, one.completion, stores) or 0.0

        found: Scores = {task: [] for task in REPORTED}
        for answers in read_held_out().values():
            for one in answers:
                found[one.prompt.task].append((one.rating, score(one)))
    return request.param, found


@pytest.mark.parametrize("task", REPORTED)
def test_good_answers_earn_and_bad_ones_do_not(scored: tuple[str, Scores], task: str) -> None:
    judge, found = scored
    good = [score for rating, score in found[task] if rating >= 4.75]
    bad = [score > 0.3 for rating, score in found[task] if rating <= 2]
    assert fmean(good) >= 0.8
    most = {"truth": {"insights": 0.115, "push": 0.22}}.get(judge, {}).get(task, 0.04)
    assert fmean(bad) <= most


@pytest.mark.parametrize("task", REPORTED)
def test_scores_order_answers_as_raters_do(scored: tuple[str, Scores], task: str) -> None:
    ratings, scores = zip(*scored[1][task], strict=True)
    assert spearmanr(ratings, scores).statistic >= 0.76
