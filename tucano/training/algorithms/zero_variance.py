"""Groups whose completions all earn the same teach nothing (DAPO, arXiv 2503.14476, section 3.2, dynamic sampling).

With advantages for single fields (BAE) a field that differs teaches, whatever the sums are. Groups that teach nothing
are sampled anew from other prompts of the same task (tucano/training/rollouts/refill.py); what stays empty is left out
of the loss.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import NOISE, Algorithm, RolloutBatch


@dataclass(frozen=True)
class ZeroVariance(Algorithm):
    """Live is a group whose rewards (six decimals) differ: any component's for GDPO, else their sum, or a block's."""

    per_component: bool

    def select_groups(self, batch: RolloutBatch) -> Tensor:
        rounded = batch.rewards.round(decimals=6).nan_to_num(0.0)
        compared = rounded if self.per_component else rounded.sum(dim=1, keepdim=True)
        grouped = compared.view(-1, batch.generations, compared.shape[1])
        return (grouped.amax(dim=1) - grouped.amin(dim=1) > NOISE).any(dim=1) | self._blocks_differ(batch)

    def _blocks_differ(self, batch: RolloutBatch) -> Tensor:
        """[groups] bool."""
        values = [[block.value for block in blocks] for blocks in batch.blocks]
        groups = (values[first : first + batch.generations] for first in range(0, len(batch.tasks), batch.generations))
        found = [any(max(row) - min(row) > NOISE for row in zip(*group, strict=True)) for group in groups]
        return torch.tensor(found, device=batch.rewards.device)


def from_settings(settings: TrainerStage) -> Algorithm | None:
    return ZeroVariance(settings.grpo.advantages == "gdpo") if settings.grpo.drop_zero_variance else None
