"""The benchmark: metrics by hand and against scikit-learn's, baselines, human tags, and the whole result."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from data.benchmark import Places, prepare_benchmark
from data.prepare import prepare
from data.separation import NearDuplicates
from data.sources.b2w import issues_of
from rewards import load_reward_set
from rewards.names import REPORTED as TASKS
from tucano.artifacts.records import parsed
from tucano.benchmark.answers import baselines
from tucano.benchmark.benchmark import Benchmark, Inference, benchmark, metrics, render_table, with_intervals
from tucano.benchmark.endpoint import Bill
from tucano.benchmark.pace import Pace
from tucano.benchmark.speeds import Speeds, break_even_per_day, dollars_per_thousand, render_speeds
from tucano.comparison.answers import Answer, Decoding
from tucano.files.prompts import SETS
from tucano.prompts import Prompt, read_prompts
from tucano.settings import BenchmarkSettings, DataSettings, PipelineSettings
from tucano.settings.stages import of_benchmark_set
from tucano.specs import scoring
from tucano.specs.scoring import Case, read_json
from tucano.truth import truth

labels = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", None])), min_size=1, max_size=20)


def case(fields: dict[str, object], gold: dict[str, object], levels: tuple[object, ...] = ()) -> Case:
    return Case("extraction", "synthetic", gold, {"fields": fields, "read": bool(fields)}, levels)


@settings(max_examples=30)
@given(labels)
def test_macro_f1_and_balanced_accuracy_are_scikit_learns(pairs: list[tuple[str, str | None]]) -> None:
    gold, said = [pair[0] for pair in pairs], [pair[1] or "none" for pair in pairs]
    how: Any = {"labels": sorted(set(gold)), "average": "macro", "zero_division": 0}
    assert scoring.macro_f1(pairs) == pytest.approx(sk.f1_score(gold, said, **how))
    assert scoring.balanced_accuracy(pairs) == pytest.approx(sk.recall_score(gold, said, **how))


def test_brier_by_hand_and_against_scikit_learn() -> None:
    assert scoring.brier("low", ["low"] * 4) == 0.0
    assert scoring.brier("low", ["high"] * 4) == 2.0
    assert scoring.brier("low", ["low", "low", "low", "high"]) == pytest.approx(0.25**2 + 0.25**2)
    assert scoring.brier("low", []) == pytest.approx((2 / 3) ** 2 + 2 / 9)  # nothing said: a third each
    assert scoring.brier("low", ["baixo"] * 4) == scoring.brier("low", [])
    expected = sk.brier_score_loss([True], [0.75]) * 2  # two levels used: the two-class score counts one side
    assert scoring.brier("low", ["low", "low", "low", "high"]) == pytest.approx(expected)


def test_an_answer_that_cannot_be_read_is_wrong_and_not_dropped() -> None:
    gold = {"sentiment": "positive", "sentiment_score": 5, "churn_risk": "low"}
    found = metrics([case(gold, gold), case({}, gold)])
    assert found["extraction.sentiment.accuracy"] == 0.5
    assert found["extraction.sentiment.stars_off"] == 2.0  # 0 and 4
    assert found["extraction.churn.balanced_accuracy"] == 0.5
    assert found["extraction.valid_json"] == 0.5


def test_the_reader_of_json_repairs_nothing() -> None:
    assert read_json('Aqui está: {"a": {"b": 1}} pronto') == {"a": {"b": 1}}
    assert read_json('{quase} {"a": 1}') == {"a": 1}
    assert read_json('{"nota": 4,5}') is None
    assert read_json("[1, 2]") is None
    assert read_json("{" * 5000) is None


def test_the_same_seed_gives_the_same_interval_and_it_holds_the_value() -> None:
    gold = {"sentiment": "positive", "sentiment_score": 5, "churn_risk": "low"}
    cases = [case(gold if number % 3 else {}, gold, ("low",)) for number in range(30)]
    first, again = (with_intervals(cases, 100, np.random.default_rng(3)) for _ in range(2))
    assert first == again
    value, low, high = first["extraction.sentiment.accuracy"]
    assert low < value < high
    assert value == pytest.approx(2 / 3)
    assert high - low == pytest.approx(2 * 1.96 * (2 / 9 / 30) ** 0.5, rel=0.3)


@pytest.mark.parametrize(
    ("tags", "issues"),
    [
        ("elogio,produto", {"delivery_issue": False, "product_issue": False, "seller_issue": False}),
        ("entraga, reclamacão", {"delivery_issue": True, "product_issue": False, "seller_issue": False}),
        ("reclamacao,produto,entrega", {"seller_issue": False}),
        ("reclamacao", {}),
        ("", {}),
    ],
)
def test_what_human_tags_say_about_issues(tags: str, issues: dict[str, bool]) -> None:
    assert issues_of(tags) == issues


@pytest.fixture(scope="module")
def prompt_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prompts")
    prepare(DATA, 7, TASKS, folder)
    return folder


DATA = DataSettings(train_prompts=60, validation_prompts=26, test_prompts=26, demonstrations=40)
BENCHMARK = PipelineSettings(data=DATA, benchmark=BenchmarkSettings(prompts=80))


@pytest.fixture(scope="module")
def questions(prompt_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("questions")
    prepare_benchmark(of_benchmark_set(BENCHMARK), Places(), prompt_set, folder)
    return folder


def test_a_benchmark_is_larger_than_a_test_set_and_apart_from_everything(prompt_set: Path, questions: Path) -> None:
    asked = read_prompts(questions / "test.jsonl")
    assert len(asked) == 80 and {prompt.task for prompt in asked} == set(TASKS)
    known = NearDuplicates(prompt.user for part in SETS for prompt in read_prompts(prompt_set / f"{part}.jsonl"))
    assert not any(known.near(prompt.user) for prompt in asked)
    assert len({prompt.id for prompt in asked}) == 80
    assert (questions / "store.sqlite").read_bytes() == (prompt_set / "store.sqlite").read_bytes()


def test_what_was_masked_in_real_reviews_is_counted(prompt_set: Path, tmp_path: Path) -> None:
    rows = "".join(f"Título;A caixa número {n} veio vazia, CPF 529.982.247-25;1;No;Beleza\n" for n in range(3))
    reviews = tmp_path / "reviews.csv"
    header = "review_title;review_text;overall_rating;recommend_to_a_friend;site_category_lv1"
    reviews.write_text(f"{header}\n{rows}", encoding="utf-8")
    record = prepare_benchmark(of_benchmark_set(BENCHMARK), Places(b2w=str(reviews)), prompt_set, tmp_path)
    assert record["masked"] == {"cpf": 3}
    assert "529.982" not in (tmp_path / "test.jsonl").read_text(encoding="utf-8")


def answered(arm: str, prompt: Prompt, text: str, folder: Path, decoding: Decoding = "served") -> Answer:
    score, worth = load_reward_set("grounded", folder).score(prompt, text), truth(prompt, text, folder)
    which = (arm, prompt.id, prompt.task, decoding, 0, text)
    return Answer(*which, score.total, score.components, worth, 0.0, 0, False)


@pytest.fixture(scope="module")
def result(prompt_set: Path, questions: Path) -> Benchmark:
    """Three baselines as arms; the rules are played by three seeds, against majority as their start."""
    asked, found = read_prompts(questions / "test.jsonl"), baselines(read_prompts(prompt_set / "train.jsonl"))
    arms = {"constant": "constant", "sft": "majority", "seed-1": "rules", "seed-2": "rules", "seed-3": "rules"}
    answers = [
        answered(arm, prompt, found[played](prompt), questions, decoding)
        for arm, played in arms.items()
        for decoding in ("served", "sampled")
        for prompt in asked
    ]
    bills = {"constant": Bill(160, 2, 1000, 500, 0.25, 0.5, 1.5)}
    judged = benchmark(answers, asked, questions, "sft", Inference(0.05, 40, 7), looks=2)
    return replace(judged, bills=bills, judged={"sft": [3, None], "seed-1": [4, 5]})


def test_baselines_stand_where_they_should(result: Benchmark) -> None:
    constant, majority, rules = (result.metrics[arm]["all"] for arm in ("constant", "sft", "seed-1"))
    assert all(found["extraction.valid_json"][0] == 1.0 for found in (constant, majority, rules))
    assert majority["extraction.churn.balanced_accuracy"][0] == pytest.approx(1 / 3)
    assert rules["extraction.sentiment.accuracy"][0] > majority["extraction.sentiment.accuracy"][0] + 0.2
    assert rules["extraction.churn.brier"][0] < constant["extraction.churn.brier"][0]
    assert constant["sql_qa.valid"][0] == 1.0
    assert rules["insights.coverage"][0] > 0.9 > constant["insights.coverage"][0]
    assert rules["push.names_product"][0] > constant["push.names_product"][0]


def test_seeds_are_contrasted_with_their_start_by_truth(result: Benchmark) -> None:
    found = {(c.arm, c.measure): c for c in result.contrasts}
    assert set(found) == {("seeds", "truth"), ("seeds", "reward"), ("constant", "truth")}
    assert found["seeds", "truth"].overall.p <= 1 / 16  # four groups of templates that nothing else uses
    assert not result.hacking_suspected


def test_a_reward_that_rises_while_truth_falls_is_suspicious(prompt_set: Path, questions: Path) -> None:
    asked, rules = read_prompts(questions / "test.jsonl"), baselines(read_prompts(prompt_set / "train.jsonl"))["rules"]
    answers = []
    for arm in ("sft", "seed-1"):
        for place, prompt in enumerate(asked):
            for decoding in ("served", "sampled"):
                text = rules(prompt) if arm == "sft" else "x" * 300
                made = answered(arm, prompt, text, questions, decoding)
                answers.append(replace(made, reward=len(text) / 400 + place / 10_000))
    assert benchmark(answers, asked, questions, "sft", Inference(0.05, 2, 7)).hacking_suspected


def test_prompts_whose_truth_nobody_knows_are_contrasted_by_nothing(prompt_set: Path, questions: Path) -> None:
    asked = read_prompts(questions / "test.jsonl")
    known = {prompt.id for prompt in asked if prompt.task in ("insights", "push")}
    text = "Aproveite hoje"
    made = [answered(arm, prompt, text, questions) for arm in ("sft", "seed-1") for prompt in asked]
    for kept in (known, set[str]()):
        answers = [found if found.prompt_id in kept else replace(found, truth=None) for found in made]
        result = benchmark(answers, asked, questions, "sft", Inference(0.05, 2, 7))
        found = {contrast.measure: contrast.overall.n for contrast in result.contrasts}
        assert found == {"reward": len(asked), **({"truth": len(kept)} if kept else {})}
        assert render_table(result)


def test_speed_and_its_price_by_hand(result: Benchmark) -> None:
    """Eight answers in 2 s and eight in 6: a second for two of them. A USD an hour: 1,000 answers in 1,000 s."""
    paces = (Pace("seed-1", 8, [2.0, 6.0, 8.0], 4800), Pace("seed-1", 1, [2.0], 100))
    assert paces[0].answers == 24 and paces[0].per_second == 1.5
    assert dollars_per_thousand(1.0, 1.5) == pytest.approx(1000 / 1.5 / 3600)
    assert break_even_per_day(1.0, 0.001, 1.5) == 24_000
    assert break_even_per_day(1.0, 0.0001, 1.5) is None, "240,000 a day, and it gives 129,600"
    assert break_even_per_day(1.0, 0.0, 1.5) is None
    priced = "\n".join(render_speeds(Speeds("l4", 8, 1.0, paces), {"api": 0.001}))
    assert "| seed-1 |         8 |      24 |     6.00 |   7.80 |      1.50 |      300 |        0.1852 |" in priced
    assert "24,000 answers a day" in priced and "no price" not in priced
    unpriced = "\n".join(render_speeds(Speeds("own machine", 2, None, paces), {"api": 0.001}))
    assert "no price in `cost.prices`" in unpriced and "a day" not in unpriced
    assert max(map(len, (priced + unpriced).splitlines())) <= 100
    assert "*speed" not in render_table(result), "where nothing was timed nothing is said"


def test_a_benchmark_survives_json_and_its_table_is_readable(result: Benchmark) -> None:
    assert parsed(Benchmark, json.loads(json.dumps(asdict(result), allow_nan=False))) == result
    table = render_table(result)
    assert max(map(len, table.splitlines())) <= 100
    assert all(words in table for words in ("balanced accuracy", "names product", "per 1,000", "looked at 2 times"))
