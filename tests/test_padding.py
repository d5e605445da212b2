"""Real tokenizers pad with a token that ends an answer; every process then gives the pad the same token of its own."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoTokenizer

from rewards import load_reward_set
from tucano.files.prompts import PromptFiles
from tucano.prompts import Prompt
from tucano.settings import ModelSettings
from tucano.settings.training.sft import SftStage, SftTraining
from tucano.training import preflight_checks as check
from tucano.training import sft
from tucano.training.checkpoints import weights
from tucano.training.jobs import Job
from tucano.training.policies import nano
from tucano.training.policies.load import load_base, load_policy
from tucano.training.rollouts.examiner import Examiner, ScoredCompletion
from tucano.training.samplers.local import LocalSampler

SMALL = ModelSettings(nano_hidden=16, nano_layers=1, nano_vocabulary=300)
FIRST = "<|endoftext|>"
PROMPT = Prompt("p1", "push", "Fone de ouvido.", "t", "synthetic", "CC0-1.0")
REWARDS = load_reward_set("grounded")
Shipped = Callable[..., int]


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shipped:
    """Writes a base as others ship it, and returns the number of its tokens. Token 0 begins texts, token 2 ends turns."""
    monkeypatch.setattr(nano, "PAD", FIRST)

    def write(pad: str | None, *specials: str, spare: int = 0, ends: tuple[int, ...] = (2,)) -> int:
        tokenizer = nano.build_tokenizer(["um texto"], SMALL)
        tokenizer.add_special_tokens({"additional_special_tokens": list(specials), "bos_token": FIRST})
        tokenizer.pad_token = pad
        model = nano.build_model(tokenizer, SMALL, seed=1)
        model.resize_token_embeddings(len(tokenizer) + spare, mean_resizing=False)
        model.generation_config.eos_token_id = list(ends)
        model.save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
        return len(tokenizer)

    return write


def chosen(folder: Path) -> tuple[str, int, int]:
    """The pad token, its id, and the rows of the embedding. What is saved of it chooses nothing any more."""
    model, tokenizer = load_base(SMALL, str(folder))
    assert tokenizer.padding_side == "left" and check.end_tokens(model, tokenizer, PROMPT, {"push": "."}).level == "ok"
    assert model.config.pad_token_id == model.generation_config.pad_token_id == tokenizer.pad_token_id
    tokenizer.save_pretrained(folder / "saved")
    assert AutoTokenizer.from_pretrained(folder / "saved").pad_token_id == tokenizer.pad_token_id
    return str(tokenizer.pad_token), int(tokenizer.pad_token_id), model.get_input_embeddings().weight.shape[0]


@pytest.mark.parametrize("pad", [nano.TURN_END, None])
def test_an_unused_special_token_is_taken_a_pad_first(pad: str | None, shipped: Shipped, tmp_path: Path) -> None:
    size = shipped(pad, "<|reserved_0|>", "<|reserved_1|>")
    assert chosen(tmp_path) == ("<|reserved_1|>", size - 1, size)
    size = shipped(pad, "<|fim_pad|>", "<|reserved_1|>")
    assert chosen(tmp_path) == ("<|fim_pad|>", size - 2, size)


def test_a_pad_that_the_model_ends_with_too_is_none_of_its_own(shipped: Shipped, tmp_path: Path) -> None:
    """Qwen pads with <|endoftext|>, and its generation_config lists that as an end: the preflight was red."""
    size = shipped(FIRST, "<|box_end|>", ends=(2, 0))
    assert chosen(tmp_path) == ("<|box_end|>", size - 1, size)
    size = shipped(FIRST, "<|box_end|>")
    assert chosen(tmp_path) == (FIRST, 0, size), "its own, as it was shipped"


def test_without_a_spare_row_there_is_a_new_one_which_adapters_do_not_carry(shipped: Shipped, tmp_path: Path) -> None:
    size = shipped(nano.TURN_END)
    assert chosen(tmp_path) == ("<|pad|>", size, size + 1)
    model, _ = load_base(SMALL, str(tmp_path))
    rows = load_file(tmp_path / "model.safetensors")["model.embed_tokens.weight"]
    assert torch.allclose(model.get_input_embeddings().weight[size], rows.mean(dim=0), atol=1e-7)
    assert torch.equal(model.get_input_embeddings().weight[:size], rows)
    trained, _ = load_policy(SMALL, str(tmp_path), None, trainable=True, seed=1)
    for name, matrix in trained.named_parameters():
        if "lora_B" in name:
            torch.nn.init.constant_(matrix, 0.01)  # one that changes nothing is refused
    weights.save(trained, tmp_path / "adapter")
    assert all("lora" in name for name in load_file(tmp_path / "adapter" / "adapter_model.safetensors"))
    again, _ = load_policy(SMALL, str(tmp_path), tmp_path / "adapter", trainable=False, seed=1)
    assert isinstance(again, PeftModel) and again.get_input_embeddings().weight.shape[0] == size + 1


def test_sft_learns_the_end_of_every_answer(shipped: Shipped, tmp_path: Path) -> None:
    """Labels of a batch whose answers differ in length: a collator that masks by the pad's id would leave none."""
    shipped(nano.TURN_END)
    model, tokenizer = load_policy(SMALL, str(tmp_path), None, trainable=True, seed=1)
    said = [Prompt(f"p{n}", "push", "Oi", "t", "own", "CC0-1.0", demonstration="um texto " * n) for n in (1, 9)]
    stage = SftStage(sft=SftTraining(batch_size=2), model=SMALL, base="", seed=1)
    job = Job("sft", {"seed": 1}, str(tmp_path), str(tmp_path), str(tmp_path), 1, deterministic=True, base="")
    (tmp_path / "system_prompts.json").write_text('{"push": "."}', encoding="utf-8")
    trainer = sft.PiecewiseSFTTrainer(
        model=model,
        args=sft._arguments(stage, tmp_path / "drafts", job),
        train_dataset=sft._dataset(said, PromptFiles(tmp_path), tokenizer),
        processing_class=tokenizer,
    )
    (batch,) = trainer.get_train_dataloader()
    learned = [[token for token in row if token != sft.IGNORED] for row in batch["labels"].tolist()]
    expected = [tokenizer.encode(f"{prompt.demonstration}<|im_end|>\n") for prompt in said]
    assert sorted(learned, key=len) == expected


@pytest.mark.parametrize("own_decoding", [True, False])
def test_lengths_and_rewards_are_those_of_the_base_with_a_pad_of_its_own(
    own_decoding: bool, shipped: Shipped, tmp_path: Path
) -> None:
    def asked(pad: str) -> list[ScoredCompletion]:
        tokenizer = AutoTokenizer.from_pretrained(tmp_path)
        tokenizer.pad_token = pad
        tokenizer.save_pretrained(tmp_path)
        model, tokenizer = load_base(SMALL, str(tmp_path))
        with torch.no_grad():
            model.get_input_embeddings().weight[2] *= 4  # so that some end before the ceiling, at different lengths
        examiner = Examiner(tokenizer, {"push": "."}, REWARDS, tmp_path, 24, LocalSampler(own_decoding))
        return examiner.answer(model, [PROMPT, replace(PROMPT, user="Um fone de ouvido bem barato.")], 8, 1.0, seed=3)

    shipped(FIRST, "<|box_end|>")
    its_end, its_own = asked(nano.TURN_END), asked(FIRST)
    assert its_end == its_own
    assert len({len(completion.tokens) for completion in its_own}) > 3
    assert {completion.tokens[-1] == 2 for completion in its_own if not completion.truncated} == {True}
