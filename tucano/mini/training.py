"""The recipe of mini: one pass over its material, on a CPU, in order; it goes on where it was interrupted.

The loss is that of the answers' tokens. Matrix products are computed in bfloat16 (autocast), weights and optimiser are
float32; the finished weights are rounded to bfloat16.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from tucano.mini.material import Example
from tucano.settings.model import NanoModel
from tucano.training.policies.nano import build_model, build_tokenizer

SEED = 7
SHOWN_TO_TOKENIZER = 30_000
BETAS = (0.9, 0.98)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Sizes, and how the weights are found. `examples`: generated ones; `batch`: examples a step; `gathered`: batches
    whose examples are sorted by length among each other, so that little is padded.
    """

    hidden: int = 256
    layers: int = 4
    vocabulary: int = 4096
    longest_tokens: int = 640
    examples: int = 190_000
    batch: int = 16
    gathered: int = 80
    learning_rate: float = 0.003
    warmup_steps: int = 200
    weight_decay: float = 0.1
    save_steps: int = 250

    @property
    def shape(self) -> NanoModel:
        return NanoModel(
            nano_hidden=self.hidden,
            nano_layers=self.layers,
            nano_vocabulary=self.vocabulary,
            max_length_tokens=1024,
        )


Encoded = tuple["array[int]", int]
"""The tokens of a prompt and its answer, and how many of them are the prompt's."""


def train(examples: Sequence[Example], recipe: Recipe, work: Path, told: Callable[[str], None]) -> Path:
    """Make the model in `work/model`, the folder that is returned; what was interrupted goes on from its last
    checkpoint in `work`.
    """
    tokenizer = _tokenizer(examples, recipe, work / "tokenizer")
    encoded = [_encoded(tokenizer, example) for example in examples]
    batches = [*_batches([one for one in encoded if len(one[0]) <= recipe.longest_tokens], recipe)]
    model = build_model(tokenizer, recipe.shape, SEED)
    optimizer = torch.optim.AdamW(_groups(model, recipe), lr=recipe.learning_rate, betas=BETAS)
    done = _resume(work / "checkpoint.pt", model, optimizer)
    model.train()
    for step in range(done, len(batches)):
        for group in optimizer.param_groups:
            group["lr"] = recipe.learning_rate * pace(step, len(batches), recipe.warmup_steps)
        loss = _step(model, optimizer, batches[step], tokenizer.pad_token_id)
        if (step + 1) % recipe.save_steps == 0 or step + 1 == len(batches):
            _save(work / "checkpoint.pt", model, optimizer, step + 1)
            told(f"step {step + 1}/{len(batches)}   loss {loss:.4f}")
    made = work / "model"
    model.to(torch.bfloat16).save_pretrained(made)
    tokenizer.save_pretrained(made)
    return made


def pace(step: int, steps: int, warmup: int) -> float:
    """The share of the learning rate: it rises in a line, and falls in one to zero."""
    return min((step + 1) / warmup, (steps - step) / max(1, steps - warmup))


def _tokenizer(examples: Sequence[Example], recipe: Recipe, folder: Path) -> PreTrainedTokenizerFast:
    if not (folder / "tokenizer.json").exists():
        systems = sorted({example.system for example in examples})
        shown = [text for one in examples[:SHOWN_TO_TOKENIZER] for text in (one.user, one.answer)]
        build_tokenizer([*systems, *shown], recipe.shape).save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    assert isinstance(tokenizer, PreTrainedTokenizerFast)
    return tokenizer


def _encoded(tokenizer: PreTrainedTokenizerFast, example: Example) -> Encoded:
    asked = [{"role": "system", "content": example.system}] if example.system else []
    asked.append({"role": "user", "content": example.user})
    prompt = tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)
    given = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    answer = tokenizer(example.answer, add_special_tokens=False)["input_ids"]
    return array("H", [*given, *answer, tokenizer.eos_token_id]), len(given)


def _batches(encoded: Sequence[Encoded], recipe: Recipe) -> Iterator[list[Encoded]]:
    size = recipe.batch * recipe.gathered
    for start in range(0, len(encoded), size):
        by_length = sorted(encoded[start : start + size], key=lambda one: len(one[0]))
        batches = [by_length[at : at + recipe.batch] for at in range(0, len(by_length), recipe.batch)]
        Random(f"{SEED}/{start}").shuffle(batches)
        yield from batches


def _groups(model: Qwen3ForCausalLM, recipe: Recipe) -> list[dict[str, Any]]:
    """Matrices decay; norms do not."""
    wide = [weights for weights in model.parameters() if weights.dim() > 1]
    narrow = [weights for weights in model.parameters() if weights.dim() == 1]
    return [{"params": wide, "weight_decay": recipe.weight_decay}, {"params": narrow, "weight_decay": 0.0}]


def _step(model: Qwen3ForCausalLM, optimizer: torch.optim.Optimizer, batch: list[Encoded], pad: int) -> float:
    loss = answer_loss(model, batch, pad)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return float(loss.detach())


def answer_loss(model: Qwen3ForCausalLM, batch: list[Encoded], pad: int) -> Tensor:
    """Cross-entropy in nats per token of the answers, their end included. Only their rows meet the vocabulary."""
    longest = max(len(tokens) for tokens, _ in batch)
    ids = torch.full((len(batch), longest), pad)
    learned = torch.zeros((len(batch), longest), dtype=torch.bool)
    for row, (tokens, given) in enumerate(batch):
        ids[row, : len(tokens)] = torch.tensor(tokens.tolist())
        learned[row, given - 1 : len(tokens) - 1] = True
    targets = ids.roll(-1, 1)[learned]
    with torch.autocast("cpu", torch.bfloat16):
        hidden = model.model(input_ids=ids).last_hidden_state  # padding is on the right, behind what is read
        logits = model.lm_head(hidden[learned])
    return cross_entropy(logits.float(), targets)


def _resume(checkpoint: Path, model: Qwen3ForCausalLM, optimizer: torch.optim.Optimizer) -> int:
    """The steps that are done."""
    if not checkpoint.exists():
        return 0
    state = torch.load(checkpoint, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["step"])


def _save(checkpoint: Path, model: Qwen3ForCausalLM, optimizer: torch.optim.Optimizer, step: int) -> None:
    draft = checkpoint.with_suffix(".draft")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, draft)
    draft.replace(checkpoint)
