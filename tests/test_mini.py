"""mini: what its base has read, that it is made of it to the same bits, and that it is worth starting from."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from data.prepare import prepare
from data.separation import NEAR, is_kept_for_judging, jaccard, normal_form, shingles
from tucano.artifacts.identity import SHIPPED
from tucano.bundle.command import verify_shipped
from tucano.files.prompts import PromptFiles
from tucano.mini.material import SHARES, Example, generated, without_result, written
from tucano.mini.seal import faults, seal
from tucano.mini.training import Recipe, pace, train
from tucano.prompts import TASKS, read_prompts
from tucano.settings.data import PromptPlan
from tucano.settings.pipeline import PipelineSettings
from tucano.specs.registry import spec_of
from tucano.truth.json_object import only_object

TINY = Recipe(hidden=16, layers=1, vocabulary=300, batch=4, gathered=2, warmup_steps=2, save_steps=2)


@pytest.fixture(scope="module")
def read() -> list[Example]:
    return [*generated(3000), *written()]


def test_every_task_is_read_and_nothing_that_is_kept_for_judging(read: list[Example]) -> None:
    assert sum(SHARES.values()) == pytest.approx(1)
    systems = [example.system for example in read]
    assert {spec_of(task).system_prompt for task in TASKS} <= {*systems}
    assert systems.count("") > 200, "general demonstrations have no system prompt"
    assert not any(is_kept_for_judging(example.user) for example in read if example.system)
    assert all(example.user and example.answer for example in read)


@pytest.mark.parametrize("style", ["natural", "plain"])
def test_the_generated_prompts_that_judge_a_run_are_kept_and_few_are_near_what_mini_read(
    style: str, read: list[Example], tmp_path: Path
) -> None:
    plan = PromptPlan.model_validate({"style": style, "train_prompts": 80, "demonstrations": 40})
    prepare(plan, 7, ("extraction", "sql_qa", "insights", "push"), tmp_path)
    files = PromptFiles(tmp_path)
    judged = [*read_prompts(files.test), *read_prompts(files.validation)]
    assert len(judged) == 130 and all(is_kept_for_judging(prompt.user) for prompt in judged)
    known = {shingles(normal_form(example.user)) for example in read}
    asked = [shingles(normal_form(prompt.user)) for prompt in judged]
    near = [one for one in asked if any(jaccard(one, other) >= NEAR for other in known)]
    assert len(near) <= (13 if style == "natural" else 65)


def test_prompts_that_differ_in_figures_alone_are_on_one_side() -> None:
    told = "Push para fone com {}% de desconto"
    assert len({is_kept_for_judging(told.format(share)) for share in (5, 10, 15, 99)}) == 1
    kept = sum(is_kept_for_judging(f"texto {'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10]}") for n in range(100))
    assert 4 <= kept <= 24, "about an eighth"


def test_mini_does_not_claim_numbers_that_it_cannot_know() -> None:
    query = "```sql\nSELECT 1;\n```\n"
    assert without_result(f"{query}A consulta conta os pedidos: 27.") == f"{query}A consulta conta os pedidos."
    assert without_result(query) == query


def test_a_training_that_was_interrupted_makes_the_same_bits(read: list[Example], tmp_path: Path) -> None:
    class Killed(Exception): ...

    def killed(text: str) -> None:
        if text.startswith("step 4/"):
            raise Killed

    examples = read[::110]
    whole = train(examples, TINY, _made(tmp_path / "whole"), lambda text: None)
    with pytest.raises(Killed):
        train(examples, TINY, _made(tmp_path / "again"), killed)
    again = train(examples, TINY, tmp_path / "again", lambda text: None)
    seal(whole, tmp_path / "seal.json")
    assert faults(again, tmp_path / "seal.json") == []
    other = train(examples, replace(TINY, learning_rate=0.001), _made(tmp_path / "other"), lambda text: None)
    assert faults(other, tmp_path / "seal.json") == ["model.safetensors differs"]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_the_learning_rate_rises_in_a_line_and_falls_to_nothing() -> None:
    assert [pace(step, 10, 2) for step in (0, 1, 2, 6, 9)] == pytest.approx([0.5, 1.0, 1.0, 0.5, 0.125])


def test_the_shipped_model_is_what_the_recipe_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_shipped("mini") == 0 and "is what its recipe made" in capsys.readouterr().out
    weights = SHIPPED["mini"] / "model.safetensors"
    assert weights.stat().st_size < 12_000_000
    changed = tmp_path / "model"
    shutil.copytree(SHIPPED["mini"], changed)
    (changed / "config.json").write_text("{}", encoding="utf-8")
    (changed / "more.txt").write_text("", encoding="utf-8")
    (changed / "tokenizer.json").unlink()
    assert faults(changed) == ["config.json differs", "more.txt is no part of it", "tokenizer.json is missing"]


def test_mini_is_a_base_like_any_other() -> None:
    settings = PipelineSettings.model_validate({"model": {"name": "mini"}})
    assert settings.model.place == str(SHIPPED["mini"]) and settings.model.is_ours
    config = json.loads((SHIPPED["mini"] / "config.json").read_text(encoding="utf-8"))
    assert config["model_type"] == "qwen3" and config["dtype"] == "bfloat16"


def test_mini_answers_what_it_has_not_read(tmp_path: Path) -> None:
    """Greedy answers to held-out extractions: nearly all are whole objects with the right feeling."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tucano.training.policies.chat import encode

    plan = PromptPlan.model_validate({"style": "natural", "train_prompts": 80, "demonstrations": 40})
    prepare(plan, 11, ("extraction", "push"), tmp_path)
    files = PromptFiles(tmp_path)
    prompts = [prompt for prompt in read_prompts(files.test) if prompt.task == "extraction"][:12]
    tokenizer = AutoTokenizer.from_pretrained(SHIPPED["mini"])
    model = AutoModelForCausalLM.from_pretrained(SHIPPED["mini"], dtype=torch.float32)
    feelings = []
    for prompt, tokens in zip(prompts, encode(tokenizer, prompts, files.systems()), strict=True):
        found = model.generate(torch.tensor([tokens]), max_new_tokens=160, do_sample=False)[0, len(tokens) :]
        answer = only_object(tokenizer.decode(found, skip_special_tokens=True)) or {}
        feelings.append(answer.get("sentiment") == prompt.reference["fields"]["sentiment"])
    assert len(feelings) == 12 and sum(feelings) >= 9
