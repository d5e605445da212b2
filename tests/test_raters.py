"""Agreement of raters by published examples, and few ratings of people with the help of models' by simulation."""

from pathlib import Path

import numpy as np
import pytest
from test_audit import SETTINGS, few_rows, lines, write_set

from benchmarks.people_coverage import rate
from tucano.audit.gate import audit
from tucano.audit.table import render_details
from tucano.statistics.inference import Floats
from tucano.statistics.raters import krippendorff_alpha, prediction_powered

__all__ = ["few_rows"]
KRIPPENDORFF = [
    [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2],
    [5, 5, 5], [1, 1], [3],
]  # fmt: skip
"""Four observers, twelve units, missing data (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, part C)."""


def test_alpha_of_the_published_example() -> None:
    assert krippendorff_alpha(KRIPPENDORFF) == pytest.approx(0.849, abs=5e-4)


def test_alpha_by_hand() -> None:
    # two answers, rated 1 2 and 4 4. Observed: (1 + 1 + 0 + 0) / 4. Expected over all 12 ordered pairs of 1 2 4 4:
    # 2 (1 + 9 + 9 + 4 + 4 + 0) / 12
    assert krippendorff_alpha([[1, 2], [4, 4], [5]]) == pytest.approx(1 - 0.5 / 4.5)
    assert krippendorff_alpha([[3, 3], [3, 3]]) is None
    assert krippendorff_alpha([[1], [5]]) is None


def resampled(values: Floats, rng: np.random.Generator) -> tuple[float, Floats]:
    draws = rng.integers(values.size, size=(400, values.size))
    return float(values.mean()), values[draws].mean(axis=1)


def intervals(noise: float, bias: float) -> tuple[float, float, float]:
    """(coverage of the 90 % interval of a mean, its width, that of people alone); people rated 20 prompts of 220."""
    rng = np.random.default_rng(20261122)
    held, widths, alone = [], [], []
    for _ in range(400):
        people = rng.normal(0.7, 0.3, 220)
        models = people + bias + rng.normal(0, noise, 220)
        seed = int(rng.integers(2**32))
        human = resampled(people[:20], np.random.default_rng(seed))
        here = resampled(models[:20], np.random.default_rng(seed))
        there = resampled(models[20:], rng)
        _, powered = prediction_powered(human, here, there, 20)
        low, high = np.quantile(powered, [0.05, 0.95])
        held.append(low <= 0.7 <= high)
        widths.append(high - low)
        alone.append(np.subtract(*np.quantile(human[1], [0.95, 0.05])))
    return float(np.mean(held)), float(np.mean(widths)), float(np.mean(alone))


@pytest.mark.parametrize("bias", [0.0, 0.4], ids=["fair models", "models that are too kind"])
def test_models_that_go_along_with_people_make_the_interval_narrower_and_no_bias_enters(bias: float) -> None:
    coverage, width, alone = intervals(noise=0.1, bias=bias)
    assert coverage >= 0.85, "of 20 prompts a percentile bootstrap covers a little less than it says"
    assert width < 0.6 * alone


def test_few_prompts_hold_the_agreement_with_people_as_often_as_they_say() -> None:
    found = rate(12, others=30, noise=0.5, repetitions=120)
    assert min(found.covers) >= 0.85, "the quantiles of the bootstrap: .77 within 12 prompts"
    assert max(found.above) <= 0.1


def rated(people: int, models: int) -> list[dict[str, object]]:
    """The tiny set's pushes, of which people rated the first prompts and models the last."""
    records = lines(tasks=("push",))
    by_prompt = [records[start : start + 5] for start in range(0, len(records), 5)]
    human = [record for answers in by_prompt[:people] for record in answers]
    judged = [
        record | {"rater": "juiz", "rater_kind": "model"} for answers in by_prompt[-models:] for record in answers
    ]
    return human + judged


def test_a_result_is_provisional_until_people_rated_enough_prompts(tmp_path: Path) -> None:
    few = audit("grounded", write_set(tmp_path / "few", rated(people=4, models=5)), SETTINGS, ("push",), seed=7)
    enough = audit("grounded", write_set(tmp_path / "all", rated(people=5, models=5)), SETTINGS, ("push",), seed=7)
    assert (few.provisional, few.people) == (True, ())
    (row,) = enough.people
    assert not enough.provisional
    assert (row.prompts, row.helped) == (5, 0)
    assert "Agreement with people's ratings" in render_details(enough)


def test_people_who_disagree_with_the_rewards_leave_the_result_provisional(tmp_path: Path) -> None:
    people = [record | {"rating": 6 - record["rating"]} for record in lines(tasks=("push",))]
    models = [record | {"rater": "juiz", "rater_kind": "model"} for record in lines(tasks=("push",))]
    report = audit("grounded", write_set(tmp_path, people + models), SETTINGS, ("push",), seed=7)
    assert report.provisional
    assert report.people[0].pooled.high < 0


def test_three_raters_share_one_alpha(tmp_path: Path) -> None:
    records = lines(tasks=("push",))
    others = [record | {"rater": name} for name in ("bia", "caio") for record in records]
    report = audit("grounded", write_set(tmp_path, records + others), SETTINGS, ("push",), seed=7)
    (row,) = report.consensus
    assert (row.raters, row.completions, row.alpha) == (3, 25, 1.0)
    assert len(report.raters_agree) == 3
    assert "Krippendorff" in render_details(report)
