"""Fresh groups for those that carried no signal: where their prompts come from, and how they enter the batch."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import torch.nn.functional as F
from torch import Tensor


class Reserve:
    """Further training prompts of each task, in an order of its own that is a function of (seed, task, lap) alone.

    How many have been taken per task is all its state. A prompt may come up here as well as in the epoch's own order.
    """

    def __init__(self, rows: Sequence[dict[str, Any]], seed: int) -> None:
        self.rows, self.seed = rows, seed
        self.by_task: dict[str, list[int]] = {}
        for index, row in enumerate(rows):
            self.by_task.setdefault(row["task"], []).append(index)
        self.taken = dict.fromkeys(self.by_task, 0)

    def state(self) -> dict[str, Any]:
        return {"taken": self.taken}

    def load(self, state: dict[str, Any]) -> None:
        self.taken = dict(state["taken"])

    def take(self, task: str) -> dict[str, Any]:
        """The next row of a task."""
        indices = self.by_task[task]
        lap, place = divmod(self.taken[task], len(indices))
        self.taken[task] += 1
        return self.rows[random.Random(f"{self.seed} {task} {lap}").sample(indices, len(indices))[place]]


def replace_rows(
    output: Mapping[str, Tensor], rows: Tensor, more: Mapping[str, Tensor], pad_token: int
) -> dict[str, Tensor]:
    """`output` of TRL's rollout with the rows [R] taken from `more`; prompts are padded on the left, completions on the
    right.
    """
    merged = dict(output)
    for name, new in more.items():
        old = output[name]
        if new.dim() == 2:
            fill, width = (pad_token if name.endswith("_ids") else 0), max(old.shape[1], new.shape[1])
            old, new = (_widened(values, width, name.startswith("prompt"), fill) for values in (old, new))
        if new.dim() > 0:
            merged[name] = old.index_copy(0, rows, new)
    return merged


def leave_out(output: Mapping[str, Tensor], kept: Tensor) -> dict[str, Tensor]:
    """`output` with only the rows `kept` [B] in the loss: in its mask, and in the number of tokens that dapo divides
    by.
    """
    mask = output["completion_mask"]
    loss_mask = kept[:, None].to(mask).expand_as(mask).clone()
    return {**output, "tool_mask": loss_mask, "num_items_in_batch": (mask * loss_mask).sum()}


def _widened(values: Tensor, width: int, left: bool, fill: int) -> Tensor:
    missing = width - values.shape[1]
    return F.pad(values, (missing, 0) if left else (0, missing), value=fill)
