"""Rewards and truth on prompts of five shops that nothing was learned from (data/held_out_tones.jsonl.xz)."""

import re
from pathlib import Path
from random import Random
from statistics import fmean

import pytest
from scipy.stats import spearmanr
from test_held_out import JUDGES

from benchmarks.truth_search import judge
from tucano.judging.fit import Trust
from tucano.project import COMMITTED_RATINGS
from tucano.rating.store import rating_store
from tucano.rating.table import HELD_OUT_TONES, read_tones
from tucano.truth import truth
from tucano.truth.judge import committed

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "truth.md"
IN_README = {
    "reward": "raters by {} in extraction, {} in insights and {} in push",
    "truth": "The truth agrees by {}, {} and {}",
}
"""How README says the mean rho of the tasks."""
TASKS = ("extraction", "insights", "push")
PROMISED = {"reward": (0.69, 0.53), "truth": (0.7, 0.7)}
"""Of each task of each tone: rho with the raters, and the mean of answers rated 5."""

Scores = dict[tuple[str, str], list[tuple[float, float]]]


@pytest.fixture(scope="module", params=JUDGES)
def judged(request: pytest.FixtureRequest) -> tuple[str, Scores]:
    """{(task, tone): (rating, score) of each answer}"""
    found: Scores = {}
    with rating_store(COMMITTED_RATINGS) as stores:
        score = judge(JUDGES[request.param], stores)
        for tone, answers in read_tones(HELD_OUT_TONES).items():
            for one in answers:
                found.setdefault((one.prompt.task, tone), []).append((one.rating, score(one.prompt, one.completion)))
    return request.param, found


def rho(pairs: list[tuple[float, float]]) -> float:
    ratings, scores = zip(*pairs, strict=True)
    return float(spearmanr(ratings, scores).statistic)


def good(pairs: list[tuple[float, float]]) -> float:
    return fmean(score for rating, score in pairs if rating >= 4.75)


def poor(pairs: list[tuple[float, float]]) -> float:
    return fmean(score for rating, score in pairs if rating <= 2)


def test_five_tones_have_sixty_answers_of_each_task_and_nobody_learned_from_them() -> None:
    tones = read_tones(HELD_OUT_TONES)
    assert len(tones) == 5 and not {*tones} & {*read_tones()}
    for answers in tones.values():
        assert [sum(one.prompt.task == task for one in answers) for task in TASKS] == [60, 60, 60]
        assert all(len(one.given) == 2 for one in answers)


def test_every_task_of_every_tone_is_ordered_as_far_as_is_promised(judged: tuple[str, Scores]) -> None:
    name, found = judged
    lowest_rho, lowest_good = PROMISED[name]
    assert min(map(rho, found.values())) >= lowest_rho
    assert min(map(good, found.values())) >= lowest_good
    assert max(map(poor, found.values())) <= 0.25


@pytest.mark.parametrize(("task", "most"), [("push", 0.15), ("insights", 0.02)])
def test_good_words_in_any_order_are_worth_nothing_to_the_truth(task: str, most: float) -> None:
    rng = Random(5)
    good = [
        one
        for answers in read_tones(HELD_OUT_TONES).values()
        for one in answers
        if one.prompt.task == task and one.rating == 5
    ]
    shuffled = [truth(one.prompt, " ".join(rng.sample(words := one.completion.split(), len(words)))) for one in good]
    assert sum((worth or 0.0) > 0.3 for worth in shuffled) <= most * len(good)
    assert sum((truth(one.prompt, one.completion) or 0.0) > 0.3 for one in good) >= 0.9 * len(good)


def test_the_page_says_what_they_say(judged: tuple[str, Scores]) -> None:
    name, found = judged
    said = {}
    for task in TASKS:
        tones = [pairs for (of, _), pairs in found.items() if of == task]
        cells = [fmean(map(rho, tones)), min(map(rho, tones)), fmean(map(good, tones)), fmean(map(poor, tones))]
        said[task] = [f"{value:.2f}".removeprefix("0") for value in cells]
    rows = re.findall(rf"^\| {name} \| (\w+) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {task: cells.split(" | ") for task, cells in rows} == said
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert IN_README[name].format(*(cells[0] for cells in said.values())) in readme


def test_the_page_says_how_far_the_judge_travels_by_its_own_file() -> None:
    trust = {task: [Trust(*row) for row in committed()[task].lineage.trust] for task in TASKS}
    expected = {
        "truth, mean over the tones": [fmean(one.rho for one in rows) for rows in trust.values()],
        "truth, worst tone": [min(one.rho for one in rows) for rows in trust.values()],
        "mean value of answers rated 5": [fmean(one.good for one in rows) for rows in trust.values()],
        "mean value of answers rated 1 or 2": [fmean(one.poor for one in rows) for rows in trust.values()],
    }
    page = PAGE.read_text(encoding="utf-8")
    for what, values in expected.items():
        assert f"| {what} | {' | '.join(f'{value:.2f}'.removeprefix('0') for value in values)} |" in page
