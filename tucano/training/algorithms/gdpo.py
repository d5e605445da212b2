"""GDPO: each reward component normalised within its group before they are added (arXiv 2601.05242, section 3.1, eq.
5-7).

Adding first and normalising then maps different answers to the same advantage: right format with wrong content and
wrong format with right content both earn 1 of 2. Three things differ from TRL's `normalize_then_sum`, each for a
measured reason: the spread has a floor (float noise of 6e-8 in a group would otherwise become an advantage of 1.2),
tasks weigh 1/sqrt(K) (else a task with more components dominates the batch), and only live groups enter the batch's
spread (else groups without signal shrink it and inflate the rest).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch


@dataclass(frozen=True)
class Gdpo(Algorithm):
    """A_i = batch-normalised sum over components k of w_k (r_ik - mean_group) / max(std_group, floor), over sqrt(K).

    r_ik is the component on its own scale (contribution / weight) and w_k its weight as a share of the task's largest.
    """

    std_floor: float

    def advantages(self, batch: RolloutBatch) -> Tensor:
        scaled = (batch.rewards.round(decimals=6) / batch.weights).view(
            -1, batch.generations, batch.weights.numel()
        )  # [groups, G, K]
        present = ~torch.isnan(scaled[:, :1])  # [groups, 1, K]
        scaled = scaled.nan_to_num(0.0)
        spread = scaled.std(dim=1, keepdim=True, correction=0)
        normal = (scaled - scaled.mean(dim=1, keepdim=True)) / spread.clamp(min=self.std_floor)
        share = batch.weights / (batch.weights * present).amax(dim=2, keepdim=True)
        summed = (normal * share * present).sum(dim=2) / present.sum(dim=2).clamp(min=1).sqrt()  # [groups, G]
        live = (spread * present > 1e-6).any(dim=2).squeeze(1)  # [groups]
        if not live.any():
            return torch.zeros_like(summed).flatten()
        return (summed / summed[live].std(correction=0).clamp(min=1e-4) * live[:, None]).flatten()


def from_settings(settings: TrainerStage) -> Algorithm | None:
    return Gdpo(settings.grpo.std_floor) if settings.grpo.advantages == "gdpo" else None
