"""The task `churn`: what its reward pays, what its truth counts, what its scorer measures, by hand."""

from pathlib import Path
from random import Random

import pytest
from rewards_examples import PROMPTS

from data.sources.synthetic import SyntheticSource
from rewards import classify_task, load_reward_set
from tucano.benchmark.scores import metrics, read_case
from tucano.prompts import Prompt
from tucano.specs.banks import Pool
from tucano.specs.churn import LEVELS, PROBABILITIES
from tucano.specs.registry import spec_of
from tucano.truth import truth

REWARDS = load_reward_set("grounded")
PROMPT = PROMPTS["churn"]  # high, .75
POOLS: tuple[Pool, ...] = ("known", "validation", "test")


@pytest.mark.parametrize(
    ("answer", "expected", "true"),
    [
        ('{"churn_risk": "high", "probability": 0.75}', 1.0, 1.0),
        ('{"churn_risk": "high", "probability": 0,75}', 1.0, 1.0),  # a number as people write it
        (
            '{"churn_risk": "high", "probability": 0.95}',
            1.0 - 0.15,
            0.6 + 0.4 * 2 / 3,
        ),  # .2 off: half of .30, and a third of .4
        ('{"churn_risk": "high", "probability": 0.25}', 0.15 + 0.25 + 0.30 - 0.10, 0.6),  # and it contradicts the risk
        (
            '{"churn_risk": "medium", "probability": 0.65}',  # .6 for the wrong risk; the form by its better half, .75
            0.6 * (0.40 * (0.3 + 0.7 * 0.75) + 0.10 + 0.225),
            0.2,
        ),
        ('{"churn_risk": "low", "probability": 0.05}', 0.6 * 0.40 * 0.3, 0.0),
        ('{"churn_risk": "high"}', 0.15 + 0.125 + 0.30, 0.6),
        ('{"churn_risk": "high", "probability": 75}', 0.15 + 0.125 + 0.30, 0.6),
        ('{"churn_risk": "alto", "probability": true}', 0.0, 0.0),
        ("high, 75%", 0.0, 0.0),
    ],
)
def test_reward_and_truth(answer: str, expected: float, true: float) -> None:
    assert REWARDS.score(PROMPT, answer).total == pytest.approx(expected)
    assert truth(PROMPT, answer) == pytest.approx(true)


def test_metrics_by_hand(tmp_path: Path) -> None:
    said = [
        ("high", True, '{"churn_risk": "high", "probability": 0.75}'),
        ("high", False, '{"churn_risk": "medium", "probability": 0.5}'),
        ("low", False, "não sei"),
    ]
    cases = []
    for risk, left, answer in said:
        asked = Prompt(
            "p", "churn", "u", "t", "s", "CC0", None, {"fields": {"churn_risk": risk, "probability": 0.5}, "left": left}
        )
        cases.append(read_case(asked, answer, [], tmp_path))
    assert metrics(cases) == {
        "churn.balanced_accuracy": 0.25,  # half of the high ones, none of the low ones
        "churn.brier": pytest.approx((0.0625 + 0.25 + 1) / 3),
    }


def test_records_have_the_truth_that_their_signs_say(tmp_path: Path) -> None:
    source, spec, rng = SyntheticSource(tmp_path, 1), spec_of("churn"), Random(5)
    left = {level: [0, 0] for level in set(LEVELS)}
    for pool in POOLS * 400:
        drawn = spec.draw(source, pool, rng)
        fields = drawn.reference["fields"]
        assert LEVELS[PROBABILITIES.index(fields["probability"])] == fields["churn_risk"]
        assert classify_task(drawn.user) == "churn"
        left[fields["churn_risk"]][drawn.reference["left"]] += 1
    shares = {level: gone / (stayed + gone) for level, (stayed, gone) in left.items()}
    assert shares["low"] < 0.3 < shares["medium"] < 0.7 < shares["high"]
