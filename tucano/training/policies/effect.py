"""Whether an adapter does, where it is loaded, what it did where it was trained.

What a live model holds is held against its file, bit by bit (weights.py). A file may be wrong itself: matrices that a
converter has exchanged, or for another base. So whoever saves an adapter writes beside it how the live model changed
the log-probabilities of a few fixed texts, and whoever loads it measures that anew.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor

from tucano.artifacts.records import parsed
from tucano.errors import UserError
from tucano.security.printable import short
from tucano.training.policies.likelihood import token_logps

FILE = "effect.json"
TEXTS, TOKENS = 4, 32
LEAST = {torch.float32: 1e-3}
LEAST_ROUNDED = 0.02
"""Nats per token that an adapter changes at least where this can tell anything: below, rounding changes as much."""
SHARE = 0.5
"""The same change in another precision differs by a part of itself, another one by all of it and more."""


Texts = list[list[int]]
"""Token ids that mean nothing, which any model reads."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Log-probabilities (nats) of all tokens of the texts but their first, with an adapter and without."""

    texts: Texts
    with_adapter: list[float]
    without: list[float]

    def write(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")


@torch.no_grad()
def of(policy: PeftModel, texts: Texts | None = None) -> Effect:
    """What the adapter that speaks changes now; the model is left as it was."""
    if texts is None:
        rows = policy.get_input_embeddings().weight.shape[0]
        texts = torch.randint(rows, (TEXTS, TOKENS), generator=torch.Generator().manual_seed(1)).tolist()
    was_training = policy.training
    policy.eval()
    with_adapter = logps(policy, texts)
    with policy.disable_adapter():
        without = logps(policy, texts)
    policy.train(was_training)
    return Effect(texts, with_adapter, without)


def require(model: Any, folder: Path, trainable: bool = False) -> None:
    """UserError where what was loaded from `folder`, an adapter or a model with one merged into it, changes other
    things than when it was saved. Without the file, where an adapter that is to answer changes nothing; one that is to
    be trained need not yet.
    """
    if (folder / FILE).is_file():
        _require_as_saved(model, folder)
    elif isinstance(model, PeftModel) and not trainable:
        found = of(model)
        _require_numbers(found.with_adapter, folder)
        if found.with_adapter == found.without:
            raise UserError(
                f"{folder} changes nothing: what is loaded answers like its base (its A, its B or its lora_alpha is"
                " zero); take the adapter as it was trained"
            )


def _require_as_saved(model: Any, folder: Path) -> None:
    held = _read(folder / FILE, model.get_input_embeddings().weight.shape[0])
    saved, base = torch.tensor(held.with_adapter), torch.tensor(held.without)
    if isinstance(model, PeftModel):
        found = of(model, held.texts)  # where the base is loaded in another precision, both have changed
        now = torch.tensor(found.with_adapter) - torch.tensor(found.without) + base
    else:
        now = torch.tensor(logps(model, held.texts))
    _require_numbers(now.tolist(), folder)
    if not follows(now, saved, base, LEAST.get(model.dtype, LEAST_ROUNDED)):
        raise UserError(
            f"{folder} does not change its base as it did when it was trained: {_mean(now - saved):.2g} nats per token"
            f" from that, of the {_mean(saved - base):.2g} that it changed. It was converted wrongly, or belongs to"
            " another base; take the adapter as it was trained"
        )


def _read(file: Path, tokens: int) -> Effect:
    try:
        held = parsed(Effect, json.loads(file.read_text(encoding="utf-8")))
        if not held.texts or not all(len(text) > 1 and 0 <= min(text) <= max(text) < tokens for text in held.texts):
            raise ValueError(f"its texts are none of a model with {tokens} tokens")
        if not len(held.with_adapter) == len(held.without) == sum(len(text) - 1 for text in held.texts):
            raise ValueError("it has not one number for each token")
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"{file} is damaged ({short(str(error))}); take the whole folder as it was when training ended"
        ) from error
    return held


def follows(found: Tensor, trained: Tensor, base: Tensor, least: float, slack: float = 0.0) -> bool:
    """Whether log-probabilities are those of the trained model rather than of its base, or of another change of it.
    True where both are nearer to each other than `least`: then nobody can tell. slack: nats that rounding may make.
    """
    if _mean(trained - base) < least:
        return True
    return _mean(found - trained) - slack <= SHARE * _mean(found - base)


def _require_numbers(found: list[float], folder: Path) -> None:
    """By itself, as no comparison with NaN says anything."""
    if not all(map(math.isfinite, found)):
        raise UserError(
            f"{folder} gives no numbers: log-probabilities are NaN or infinite, so its weights are damaged; take the"
            " adapter as it was trained"
        )


def logps(model: Any, texts: Texts) -> list[float]:
    found: list[float] = torch.cat(
        token_logps(model, [text[:1] for text in texts], [text[1:] for text in texts])
    ).tolist()
    return found


def _mean(difference: Tensor) -> float:
    return difference.abs().mean().item()
