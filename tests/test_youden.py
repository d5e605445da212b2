"""Youden's J: by hand, by crosstab and by resamples written out; its interval and what its sign decides by simulation."""

from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from test_audit import failed, flat, rating_set, with_broken

from benchmarks.people_coverage import rated_group
from benchmarks.youden_coverage import rates
from tasks.audit import _metrics
from tucano.audit.bench import Group
from tucano.audit.report import AuditReport, Estimate, Youden
from tucano.audit.resampling import draw_prompts
from tucano.audit.stage import render_page
from tucano.audit.table import render_details
from tucano.audit.youden import MADE_UP, _resampled, teaching_check, youden
from tucano.statistics.inference import Floats

assert rating_set, "a fixture"
BY_HAND = [([0.9, 0.2], [5, 1]), ([0.7, 0.4], [4, 2]), ([0.5, 0.6], [5, 3]), ([0.1, 0.0], [4, 3])]
"""Rewards and ratings of two answers to each of four prompts: good ones earn .9 .7 .5 .1, others .6 .4 .2 .0."""


def groups_of(pairs: Sequence[tuple[Sequence[float], Sequence[int]]]) -> list[Group]:
    return [rated_group(str(place), np.array(a), np.array(b), None) for place, (a, b) in enumerate(pairs)]


def judged(pairs: Sequence[tuple[Sequence[float], Sequence[int]]]) -> list[Youden]:
    return youden("push", groups_of(pairs), 500, [7])


def test_eight_answers_by_hand() -> None:
    rows = judged(BY_HAND)
    assert [(row.where, row.tpr, row.fpr) for row in rows] == [
        ("all", pytest.approx(2.2 / 4), pytest.approx(1.2 / 4)),
        ("0.30", 3 / 4, 2 / 4),
        ("0.50", 3 / 4, 1 / 4),
        ("0.65", 2 / 4, 0),
        ("0.80", 1 / 4, 0),
        ("best, 0.41", 3 / 4, 1 / 4),
    ]
    assert [row.j.value for row in rows[:5]] == pytest.approx([0.25, 0.25, 0.5, 0.5, 0.25])
    assert 0 < rows[5].j.value < 0.5, "less what the choice among a hundred thresholds gained"
    assert all(row.j.low <= row.j.value <= row.j.high and (row.good, row.others) == (4, 4) for row in rows)


def test_a_resample_is_that_of_the_answers_written_out_with_those_made_up() -> None:
    rng = np.random.default_rng(5)
    sizes, good = [2, 3, 2], np.array([1, 0, 1, 0, 0, 1, 0], dtype=bool)
    earned = rng.random((7, 3))
    places = np.split(np.arange(7), np.cumsum(sizes)[:-1])
    expected = []
    for row in [np.ones(4), *draw_prompts(4, 20, np.random.default_rng([8]))]:
        answers = [place for prompt, times in enumerate(row[:3]) for place in list(places[prompt]) * int(times)]
        half = MADE_UP * row[3]  # of an answer that earns nothing, and of one that earns all
        sides = [[earned[place] for place in answers if good[place] == side] for side in (True, False)]
        if all(len(side) + half for side in sides):
            rates_of = [(np.sum(side, axis=0) + half) / (len(side) + 2 * half) for side in sides]
            expected.append(rates_of[0] - rates_of[1])
    assert _resampled(earned, good, sizes, 20, [8]) == pytest.approx(np.array(expected))


def test_few_answers_that_are_all_accepted_do_not_make_sure_of_the_next() -> None:
    at_half = judged([([0.9, 0.1], [5, 1])] * 4)[2]
    assert (at_half.tpr, at_half.fpr, at_half.j.value, at_half.j.high) == (1, 0, 1, 1)
    assert at_half.j.low < 0.5, "four of four: the bound of Clopper and Pearson is .05 ** (1 / 4) = .47"


def test_what_cannot_be_told_warns() -> None:
    two = teaching_check("push", judged(BY_HAND[:2]))
    even = teaching_check("push", judged([([0.5, 0.5], [5, 1])] * 6))
    assert [(check.level, check.passed) for check in (two, even)] == [("warn", False)] * 2
    assert "fewer than 3 prompts" in two.message and "whether the reward teaches cannot be told" in even.message
    assert teaching_check("push", youden("push", [], 500, [7])).value is None


@pytest.fixture(scope="module")
def upside_down(rating_set: Path) -> AuditReport:
    return with_broken(rating_set, lambda score, *_: flat(score, 1 - score.total))


def test_the_gate_closes_where_good_answers_earn_less(upside_down: AuditReport, rating_set: Path) -> None:
    assert "teaches" in failed(upside_down)
    said = [check.message for check in upside_down.failed_checks if check.name == "teaches"]
    assert len(said) == 4 and all("it would unlearn, answers rated 4 or more earn -0." in line for line in said)
    sound = with_broken(rating_set, lambda score, *_: score)
    assert {check.passed for check in sound.checks if check.name == "teaches"} == {True}
    assert {row.judgement for row in sound.youden if row.at == "all"} == {"the reward teaches"}


def test_text_page_and_metrics_show_it(upside_down: AuditReport) -> None:
    details, page = render_details(upside_down), unescape(render_page(upside_down))
    assert "| it would unlearn |" in details and "<h2>Does the reward teach?</h2>" in page
    assert page.count('<td class="marked">it would unlearn</td>') == 4
    row = Youden("push", "all", None, 4, 9, 0.2, 0.7, Estimate(-0.5, -0.60006, -0.4))
    at_half = Youden("push", "fixed", 0.5, 4, 9, 0.2, 0.7, Estimate(-0.5, -0.6, -0.4))
    metrics = _metrics((row, at_half))
    assert metrics == {"youden/push/value": -0.5, "youden/push/low": -0.6001, "youden/push/high": -0.4}


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    found = rates((24, 5, -0.5), gain=1.0, repetitions=80)
    assert min(found["all"], found["fixed"], found["best"]) >= 0.82 and found["closes"] == 0
    nothing, reversed_ = (rates((12, 4, 0.0), gain, 40)["closes"] for gain in (0.0, -1.0))
    assert nothing <= 0.12 and reversed_ >= 0.7


# What the sign decides


def good_after(earn: Callable[[Floats, np.random.Generator], Floats], spread: bool, steps: int = 300) -> Floats:
    """The probability of a good answer after GRPO on one prompt with six answers, of which three are good, by seed.

    `earn` gives the rewards of drawn answers, of which it hears whether they are good; `spread`: advantages are divided
    by the spread of their group.
    """
    rng = np.random.default_rng(11)
    good = np.array([1.0, 1, 1, 0, 0, 0])
    logits = np.zeros((100, 6))
    for _ in range(steps):
        chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        answers = (logits[:, None] + rng.gumbel(size=(100, 8, 6))).argmax(axis=2)
        rewards = earn(good[answers], rng)
        advantages = rewards - rewards.mean(axis=1, keepdims=True)
        advantages /= rewards.std(axis=1, keepdims=True) + 1e-4 if spread else 1
        logits += 0.5 * (advantages[:, :, None] * (np.eye(6)[answers] - chances[:, None])).mean(axis=1)
    return np.asarray((np.exp(logits) * good).sum(axis=1) / np.exp(logits).sum(axis=1))


def noisy(tpr: float, fpr: float) -> Callable[[Floats, np.random.Generator], Floats]:
    return lambda good, rng: (rng.random(good.shape) < np.where(good > 0, tpr, fpr)).astype(float)


@pytest.mark.parametrize("spread", [True, False])
def test_a_bandit_learns_where_j_is_above_0_unlearns_below_and_drifts_at_0(spread: bool) -> None:
    assert good_after(noisy(0.8, 0.5), spread).mean() > 0.95
    assert good_after(noisy(0.5, 0.8), spread).mean() < 0.05
    drifted = good_after(noisy(0.5, 0.5), spread)
    assert abs(drifted.mean() - 0.5) < 4 * drifted.std() / 10 and drifted.std() > 0.1


@pytest.mark.parametrize(("share", "least", "most"), [(0.3, 0.95, 1.0), (0.9, 0.0, 0.1)])
def test_of_a_graded_reward_the_mean_over_thresholds_decides(share: float, least: float, most: float) -> None:
    """Good answers earn .6, and a share of the bad ones .9. At .80 J is below 0 both times; over all thresholds it is .6
    less .27, and less .81.
    """
    paid = noisy(share, share)
    found = good_after(lambda good, rng: np.where(good > 0, 0.6, 0.9 * paid(good, rng)), spread=False).mean()
    assert least <= found <= most
