"""What one generation produced, as one value: TRL's tensors, what the completions earned, and what was sampled for it.

Groups without a signal are replaced by fresh ones (tucano/training/rollouts/refill.py); what was sampled and thrown
away still counts in the metrics.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from tucano.training.algorithms import RolloutBatch

LEFT_PAD = "max_left_pad"
"""Unsloth's: the most padding before a prompt of the batch, [B, 1], all alike, on the CPU wherever the rest is."""
SAME = 1e-6
"""Rewards of a group that spread less than this are equal."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """The B completions of one generation, groups of G side by side.

    tensors: TRL's, by its names: ids and masks of prompts and completions, [B, tokens] each, and what it computes of
    them. batch: their rewards, as the algorithms have shaped them. tasks, totals: the task of every group that was
    sampled, also of those that were replaced, and its total rewards before that, each in [0, 1], [groups, G]. highest:
    the largest sum of a sampled completion's components.
    """

    tensors: dict[str, Tensor]
    batch: RolloutBatch
    tasks: tuple[str, ...]
    totals: Tensor
    highest: float

    def refilled(self, rows: Tensor, fresh: "Rollout", pad_token: int) -> "Rollout":
        """This rollout with `rows` [R] replaced by the R completions of `fresh`, which are of the same tasks."""
        tensors = replace_rows(self.tensors, rows, fresh.tensors, pad_token)
        tensors["num_items_in_batch"] = tensors["completion_mask"].sum()
        rewards = self.batch.rewards.index_copy(0, rows, fresh.batch.rewards)
        lengths = self.batch.lengths.index_copy(0, rows, fresh.batch.lengths)
        blocks = list(self.batch.blocks)
        for row, other in zip(rows.tolist(), fresh.batch.blocks, strict=False):  # there are none where nobody asks
            blocks[row] = other
        thoughts = self.batch.thoughts.index_copy(0, rows, fresh.batch.thoughts)
        return Rollout(
            tensors,
            replace(self.batch, rewards=rewards, lengths=lengths, blocks=tuple(blocks), thoughts=thoughts),
            (*self.tasks, *fresh.tasks),
            torch.cat((self.totals, fresh.totals)),
            max(self.highest, fresh.highest),
        )

    def task_means(self) -> dict[str, float]:
        """Mean total reward of each task over all that was sampled."""
        return {task: self._totals_of(task).mean().item() for task in sorted(set(self.tasks))}

    def metrics(self) -> dict[str, float]:
        """Rewards of all that was sampled, and per task the share of groups whose completions all earned the same."""
        means = self.task_means()
        return {
            "reward/highest": self.highest,
            "groups/sampled": len(self.tasks),
            "reward/total": self.totals.mean().item(),
            **{f"reward/{task}": mean for task, mean in means.items()},
            **{f"zero_variance/{task}": self._zero_variance(task) for task in means},
            **self._thinking(),
        }

    def _thinking(self) -> dict[str, float]:
        """Mean tokens of the thoughts that are trained on, where tasks are answered after one."""
        thoughts = self.batch.thoughts[~self.batch.thoughts.isnan()]
        return {"think_tokens": thoughts.mean().item()} if len(thoughts) else {}

    def _zero_variance(self, task: str) -> float:
        return (self._totals_of(task).std(dim=1) < SAME).float().mean().item()

    def _totals_of(self, task: str) -> Tensor:
        return self.totals[[index for index, other in enumerate(self.tasks) if other == task]]


def replace_rows(
    output: Mapping[str, Tensor], rows: Tensor, more: Mapping[str, Tensor], pad_token: int
) -> dict[str, Tensor]:
    """TRL's `output` with rows [R] from `more`; prompts are padded on the left, completions on the right."""
    merged = dict(output)
    for name, new in more.items():
        old = output[name]
        if name == LEFT_PAD:
            continue
        if new.dim() == 2:
            fill, width = (pad_token if name.endswith("_ids") else 0), max(old.shape[1], new.shape[1])
            old, new = (_widened(values, width, name.startswith("prompt"), fill) for values in (old, new))
        if new.dim() > 0:
            merged[name] = old.index_copy(0, rows, new)
    if LEFT_PAD in output:
        padding = (merged["prompt_mask"] == 0).sum(dim=1)
        merged[LEFT_PAD] = padding.max().to(output[LEFT_PAD]).expand_as(output[LEFT_PAD])
    return merged


def leave_out(output: Mapping[str, Tensor], kept: Tensor) -> dict[str, Tensor]:
    """TRL's tensors with only the rows `kept` [B] in the loss: in its mask, and in dapo's number of tokens."""
    mask = output["completion_mask"]
    loss_mask = kept.unsqueeze(1).to(mask).expand_as(mask).clone()
    return {**output, "tool_mask": loss_mask, "num_items_in_batch": (mask * loss_mask).sum()}


def _widened(values: Tensor, width: int, left: bool, fill: int) -> Tensor:
    missing = width - values.shape[1]
    return F.pad(values, (missing, 0) if left else (0, missing), value=fill)
