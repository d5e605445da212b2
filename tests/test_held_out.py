"""Reward and truth on two rating sets that nothing was learned from (data/held_out.jsonl.xz), as they were shown once."""

import re
from pathlib import Path
from statistics import fmean

import pytest
from scipy.stats import spearmanr

from benchmarks.truth_search import judge
from rewards.names import REPORTED
from tucano.project import COMMITTED_RATINGS
from tucano.rating.store import rating_store
from tucano.rating.table import HELD_OUT, read_sets

PAGE = Path(__file__).parents[1] / "docs" / "audit.md"

JUDGES = {"reward": "grounded", "truth": "truth"}

Scores = dict[str, list[tuple[float, float]]]


@pytest.fixture(scope="module", params=JUDGES)
def scored(request: pytest.FixtureRequest) -> tuple[str, Scores]:
    """{task: (rating, score) of each answer}"""
    found: Scores = {task: [] for task in REPORTED}
    with rating_store(COMMITTED_RATINGS) as stores:
        score = judge(JUDGES[request.param], stores)
        for answers in read_sets(HELD_OUT).values():
            for one in answers:
                found[one.prompt.task].append((one.rating, score(one.prompt, one.completion)))
    return request.param, found


@pytest.mark.parametrize("task", REPORTED)
def test_good_answers_earn_and_bad_ones_do_not(scored: tuple[str, Scores], task: str) -> None:
    name, found = scored
    good = [score for rating, score in found[task] if rating >= 4.75]
    bad = [score > 0.3 for rating, score in found[task] if rating <= 2]
    assert fmean(good) >= (0.69 if (name, task) == ("truth", "insights") else 0.8)
    allowed = {
        "reward": {"extraction": 0.12, "insights": 0.06},
        "truth": {"extraction": 0.12, "insights": 0.12, "push": 0.19},
    }
    most = allowed[name].get(task, 0.04)
    assert fmean(bad) <= most


@pytest.mark.parametrize("task", REPORTED)
def test_scores_order_answers_as_raters_do(scored: tuple[str, Scores], task: str) -> None:
    ratings, scores = zip(*scored[1][task], strict=True)
    assert spearmanr(ratings, scores).statistic >= (0.73 if task == "extraction" else 0.81)


def printed(what: str) -> list[tuple[str, str]]:
    """(reward, truth) of each task in a row of the page's table."""
    (row,) = re.findall(rf"^\| {what}: reward / truth \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [tuple(cell.split(" of ")[0].strip().split(" / ")) for cell in row.split("|")]


def test_the_page_says_what_these_sets_say_today(scored: tuple[str, Scores]) -> None:
    name, found = scored
    mine = list(JUDGES).index(name)
    pairs = [([rating for rating, _ in found[task]], [score for _, score in found[task]]) for task in REPORTED]
    rhos = [f"{spearmanr(ratings, scores).statistic:.2f}".removeprefix("0") for ratings, scores in pairs]
    good = [f"{fmean(s for r, s in found[task] if r >= 4.75):.2f}" for task in REPORTED]
    passed = [str(sum(s > 0.3 for r, s in found[task] if r <= 2)) for task in REPORTED]
    assert [cell[mine] for cell in printed("rho")] == rhos
    assert [cell[mine] for cell in printed("mean of answers rated 5")] == [one.removeprefix("0") for one in good]
    assert [cell[mine] for cell in printed(r"rated 1 or 2 and above \.30")] == passed
