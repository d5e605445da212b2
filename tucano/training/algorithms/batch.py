"""Group-relative advantages in units of the batch's spread (Lite PPO, arXiv 2508.08221, section 4.1)."""

from torch import Tensor
from trl.trainer.utils import nanstd

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch
from tucano.training.algorithms.group import Group

EPSILON = 1e-4
"""TRL's, so that the bits are those of its `scale_rewards="batch"`."""


class Batch(Group):
    """A_i = (r_i - mean of its group) / standard deviation of all rewards of the batch, which favours no group."""

    def advantages(self, batch: RolloutBatch) -> Tensor:
        return super().advantages(batch) / (nanstd(batch.totals().flatten()) + EPSILON)


def from_settings(settings: TrainerStage) -> Algorithm | None:
    return Batch() if settings.grpo.advantages == "batch" else None
