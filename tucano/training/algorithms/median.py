"""MC-GRPO: the group's median as baseline, which one outlier does not move (arXiv 2601.22582).

With an odd group, the paper's G + 1, the completion in the middle is the pivot: its advantage is 0. What was left out:
the paper's code divides by the median absolute deviation + .001, which multiplies by a thousand where most rewards of a
group are equal; here nothing is divided. The pivot stays in the batch instead of being dropped: it costs time and has
no effect on the policy's gradient.
"""

from torch import Tensor

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch


class Median(Algorithm):
    """A_i = r_i - median of its group; the mean of the two in the middle where the group is even."""

    def advantages(self, batch: RolloutBatch) -> Tensor:
        totals = batch.totals()
        ranked = totals.sort(dim=1).values
        middle = (ranked[:, (batch.generations - 1) // 2] + ranked[:, batch.generations // 2]) / 2
        return (totals - middle[:, None]).flatten()


def from_settings(settings: TrainerStage) -> Algorithm | None:
    return Median() if settings.grpo.advantages == "median" else None
