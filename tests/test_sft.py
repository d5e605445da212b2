"""SFT on a CPU goes through a batch in pieces of about one length (tucano/training/sft.py)."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from datasets import Dataset
from test_chat_templates import ALWAYS
from transformers import Qwen3Config, Qwen3ForCausalLM, TrainerState
from trl import SFTConfig, SFTTrainer

from tucano.chat_templates import KNOWN
from tucano.errors import UserError
from tucano.settings.model import NanoModel
from tucano.training import sft
from tucano.training.policies.chat import encode_chats
from tucano.training.policies.nano import build_tokenizer
from tucano.training.sft import PiecewiseSFTTrainer, ResumableSFTTrainer, by_length, tokens_shown

LENGTHS = (5, 40, 9, 33, 12, 7)
TOKENIZER = build_tokenizer(["um texto de poucas palavras"], NanoModel(nano_vocabulary=300))


@pytest.mark.parametrize("template", [ALWAYS, *KNOWN.values()])
def test_an_answer_is_learned_behind_the_tokens_that_it_is_asked_with(template: str) -> None:
    """Where the prompt's tokens begin those of the whole chat, these are it, as TRL has them."""
    tokenizer = build_tokenizer(["linha\n\nlinha"] * 9, NanoModel(nano_vocabulary=300), thinking=True)
    tokenizer.chat_template = template
    asked = [{"role": "system", "content": "S"}, {"role": "user", "content": "P"}]
    said = [{"role": "assistant", "content": "Leve hoje!"}]
    (prompt,) = encode_chats(tokenizer, [asked])
    tokens, opened = tokens_shown(tokenizer, asked, said, prompt)
    whole = tokenizer.apply_chat_template([*asked, *said], return_dict=False)
    assert tokens[:opened] == prompt and tokenizer.decode(tokens) == tokenizer.decode(whole)
    assert (tokens == whole) == (template != ALWAYS), "two line ends are one token"


def test_a_piece_has_only_the_padding_that_it_needs_and_no_row_is_lost() -> None:
    mask = torch.zeros(6, 40, dtype=torch.long)
    for row, length in enumerate(LENGTHS):
        mask[row, :length] = 1
    tokens = mask * torch.arange(1, 7)[:, None]
    pieces = by_length({"input_ids": tokens, "attention_mask": mask}, 2)
    assert [piece["input_ids"].shape for piece in pieces] == [(3, 9), (3, 40)]
    assert [piece["input_ids"][:, 0].tolist() for piece in pieces] == [[1, 6, 3], [5, 4, 2]]
    assert sum(int(piece["attention_mask"].sum()) for piece in pieces) == sum(LENGTHS)
    assert by_length({"input_ids": tokens, "attention_mask": mask}, 1)[0]["input_ids"].shape == (6, 40)


@pytest.mark.parametrize("pieces", [1, 2, 3, 6])
def test_pieces_have_the_loss_and_gradient_of_trl(pieces: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second judge is TRL's own step over the whole batch."""
    monkeypatch.setattr(sft, "PIECES_ON_CPU", pieces)
    (told, weights), (expected_told, expected) = step(PiecewiseSFTTrainer, tmp_path), step(SFTTrainer, tmp_path)
    assert told == pytest.approx(expected_told, rel=1e-6)
    assert torch.allclose(weights, expected, atol=1e-6) and not torch.allclose(weights, torch.zeros(()), atol=1e-3)


def step(kind: type[SFTTrainer], folder: Path) -> tuple[dict[str, float], torch.Tensor]:
    """What is logged of one step of plain gradient descent, and how far it moved the weights."""
    torch.manual_seed(3)
    shape = {"vocab_size": 60, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "head_dim": 8}
    model = Qwen3ForCausalLM(Qwen3Config(**shape, num_attention_heads=2, num_key_value_heads=1))
    before = torch.cat([weight.detach().flatten().clone() for weight in model.parameters()])
    rows = [
        {
            "input_ids": [1 + (row * 7 + place) % 59 if row % 2 else 1 + row for place in range(length)],
            "completion_mask": [0] * 3 + [1] * (length - 3),
        }
        for row, length in enumerate(LENGTHS)
    ]
    arguments = SFTConfig(
        str(folder), max_steps=1, per_device_train_batch_size=6, learning_rate=0.1, optim="sgd", lr_scheduler_type="constant",
        use_cpu=True, bf16=False, gradient_checkpointing=False, max_grad_norm=0.0, logging_steps=1, report_to=[],
        save_strategy="no", disable_tqdm=True,
    )  # fmt: skip
    trainer = kind(model=model, args=arguments, train_dataset=Dataset.from_list(rows), processing_class=TOKENIZER)
    trainer.train()
    after = torch.cat([weight.detach().flatten() for weight in model.parameters()])
    return {name: trainer.state.log_history[0][name] for name in ("loss", "mean_token_accuracy")}, after - before


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_ends_the_training_with_its_cause(loss: float) -> None:
    trainer: Any = ResumableSFTTrainer.__new__(ResumableSFTTrainer)
    trainer.state, trainer.args = TrainerState(global_step=7), SimpleNamespace(learning_rate=0.5)
    trainer.evaluate = lambda: {"eval_loss": loss}
    with pytest.raises(UserError, match=rf"loss of step 7 is {loss}.*lower learning_rate=0\.5"):
        trainer.look()
    trainer.require_number(9e9)
