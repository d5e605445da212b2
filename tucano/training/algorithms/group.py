"""Group-relative advantages of the summed reward, without division by the spread (Dr. GRPO, arXiv 2503.20783, section
3.1).
"""

from torch import Tensor

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch


class Group(Algorithm):
    """A_i = r_i - mean of its group. Dividing by the group's spread would favour groups of nearly equal rewards.

    The same bits as TRL's own advantages with `scale_rewards="none"`.
    """

    def advantages(self, batch: RolloutBatch) -> Tensor:
        totals = batch.totals()
        return (totals - totals.nanmean(dim=1, keepdim=True)).flatten()


def from_settings(settings: TrainerStage) -> Algorithm | None:
    return Group() if settings.grpo.advantages == "group" else None
