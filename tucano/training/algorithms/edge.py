"""Advantages that confident answers carry and hesitant ones do not (EDGE-GRPO, arXiv 2507.21848, entropy-driven
advantage).

Where a group's answers earn nearly the same, all their advantages are near 0. Divided by how unsure the policy was of
each, they come apart again: a right answer that was certain gains, and so does the punishment of a certain wrong one.

What was left out: guided error correction, which puts reference answers among the sampled ones. Training prompts carry
no good answer, and none that the policy has not drawn has an honest importance ratio: it would be SFT within GRPO.
"""

from dataclasses import dataclass

from torch import Tensor

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch

MOST = 4.0
"""An advantage grows, or shrinks, by this factor at most: the entropy of a text known by heart is nearly 0."""


@dataclass(frozen=True)
class Edge(Algorithm):
    """A_i mean(H) / H_i, where H_i is the mean entropy (nats) per token of completion i and the mean is its group's."""

    def advantages(self, batch: RolloutBatch) -> Tensor:
        entropies = batch.entropies().to(batch.advantages).view(-1, batch.generations).clamp(min=0)
        means = entropies.mean(dim=1, keepdim=True)
        tiny = 1e-12
        factors = (means + tiny) / (entropies + tiny)
        return batch.weighed(factors.clamp(1 / MOST, MOST).flatten())


def from_settings(settings: TrainerStage) -> Algorithm | None:
    return Edge() if settings.grpo.entropy_advantages else None
