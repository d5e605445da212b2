"""Soft overlong punishment: a slope towards the ceiling instead of a cliff at it (DAPO, arXiv 2503.14476, section 3.4,
eq. 13).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from tucano.settings.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch


@dataclass(frozen=True)
class Overlong(Algorithm):
    """Adds a component R(y): 0 up to L_max - L_cache tokens, then (L_max - L_cache - |y|) / L_cache, down to -1 at
    L_max; x weight.

    L_max is the ceiling of the step. The paper adds R to rewards of -1 and 1, so a weight of .5 is its strength on our
    [0, 1].
    """

    cache: int
    weight: float

    def shape_rewards(self, batch: RolloutBatch) -> RolloutBatch:
        punished = ((batch.ceiling - self.cache - batch.lengths) / self.cache).clamp(-1, 0) * self.weight
        return replace(
            batch,
            rewards=torch.cat((batch.rewards, punished.to(batch.rewards)[:, None]), dim=1),
            components=(*batch.components, "overlong"),
            weights=torch.cat((batch.weights, batch.weights.new_tensor([self.weight]))),
        )


def from_settings(settings: TrainerStage, components: Sequence[str]) -> Algorithm | None:
    return (
        Overlong(settings.grpo.overlong_tokens, settings.grpo.overlong_weight)
        if settings.grpo.overlong_tokens
        else None
    )
