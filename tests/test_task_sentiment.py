"""The task `sentiment`: what its reward pays, what its truth counts, what its scorer measures, by hand."""

import json
from pathlib import Path
from random import Random

import pytest
from rewards_examples import PROMPTS

from data.sources.synthetic import SyntheticSource
from rewards import classify_task, load_reward_set
from tucano.benchmark.scores import metrics, read_case
from tucano.errors import UserError
from tucano.profiles import validated
from tucano.prompts import Prompt
from tucano.specs.banks import Pool
from tucano.specs.registry import spec_of
from tucano.truth import truth

REWARDS = load_reward_set("grounded")
POOLS: tuple[Pool, ...] = ("known", "validation", "test")
PROMPT = PROMPTS["sentiment"]  # positive, 4


@pytest.mark.parametrize(
    ("answer", "expected", "true"),
    [
        ('{"sentiment": "positive", "sentiment_score": 4}', 1.0, 1.0),
        ('{"sentiment": "positive", "sentiment_score": 5}', 1.0 - 0.15, 0.85),  # one off: half of .30
        ('{"sentiment": "positive"}', 0.15 + 0.125 + 0.30, 0.7),
        ('{"sentiment": "positive", "sentiment_score": "4"}', 0.15 + 0.125 + 0.30, 0.7),
        ('{"sentiment": "positive", "sentiment_score": 2}', 0.15 + 0.25 + 0.30 - 0.10, 0.2),  # 2 stars contradict it
        ('{"sentiment": "negative", "sentiment_score": 1}', 0.6 * 0.40 * 0.3, 0.0),
        ('{"sentiment": "positivo", "sentiment_score": true}', 0.0, 0.0),
        ("positive, 4", 0.0, 0.0),
    ],
)
def test_reward_and_truth(answer: str, expected: float, true: float) -> None:
    assert REWARDS.score(PROMPT, answer).total == pytest.approx(expected)
    assert truth(PROMPT, answer) == pytest.approx(true)


def test_metrics_by_hand(tmp_path: Path) -> None:
    said = [("positive", 5, '{"sentiment": "positive", "sentiment_score": 4}'), ("negative", 2, "não sei")]
    cases = []
    for label, stars, answer in said:
        asked = Prompt(
            "p", "sentiment", "u", "t", "s", "CC0", None, {"fields": {"sentiment": label, "sentiment_score": stars}}
        )
        cases.append(read_case(asked, answer, [], tmp_path))
    found = metrics(cases)
    assert found == {
        "sentiment.valid_json": 0.5,
        "sentiment.accuracy": 0.5,
        "sentiment.macro_f1": 0.5,  # 1 for positive, 0 for negative
        "sentiment.stars_off": 2.0,  # 1, and as far off as possible: 3
    }


def test_the_prompt_does_not_state_the_stars_and_is_classified(tmp_path: Path) -> None:
    source, spec = SyntheticSource(tmp_path, 1), spec_of("sentiment")
    rng = Random(5)
    for pool in POOLS:
        for _ in range(100):
            drawn = spec.draw(source, pool, rng)
            assert "nota 1" not in drawn.user and "estrela" not in drawn.user and drawn.stars is None
            assert classify_task(drawn.user) == "sentiment"
            made = json.loads(drawn.answer.text())
            assert made == drawn.reference["fields"]


def test_the_reports_reward_set_does_not_have_it() -> None:
    with pytest.raises(
        UserError, match=r"grpo.rewards=v4.2 has no reward for sentiment; choose grounded, or leave it out of data.mix"
    ):
        validated({"data": {"mix": {"sentiment": 1.0}}, "grpo": {"rewards": "v4.2"}})
    with pytest.raises(
        ValueError, match=r"the reward set v4.2 has no reward for the task sentiment; it has: extraction"
    ):
        load_reward_set("v4.2").score(PROMPT, "x")
