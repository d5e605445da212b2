"""Preference optimisation after GRPO: the loss by hand, where pairs come from, and a training that is killed."""

import json
import math
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from peft import PeftModel
from test_training import SMALL, SignalAt, adapter_bytes, journal_steps

from data.own.preferences import trainable_pairs
from data.prepare import prepare
from rewards import Score
from tucano.errors import UserError, WorkerCrashed
from tucano.files.prompts import PromptFiles
from tucano.preferences import AnswerPair, read_answer_pairs, write_answer_pairs
from tucano.profiles import validated
from tucano.prompts import Prompt, read_prompts
from tucano.requirements.second_zero import findings
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_dpo
from tucano.training.jobs import Job
from tucano.training.launch import run_job
from tucano.training.orders import JobFolders, order
from tucano.training.policies.load import load_policy
from tucano.training.preferences.dpo import ResumableDPOTrainer, arguments
from tucano.training.preferences.ranked import ranked_pairs
from tucano.training.rollouts.examiner import ScoredCompletion

DPO = {"enabled": True, "batch_size": 8, "micro_batch": 4, "learning_rate": 0.001, "eval_steps": 2, "save_steps": 2}


def settings(**dpo: Any) -> PipelineSettings:
    return validated({**SMALL, "dpo": {**DPO, **dpo}})


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prompts")
    prepare(settings().data, 7, settings().tasks, folder)
    return folder


@pytest.fixture(scope="module")
def trained(prompts: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The nano model after a short SFT, and GRPO's adapter on it."""
    places = [tmp_path_factory.mktemp(kind) / "output" for kind in ("sft", "grpo")]
    run_job(job("sft", prompts, places[0].parent), None, lambda _: None)
    run_job(job("grpo", prompts, places[1].parent, start=(str(places[0] / "model"), None)), None, lambda _: None)
    return places[0] / "model", places[1] / "adapter"


def job(kind: Any, prompts: Path, place: Path, **more: Any) -> Job:
    (place / "output").mkdir(parents=True, exist_ok=True)
    folders = JobFolders(prompts=prompts, work=place / "work", output=place / "output")
    return order(kind, more.pop("chosen", settings()), 1, 1, folders, **more)


def summed_logp(policy: PeftModel, adapter: str, prompt: list[int], answer: list[int]) -> float:
    """log p(answer | prompt) under one adapter, from the logits alone: x_t - log(sum of exp x), token by token."""
    policy.set_adapter(adapter)
    with torch.no_grad():
        logits = policy(input_ids=torch.tensor([prompt + answer])).logits[0].double().tolist()
    rows = zip(logits[len(prompt) - 1 : -1], answer, strict=True)
    return sum(row[token] - math.log(sum(map(math.exp, row))) for row, token in rows)


def test_the_loss_is_equation_7_on_every_pair(trained: tuple[Path, Path], tmp_path: Path) -> None:
    stage = of_dpo(settings(beta=0.3), 1)
    model, adapter = trained
    policy, tokenizer = load_policy(stage.model, str(model), adapter, trainable=True, seed=1)
    pairs = [AnswerPair("Responda.", "Oi", "bom dia", "x"), AnswerPair("Responda.", "E o frete?", "grátis", "sei lá")]
    rows = Dataset.from_list([pair.row() for pair in pairs])
    trainer = ResumableDPOTrainer(
        model=policy, args=arguments(stage, tmp_path, 2), train_dataset=rows, processing_class=tokenizer
    )
    batch = trainer.data_collator([trainer.train_dataset[row] for row in range(2)])
    at_the_start = trainer.compute_loss(trainer.model, batch)
    assert at_the_start.item() == pytest.approx(math.log(2), abs=1e-6)  # p = q: sigmoid(0) = 1/2, whatever the pair

    noise = torch.Generator().manual_seed(3)
    for name, weight in policy.named_parameters():
        if ".default." in name:
            weight.data += 0.05 * torch.randn(weight.shape, generator=noise)
    found = trainer.compute_loss(trainer.model, batch).item()
    losses = []
    for row in trainer.train_dataset:
        ratio = {
            name: summed_logp(policy, "default", row["prompt_ids"], row[f"{name}_ids"])
            - summed_logp(policy, "ref", row["prompt_ids"], row[f"{name}_ids"])
            for name in ("chosen", "rejected")
        }
        losses.append(math.log1p(math.exp(-0.3 * (ratio["chosen"] - ratio["rejected"]))))
    assert abs(losses[0] - math.log(2)) > 0.01 and losses[0] != pytest.approx(losses[1], rel=0.01)
    assert found == pytest.approx(sum(losses) / 2, rel=1e-4)


# Pairs


def answer(prompt: str, text: str, reward: float, truncated: bool = False) -> ScoredCompletion:
    asked = Prompt(prompt, "push", f"pedido {prompt}", "", "", "")
    return ScoredCompletion(asked, [1], text, truncated, Score(reward, {}), None)


def test_a_pair_is_the_best_and_the_worst_of_a_group_that_ended() -> None:
    group = [
        answer("a", "meio", 0.5),
        answer("a", "bom", 0.9),
        answer("a", "mau", 0.1),
        answer("a", "corte", 1.0, True),
    ]
    alike = [answer("b", text, 0.4) for text in ("um", "dois", "três", "quatro")]
    cut = [answer("c", text, reward, True) for text, reward in (("um", 0.1), ("dois", 0.9), ("três", 0), ("x", 0))]
    assert list(ranked_pairs([*group, *alike, *cut], 4, {"push": "Escreva."})) == [
        AnswerPair("Escreva.", "pedido a", "bom", "mau")
    ]


def test_pairs_of_people_near_a_judged_prompt_are_left_out(prompts: Path, tmp_path: Path) -> None:
    files = PromptFiles(prompts)
    system = files.systems()["push"]
    tested, validating = read_prompts(files.test)[0].user, read_prompts(files.validation)[0].user
    kept = AnswerPair(system, "Um pedido que ninguém mais faz, só este aqui.", "sim", "não")
    held = [AnswerPair(system, text, "sim", "não") for text in (tested, validating.upper())]
    quoting = AnswerPair(system, "Outro pedido.", f"Como em: {tested}", "não")
    foreign = AnswerPair("You are a pirate.", "Oi", "sim", "não")
    write_answer_pairs(tmp_path / "pairs.jsonl", [kept, *held, quoting, foreign])
    assert trainable_pairs(tmp_path / "pairs.jsonl", files) == (
        [kept],
        {"a test prompt, or near one": 3, "another system prompt than this run's": 1},
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1 is no preference pair"),
        ('{"prompt": "Oi", "chosen": "a", "rejected": "b"}', "line 1 is no preference pair"),
        (json.dumps(AnswerPair("s", "u", "a", "a").row()), "line 1 prefers an answer to itself"),
        ("", "holds no preference pair"),
    ],
)
def test_a_file_without_pairs_is_refused_at_second_0(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read_answer_pairs(tmp_path / "pairs.jsonl")
    refused = [one.sentence for one in findings(settings(pairs=str(tmp_path / "pairs.jsonl"))) if one.refuses]
    assert len(refused) == 1 and refused[0].startswith("dpo.pairs=") and said in refused[0]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"dpo": {**DPO, "ranked": False}}, "dpo.ranked=false leaves no pairs to learn from"),
        ({"dpo": {**DPO, "micro_batch": 3}}, "dpo.micro_batch=3 does not divide dpo.batch_size=8"),
        ({"dpo": DPO, "model": {"backend": "unsloth", "device": "cuda", "dtype": "bfloat16"}}, "needs model.backend"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        validated({**SMALL, **changed})


# The training


def test_a_killed_training_ends_as_one_left_alone_and_keeps_its_pairs(
    prompts: Path, trained: tuple[Path, Path], tmp_path: Path
) -> None:
    start = (str(trained[0]), str(trained[1]))
    alone = run_job(job("dpo", prompts, tmp_path / "alone", start=start), None, lambda _: None)
    assert alone["pairs"] > 8 and alone["steps"] == math.ceil(alone["pairs"] / 8)
    assert alone["best_value"] >= alone["validation"][0][1], "what is kept is at least as good as GRPO's"
    learned = read_answer_pairs(tmp_path / "alone" / "output" / "pairs.jsonl")
    assert {pair.user for pair in learned} <= {prompt.user for prompt in read_prompts(PromptFiles(prompts).train)}
    chosen = job("dpo", prompts, tmp_path / "killed", start=start)
    with pytest.raises(WorkerCrashed, match="SIGKILL"):
        run_job(chosen, None, SignalAt(3, signal.SIGKILL))
    run_job(chosen, None, lambda _: None)
    assert adapter_bytes(tmp_path / "killed") == adapter_bytes(tmp_path / "alone")
    assert journal_steps(tmp_path / "killed", "train/rewards/margins") == list(range(1, alone["steps"] + 1))


def test_without_a_difference_between_answers_it_says_so(
    prompts: Path, trained: tuple[Path, Path], tmp_path: Path
) -> None:
    made = job(
        "dpo", prompts, tmp_path, start=(str(trained[0]), str(trained[1])), chosen=settings(ranked=False, pairs="-")
    )
    with pytest.raises(UserError, match="found no pair to learn from"):
        run_job(replace(made, preferences=None), None, lambda _: None)
