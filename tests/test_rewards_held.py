"""The rewards `grounded` against what people hold for good or bad: rated answers, gold demonstrations, shuffled words,
every attack that truth once fell for, and answers of somebody who sees a prompt's frame and does not read it."""

import json
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest
from rewards_examples import ANSWERS, FIELDS, PROMPTS, Prompt, write_store
from test_truth import EXTRACTION, EXTRACTION_ATTACKS, INSIGHTS, INSIGHTS_ATTACKS, PUSH_ATTACKS
from test_truth_held import PROSE, RATINGS, SOURCES, gold, reviews, unread, usual

from data.prepare import prepare
from rewards import RewardSet, load_reward_set
from rewards.names import REPORTED
from rewards.parsing.sql_near import NAMELESS
from rewards.wording.complaints import LABEL
from tucano.prompts import Task
from tucano.rating.ratings import read_ratings
from tucano.rating.store import rating_store
from tucano.settings import DataSettings

BLEMISH = {"extraction": LABEL, "sql_qa": NAMELESS, "insights": 0.77, "push": 0.86}
"""What the generator's answers have each: a summary that only labels, a sum without a name, steps for any shop, and words
that one says of any product."""
LONG = ("insights",)
"""Tasks whose good answers are graded, not all alike."""
GOOD = 0.85
LOW = 0.30
UNREAD = 0.60
"""What an answer from the frame alone earns at most in the mean."""
REPAIRED = {"broken off", "single quotes"}
"""Objects that nothing but repair can read: they earn 45 %, more than a text without an object."""
ABOVE = {"extraction": 6, "sql_qa": 1}
"""How many answers rated 1 or 2 earn more than .30: a wrong complaint or a wrong issue among right fields, and a query that
is wrong and gives the right count in all stores."""


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> RewardSet:
    return load_reward_set("grounded", write_store(tmp_path_factory.mktemp("held")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gold demonstrations of the first four tasks."""
    folder = tmp_path_factory.mktemp("gold")
    mix: dict[Task, float] = dict.fromkeys(REPORTED, 1 / len(REPORTED))
    prepare(DataSettings(mix=mix, defect_share=0, train_prompts=40, demonstrations=400), 3, REPORTED, folder)
    return folder


@pytest.fixture(scope="module")
def rated() -> dict[str, list[tuple[float, float]]]:
    """Per task (rating, reward) of the rated answers."""
    found = defaultdict(list)
    with rating_store(RATINGS) as databases:
        rewards = load_reward_set("grounded", databases)
        for answer in read_ratings(RATINGS):
            found[answer.prompt.task].append((answer.rating, rewards.score(answer.prompt, answer.completion).total))
    return found


@pytest.mark.parametrize(("prompt", "text"), PUSH_ATTACKS.values(), ids=PUSH_ATTACKS)
def test_attacks_on_push(examples: RewardSet, prompt: Prompt, text: str) -> None:
    assert (prompt, text) == PUSH_ATTACKS["gibberish 4"] or examples.score(prompt, text).total <= LOW


@pytest.mark.parametrize("text", INSIGHTS_ATTACKS.values(), ids=INSIGHTS_ATTACKS)
def test_attacks_on_insights(examples: RewardSet, text: str) -> None:
    assert text == INSIGHTS_ATTACKS["advice on everything"] or examples.score(INSIGHTS, text).total <= LOW


@pytest.mark.parametrize("name", EXTRACTION_ATTACKS)
def test_attacks_on_extraction(examples: RewardSet, name: str) -> None:
    total = examples.score(EXTRACTION, EXTRACTION_ATTACKS[name]).total
    assert total == pytest.approx(0.45, abs=0.01) if name in REPAIRED else total <= LOW


def test_a_query_that_is_taken_back_earns_nothing(examples: RewardSet) -> None:
    assert examples.score(PROMPTS["sql_qa"], "Está errada, não use:\n" + ANSWERS["sql_qa"]).total == 0


def test_a_wrong_complaint_costs_more_than_any_other_field(examples: RewardSet) -> None:
    wrong = {"main_complaint": "cor feia", "seller_issue": True, "churn_risk": "low", "category": "moda"}
    totals = {
        name: examples.score(EXTRACTION, json.dumps(FIELDS | {name: value})).total for name, value in wrong.items()
    }
    assert min(totals, key=lambda name: totals[name]) == "main_complaint" and totals["main_complaint"] < 0.7


@pytest.mark.parametrize("task", REPORTED)
def test_answers_rated_5_earn_nearly_all(rated: dict[str, list[tuple[float, float]]], task: Task) -> None:
    found = [reward for rating, reward in rated[task] if rating == 5]
    assert found and (sum(found) / len(found) >= 0.65 if task in LONG else min(found) >= GOOD)


@pytest.mark.parametrize("task", REPORTED)
def test_answers_rated_1_or_2_earn_little(rated: dict[str, list[tuple[float, float]]], task: Task) -> None:
    assert sum(reward > LOW for rating, reward in rated[task] if rating <= 2) <= ABOVE.get(task, 0)


@pytest.mark.parametrize("task", REPORTED)
def test_gold_demonstrations_earn_nearly_all(folder: Path, task: Task) -> None:
    rewards = load_reward_set("grounded", folder)
    found = [rewards.score(prompt, answer).total for prompt, answer in gold(folder, task)]
    assert len(found) >= 90 and sum(found) / len(found) >= BLEMISH.get(task, 1.0) - 0.02
    assert task in LONG or sum(reward < GOOD - 1e-9 for reward in found) <= 0.02 * len(found)


@pytest.mark.parametrize("task", PROSE)
def test_shuffled_words_lose_more_than_half(folder: Path, task: Task) -> None:
    """A push is so short that one order in four is still one that occurs."""
    rewards = load_reward_set("grounded", folder)
    before = after = kept = 0.0
    answers = gold(folder, task)
    for number, (prompt, answer) in enumerate(answers):
        words = answer.split()
        Random(number).shuffle(words)
        whole, mixed = rewards.score(prompt, answer).total, rewards.score(prompt, " ".join(words)).total
        before, after, kept = before + whole, after + mixed, kept + (mixed > whole / 2)
    assert after <= 0.35 * before and kept <= (0.25 if task == "push" else 0.1) * len(answers)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("summary", ["Cliente avaliou a compra.", "O cliente fala do produto, da entrega e da troca."])
def test_the_frame_alone_earns_little(source: str, summary: str, tmp_path: Path) -> None:
    prompts = list(reviews(source, tmp_path))
    known = usual(prompts)
    rewards = load_reward_set("grounded", tmp_path)
    found = [rewards.score(prompt, unread(prompt, known, summary)).total for prompt in prompts]
    assert len(found) >= 90 and sum(found) / len(found) <= UNREAD
