"""Prompt augmentation: wordings that ask the same, on the same side of the separation, the same after a resume."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.generator import insights, pushes, question_families, review_phrases
from data.paraphrases import paraphrased
from data.prepare import DataReport, prepare
from data.separation import NearDuplicates, NearPrompts, jaccard, normal_form, shingles
from data.sources.synthetic import SyntheticSource
from rewards import classify_task, load_reward_set
from rewards.names import TASKS
from tucano.errors import UserError
from tucano.profiles import validated
from tucano.prompts import Paraphrase, Prompt, read_paraphrases, read_prompts, reworded
from tucano.settings import DataSettings, ModelSettings
from tucano.specs.banks import JOINT
from tucano.specs.registry import spec_of
from tucano.training.policies.nano import build_tokenizer
from tucano.training.rollouts.scoring import Rewards
from tucano.training.rollouts.wordings import Wordings, WordingSampler, wording_of
from tucano.truth import truth

WANTED = 2
SETS = ("train", "validation", "test", "demonstrations", "demonstrations_validation")
PLAIN = DataSettings(
    train_prompts=60,
    validation_prompts=39,
    test_prompts=39,
    demonstrations=30,
    mix=dict.fromkeys(TASKS, 1 / len(TASKS)),
    paraphrases=WANTED,
)


@pytest.fixture(scope="module", params=["plain", "natural"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DataReport]:
    folder = tmp_path_factory.mktemp(request.param)
    return folder, prepare(PLAIN.model_copy(update={"style": request.param}), 4, TASKS, folder)


def trained(folder: Path) -> dict[str, Prompt]:
    return {p.id: p for name in ("train", "demonstrations") for p in read_prompts(folder / f"{name}.jsonl")}


def pairs(folder: Path) -> list[tuple[Prompt, Paraphrase]]:
    by_id = trained(folder)
    return [(by_id[other.id], other) for other in read_paraphrases(folder / "paraphrases.jsonl")]


def parts(templates: list[str]) -> set[str]:
    return {part for template in templates for part in template.split(JOINT)}


def test_every_training_prompt_and_demonstration_has_as_many_as_asked_for(made: tuple[Path, DataReport]) -> None:
    folder, report = made
    counts = Counter(prompt.id for prompt, _ in pairs(folder))
    assert counts == dict.fromkeys(trained(folder), WANTED)
    assert sum(report.prompts["paraphrases"].values()) == 90 * WANTED and report.warnings == []
    for prompt, other in pairs(folder):
        assert normal_form(other.user) != normal_form(prompt.user)


def test_the_sets_themselves_are_what_they_are_without(made: tuple[Path, DataReport], tmp_path: Path) -> None:
    folder, _ = made
    style = "natural" if "natural" in folder.name else "plain"
    prepare(PLAIN.model_copy(update={"style": style, "paraphrases": 0}), 4, TASKS, tmp_path)
    ours = {path.name for path in tmp_path.iterdir()}
    assert {path.name for path in folder.iterdir()} - ours == {"paraphrases.jsonl"}
    assert all((folder / name).read_bytes() == (tmp_path / name).read_bytes() for name in ours - {"report.json"})


def test_no_paraphrase_uses_a_part_of_a_judged_template_or_is_near_a_judged_text(
    made: tuple[Path, DataReport],
) -> None:
    """By brute force; and half of each task's judged prompts still use only parts that nothing trained on has."""
    folder, _ = made
    further = [other for _, other in pairs(folder)]
    used = parts([other.template for other in further]) | parts([p.template for p in trained(folder).values()])
    assert not [part for part in used if re.search(r"\.(test|validation)\d", part)]
    for name in ("validation", "test"):
        judged = read_prompts(folder / f"{name}.jsonl")
        for task in TASKS:
            of_task = [prompt for prompt in judged if prompt.task == task]
            assert 2 * sum(not parts([prompt.template]) & used for prompt in of_task) >= len(of_task)
        grams = [shingles(normal_form(prompt.user)) for prompt in judged]
        assert all(jaccard(shingles(normal_form(other.user)), known) < 0.8 for other in further for known in grams)


def test_figures_products_and_the_words_of_reviews_stay(made: tuple[Path, DataReport]) -> None:
    """Every number of a text stands in the other, but for the 120 characters of a push and ways to write a month."""
    folder, _ = made
    for prompt, other in pairs(folder):
        figures = [
            Counter(re.findall(r"\d+", re.sub("até 120 caracteres", "", text))) for text in (prompt.user, other.user)
        ]
        if prompt.task in ("insights", "push", "churn"):
            assert figures[0] == figures[1], (prompt.user, other.user)
        if prompt.task == "push":
            assert str(prompt.reference["product"]) in other.user


@pytest.mark.parametrize("task", ["extraction", "sentiment"])
def test_what_a_customer_wrote_stands_in_every_wording(task: str, tmp_path: Path) -> None:
    source = SyntheticSource(tmp_path, 1, "natural")
    review = source.review("known", Random(3))
    source.review = lambda pool, rng: review  # type: ignore[method-assign]
    drawn = spec_of(task).draw(source, "known", Random(1))
    assert drawn.reword is not None
    for number in range(20):
        user, template = drawn.reword(Random(number))
        assert review.text in user and review.phrases in template
    source.close()


def test_an_answer_earns_the_same_whatever_the_wording(made: tuple[Path, DataReport]) -> None:
    """In training exactly, as it is scored by the prompt that has the wording. Scored by the wording that was shown, only
    insights would differ, whose reward asks which words are new, and by less than .05; the truth is the same.
    """
    folder, _ = made
    answers = [prompt.demonstration for prompt in trained(folder).values() if prompt.demonstration]
    rewards, rng = load_reward_set("grounded", folder), Random(2)
    scorer = Rewards(rewards, list(trained(folder).values()))
    for prompt, other in rng.sample(pairs(folder), 40):
        shown = replace(prompt, user=other.user)
        for answer in [prompt.demonstration or "", rng.choice(answers), "", "aproveite " * 8]:
            (paid,) = scorer.score([[{"content": answer}]], [other.id])
            assert paid == rewards.score(prompt, answer)
            assert abs(paid.total - rewards.score(shown, answer).total) <= (0.05 if prompt.task == "insights" else 0)
            if prompt.task != "sql_qa":  # whose truth reads the reference alone
                assert truth(prompt, answer, folder) == truth(shown, answer, folder)


def test_the_classifier_agrees_with_the_label_of_every_plain_wording(made: tuple[Path, DataReport]) -> None:
    folder, _ = made
    if "plain" in folder.name:
        assert [other.user for prompt, other in pairs(folder) if classify_task(other.user) != prompt.task] == []


def test_further_templates_are_near_no_judged_one() -> None:
    banks = [
        pushes.LAYOUTS, insights.LAYOUTS, insights.QUESTIONS, question_families.FRAMES, review_phrases.WRAPPERS,
        review_phrases.WRAPPERS_WITH_CATEGORY, review_phrases.BLIND_WRAPPERS,
    ]  # fmt: skip
    for bank in banks:
        judged = NearDuplicates([*bank.validation, *bank.test])
        assert bank.further and not [template for template in bank.further if judged.copied_in(template)]


def test_the_same_seed_gives_the_same_wordings_and_a_near_one_is_left_out(tmp_path: Path) -> None:
    source = SyntheticSource(tmp_path, 1)
    prompts = [replace(prompt, id=f"p{n}") for n, prompt in zip(range(8), source.prompts("push", "known", Random(1)))]  # noqa: B905
    made = paraphrased(prompts, [source], NearPrompts(), 2, seed=5)
    assert made == paraphrased(prompts, [source], NearPrompts(), 2, seed=5)
    assert made != paraphrased(prompts, [source], NearPrompts(), 2, seed=6)
    judged = NearPrompts([replace(prompts[0], user=made[0].user)])
    assert made[0].user not in [other.user for other in paraphrased(prompts, [source], judged, 2, seed=5)]
    source.close()


# Own prompts


def test_own_prompts_alone_are_refused_and_beside_others_said(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    rows = [{"prompt": f"Escreva um push da bolsa número {n} da loja.", "task": "push"} for n in range(60)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises((UserError, ValueError), match=r"data\.paraphrases rewords frames that are known"):
        validated({"data": {"source": "jsonl", "path": str(file), "paraphrases": 2}})
    sources = [
        {"source": "synthetic", "share": 0.5},
        {"source": "jsonl", "path": str(file), "share": 0.5},
    ]
    sizes = {"train_prompts": 40, "validation_prompts": 10, "test_prompts": 10, "demonstrations": 0}
    chosen = validated({"data": {"sources": sources, "mix": {"push": 1.0}, "paraphrases": 1, **sizes}}).data
    report = prepare(chosen, 1, ("push",), tmp_path / "set", chosen.paths)
    assert report.prompts["paraphrases"] == {"push": 20}
    assert "20 of 40 training prompts and demonstrations keep their one wording" in report.warnings[-1]


# Which wording an epoch shows


@given(st.integers(0, 2**32 - 1), st.text(max_size=12), st.integers(1, 9), st.integers(0, 5))
def test_each_wording_comes_up_once_before_any_comes_up_again(seed: int, name: str, count: int, lap: int) -> None:
    shown = [wording_of(seed, name, lap * count + epoch, count) for epoch in range(count)]
    assert sorted(shown) == list(range(count))


def test_an_epoch_of_sft_has_each_example_once_in_the_wording_of_the_epoch() -> None:
    ids = ["a", "b", "general", "a", "a", "b"]
    sampler = WordingSampler(ids, seed=3)
    for epoch in range(6):
        sampler.set_epoch(epoch)
        rows = list(sampler)
        assert sorted(ids[row] for row in rows) == ["a", "b", "general"] and len(sampler) == 3
        assert [0, 3, 4][wording_of(3, "a", epoch, 3)] in rows and [1, 5][wording_of(3, "b", epoch, 2)] in rows
        assert list(sampler) == rows
    assert len({tuple(epoch) for epoch in _epochs(sampler, 6)}) > 2


def _epochs(sampler: WordingSampler, count: int) -> list[list[int]]:
    found = []
    for epoch in range(count):
        sampler.set_epoch(epoch)
        found.append(list(sampler))
    return found


def test_grpo_shows_the_wording_of_the_epoch_and_scores_by_the_prompt() -> None:
    one = Prompt("p", "push", "um", "t", "test", "own")
    other = Prompt("q", "push", "alone", "t", "test", "own")
    tokenizer = build_tokenizer(["um outro alone"], ModelSettings(nano_vocabulary=300))
    further = reworded([one], [Paraphrase("p", "outro", "t")])
    wordings = Wordings([one, other], further, {"push": "Escreva."}, tokenizer, seed=4)
    for epoch in range(4):
        row = wordings.shown({"prompt": [], "prompt_id": "p", "task": "push"}, epoch)
        said = ("um", "outro")[wording_of(4, "p", epoch, 2)]
        assert row["prompt"] == [{"role": "system", "content": "Escreva."}, {"role": "user", "content": said}]
        assert row["prompt_id"] == "p"
        assert (
            wordings.shown({"prompt": [], "prompt_id": "q", "task": "push"}, epoch)["prompt"][1]["content"] == "alone"
        )


def test_a_prompt_set_without_any_reads_as_none(made: tuple[Path, DataReport], tmp_path: Path) -> None:
    assert read_paraphrases(tmp_path / "paraphrases.jsonl") == []
    shutil.copyfile(made[0] / "paraphrases.jsonl", tmp_path / "paraphrases.jsonl")
    assert len(read_paraphrases(tmp_path / "paraphrases.jsonl")) == 90 * WANTED
