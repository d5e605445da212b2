"""Log-probabilities of completions when several belong to one prompt: the prompt is read once, with gradients.

In GRPO a group of completions shares its prompt, and a small model's prompts are longer than its answers. Reading each
distinct prompt once and letting its keys and values be shared is the same computation with less than half of the
tokens; autograd adds up what the completions send back. Equal to reading every row whole, up to float rounding
(tests/test_likelihood.py).
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from trl.trainer.utils import selective_log_softmax, selective_log_softmax_and_entropy

Ids = Sequence[Sequence[int]]
"""Tokens of prompts, or of completions."""
ROWS = 32
"""Sequences that are measured at a time, at most."""
MOST_LOGITS = 2**27
"""Entries of the logits that measuring may hold: half a gigabyte in float32, and its copies."""
PARTS = 4
"""A batch is read in this many parts with prompts of similar length, so that little padding is computed."""


def completion_logps(
    model: Any, ids: Tensor, mask: Tensor, length: int, temperature: float, entropy_gradient: bool
) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy of each completion token, both [B, length]; 0 where `mask` is 0.

    ids, mask: [B, S] prompts padded on the left, completions of at most `length` tokens padded on the right.
    """
    prompts, prompt_mask = ids[:, :-length], mask[:, :-length]
    completions, completion_mask = ids[:, -length:], mask[:, -length:]
    order = (prompt_mask.sum(dim=1) * ids.shape[1] + completion_mask.sum(dim=1)).argsort(stable=True)
    logps: list[Tensor] = []
    entropies: list[Tensor] = []
    for rows in order.tensor_split(min(PARTS, len(order))):
        first = int(prompt_mask[rows].any(dim=0).int().argmax())
        end = max(1, int(completion_mask[rows].sum(dim=1).max()))
        logits = _logits(
            model,
            prompts[rows, first:],
            prompt_mask[rows, first:],
            completions[rows, :end],
            completion_mask[rows, :end],
        )
        seen = completion_mask[rows, :end]
        part = selective_log_softmax_and_entropy(
            logits, completions[rows, :end], entropy_gradient, temperature, row_mask=seen
        )
        for column, values in zip((logps, entropies), part, strict=True):
            column.append(F.pad(values, (0, length - end)))
    back = order.argsort()
    return torch.cat(logps)[back], torch.cat(entropies)[back]


@torch.no_grad()
def token_logps(model: Any, prompt_ids: Ids, completion_ids: Ids) -> list[Tensor]:
    """Log-probability of each completion token (nats, at temperature 1), one CPU vector per pair; for measuring, on any
    device, and in the precision that the model has without a trainer. On a CPU a prompt with several completions is
    read once.
    """
    longest = max((len(p) + len(c) for p, c in zip(prompt_ids, completion_ids, strict=True)), default=1)
    at_once = max(1, min(ROWS, MOST_LOGITS // (longest * model.config.vocab_size)))
    rows_of: dict[tuple[int, ...], list[int]] = {}
    for row, prompt in enumerate(prompt_ids):
        if completion_ids[row]:
            rows_of.setdefault(tuple(prompt), []).append(row)
    shared = [rows for rows in rows_of.values() if len(rows) > 1 and model.device.type == "cpu"]
    alone = sorted(set(chain.from_iterable(rows_of.values())) - set(chain.from_iterable(shared)))
    found = [torch.zeros(0)] * len(prompt_ids)
    for read, together in [*((_after, rows) for rows in shared), (_whole, alone)]:
        for start in range(0, len(together), at_once):
            rows = together[start : start + at_once]
            logps = read(model, [prompt_ids[row] for row in rows], [completion_ids[row] for row in rows])
            for row, values in zip(rows, logps, strict=True):
                found[row] = values
    return found


def _after(model: Any, prompts: Ids, completions: Ids) -> list[Tensor]:
    """Of completions of one prompt."""
    ids, mask = _padded(completions)
    prompt = torch.tensor([*prompts])
    logps = selective_log_softmax(_logits(_unprepared(model), prompt, torch.ones_like(prompt), ids, mask).float(), ids)
    return [row[: len(completion)] for row, completion in zip(logps, completions, strict=True)]


def _whole(model: Any, prompts: Ids, completions: Ids) -> list[Tensor]:
    """Of completions of any prompts, which are read with them."""
    ids, mask = _padded([[*prompt, *completion] for prompt, completion in zip(prompts, completions, strict=True)])
    there = ids.to(model.device)
    logits = _unprepared(model)(input_ids=there, attention_mask=mask.to(model.device)).logits[:, :-1].float()
    logps = selective_log_softmax(logits, there[:, 1:]).cpu()  # [rows, L-1]
    return [
        row[len(prompt) - 1 : len(prompt) - 1 + len(completion)]
        for row, prompt, completion in zip(logps, prompts, completions, strict=True)
    ]


def _unprepared(model: Any) -> Any:
    """The model's own forward pass. In a 16-bit training accelerate wraps it in autocast at the first step, and a look
    is also taken before: at the start, and again where a signal cut it off.
    """
    return vars(model).get("_original_forward", model)  # its own: getattr of an adapter asks the model inside as well


def _padded(sequences: Ids) -> tuple[Tensor, Tensor]:
    """Tokens and where they are, both [rows, longest], padded on the right."""
    rows = [torch.tensor(sequence) for sequence in sequences]
    return pad_sequence(rows, batch_first=True), pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)


def _logits(model: Any, prompts: Tensor, prompt_mask: Tensor, completions: Tensor, completion_mask: Tensor) -> Tensor:
    """[R, T, V] logits of completions [R, T] after prompts [R, P], without common padding."""
    distinct, row_of = torch.unique(torch.where(prompt_mask.bool(), prompts, -1), dim=0, return_inverse=True)
    real = (distinct >= 0).long()
    read = model(input_ids=distinct.clamp(min=0), attention_mask=real, use_cache=True, logits_to_keep=1)
    read.past_key_values.batch_select_indices(row_of)
    whole_mask = torch.cat((real[row_of], completion_mask), dim=1)
    answered = model(
        input_ids=completions, attention_mask=whole_mask, past_key_values=read.past_key_values, use_cache=True
    )
    return torch.cat((read.logits[row_of], answered.logits[:, :-1]), dim=1)  # each token is predicted one place before
