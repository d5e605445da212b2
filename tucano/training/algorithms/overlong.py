"""Soft overlong punishment: a slope towards the ceiling instead of a cliff at it (DAPO, arXiv 2503.14476, section 3.4,
eq. 13).
"""

from dataclasses import dataclass

from tucano.settings.training.grpo import TrainerStage
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
        return batch.with_component("overlong", punished, self.weight)


def from_settings(settings: TrainerStage) -> Algorithm | None:
    grpo = settings.grpo
    return Overlong(grpo.overlong_tokens, grpo.overlong_weight) if grpo.overlong_tokens else None
