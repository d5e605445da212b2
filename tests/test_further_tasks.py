"""The tasks `sentiment` and `churn`: what their rewards pay, what their truth counts, what their scorers measure, by
hand.
"""

import json
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from rewards_examples import PROMPTS

from data.sources.synthetic import SyntheticSource
from rewards import classify_task, load_reward_set
from tucano.benchmark.benchmark import metrics
from tucano.errors import UserError
from tucano.profiles import validated
from tucano.prompts import Prompt
from tucano.specs.banks import Pool
from tucano.specs.churn import LEVELS, PROBABILITIES
from tucano.specs.registry import spec_of
from tucano.truth import truth

POOLS: tuple[Pool, ...] = get_args(Pool)


@pytest.mark.parametrize(
    ("task", "answer", "expected", "true"),
    [  # high, .75
        ("churn", '{"churn_risk": "high", "probability": 0.75}', 1.0, 1.0),
        ("churn", '{"churn_risk": "high", "probability": 0,75}', 1.0, 1.0),  # a number as people write it
        # .2 off: half of .30, and a third of .4
        ("churn", '{"churn_risk": "high", "probability": 0.95}', 1.0 - 0.15, 0.6 + 0.4 * 2 / 3),
        # and it contradicts the risk
        ("churn", '{"churn_risk": "high", "probability": 0.25}', 0.15 + 0.25 + 0.30 - 0.10, 0.6),
        # .6 for the wrong risk; the form by its better half, .75
        (
            "churn",
            '{"churn_risk": "medium", "probability": 0.65}',
            0.6 * (0.40 * (0.3 + 0.7 * 0.75) + 0.10 + 0.225),
            0.2,
        ),
        ("churn", '{"churn_risk": "low", "probability": 0.05}', 0.6 * 0.40 * 0.3, 0.0),
        ("churn", '{"churn_risk": "high"}', 0.15 + 0.125 + 0.30, 0.6),
        ("churn", '{"churn_risk": "high", "probability": 75}', 0.15 + 0.125 + 0.30, 0.6),
        ("churn", '{"churn_risk": "alto", "probability": true}', 0.0, 0.0),
        ("churn", "high, 75%", 0.0, 0.0),
        # positive, 4
        ("sentiment", '{"sentiment": "positive", "sentiment_score": 4}', 1.0, 1.0),
        ("sentiment", '{"sentiment": "positive", "sentiment_score": 5}', 1.0 - 0.15, 0.85),  # one off: half of .30
        ("sentiment", '{"sentiment": "positive"}', 0.15 + 0.125 + 0.30, 0.7),
        ("sentiment", '{"sentiment": "positive", "sentiment_score": "4"}', 0.15 + 0.125 + 0.30, 0.7),
        # 2 stars contradict it
        ("sentiment", '{"sentiment": "positive", "sentiment_score": 2}', 0.15 + 0.25 + 0.30 - 0.10, 0.2),
        ("sentiment", '{"sentiment": "negative", "sentiment_score": 1}', 0.6 * 0.40 * 0.3, 0.0),
        ("sentiment", '{"sentiment": "positivo", "sentiment_score": true}', 0.0, 0.0),
        ("sentiment", "positive, 4", 0.0, 0.0),
    ],
)
def test_reward_and_truth(task: str, answer: str, expected: float, true: float) -> None:
    assert load_reward_set("grounded").score(PROMPTS[task], answer).total == pytest.approx(expected)
    assert truth(PROMPTS[task], answer) == pytest.approx(true)


def risk(level: str, left: bool) -> dict[str, Any]:
    return {"fields": {"churn_risk": level, "probability": 0.5}, "left": left}


@pytest.mark.parametrize(
    ("task", "said", "expected"),
    [
        (
            "churn",
            [
                (risk("high", True), '{"churn_risk": "high", "probability": 0.75}'),
                (risk("high", False), '{"churn_risk": "medium", "probability": 0.5}'),
                (risk("low", False), "não sei"),
            ],
            # half of the high ones, none of the low ones
            {"churn.balanced_accuracy": 0.25, "churn.brier": pytest.approx((0.0625 + 0.25 + 1) / 3)},
        ),
        (
            "sentiment",
            [
                (
                    {"fields": {"sentiment": "positive", "sentiment_score": 5}},
                    '{"sentiment": "positive", "sentiment_score": 4}',
                ),
                ({"fields": {"sentiment": "negative", "sentiment_score": 2}}, "não sei"),
            ],
            {
                "sentiment.valid_json": 0.5,
                "sentiment.accuracy": 0.5,
                "sentiment.macro_f1": 0.5,  # 1 for positive, 0 for negative
                "sentiment.stars_off": 2.0,  # 1, and as far off as possible: 3
            },
        ),
    ],
)
def test_metrics(task: str, said: list[tuple[dict[str, Any], str]], expected: dict[str, float], tmp_path: Path) -> None:
    asked = [(Prompt("p", task, "u", "t", "s", "CC0", None, reference), answer) for reference, answer in said]
    assert metrics([spec_of(task).scorer.read(prompt, answer, [], tmp_path) for prompt, answer in asked]) == expected


def test_records_have_the_truth_that_their_signs_say(tmp_path: Path) -> None:
    source, rng = SyntheticSource(tmp_path, 1), Random(5)
    left = {level: [0, 0] for level in set(LEVELS)}
    for pool in POOLS * 400:
        drawn = spec_of("churn").draw(source, pool, rng)
        fields = drawn.reference["fields"]
        assert LEVELS[PROBABILITIES.index(fields["probability"])] == fields["churn_risk"]
        assert classify_task(drawn.user) == "churn"
        left[fields["churn_risk"]][drawn.reference["left"]] += 1
    shares = {level: gone / (stayed + gone) for level, (stayed, gone) in left.items()}
    assert shares["low"] < 0.3 < shares["medium"] < 0.7 < shares["high"]


def test_the_prompt_does_not_state_the_stars_and_is_classified(tmp_path: Path) -> None:
    source, rng = SyntheticSource(tmp_path, 1), Random(5)
    for pool in POOLS * 100:
        drawn = spec_of("sentiment").draw(source, pool, rng)
        assert "nota 1" not in drawn.user and "estrela" not in drawn.user and drawn.stars is None
        assert classify_task(drawn.user) == "sentiment"
        assert json.loads(drawn.answer.text()) == drawn.reference["fields"]


def test_the_reports_reward_set_does_not_have_them() -> None:
    with pytest.raises(
        UserError, match=r"grpo.rewards=v4.2 has no reward for sentiment; choose grounded, or leave it out of data.mix"
    ):
        validated({"data": {"mix": {"sentiment": 1.0}}, "grpo": {"rewards": "v4.2"}})
    with pytest.raises(
        ValueError, match=r"the reward set v4.2 has no reward for the task sentiment; it has: extraction"
    ):
        load_reward_set("v4.2").score(PROMPTS["sentiment"], "x")
