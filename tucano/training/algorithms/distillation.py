"""On-policy distillation: a teacher says of every token that the student drew how likely it finds it (GKD, arXiv
2306.13649, section 3, reverse KL on the student's own answers; Thinking Machines 2025, On-Policy Distillation).

The gap of a token is a sample of the negative reverse KL to the teacher there. It is the advantage as it is: no
baseline, and no later token's gap is counted back to an earlier one.

What was left out: GKD's gradient through the whole distribution of a token, which takes all the teacher's
log-probabilities.
"""

from dataclasses import dataclass

from torch import Tensor

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch


@dataclass(frozen=True)
class Distillation(Algorithm):
    """[B, T]: reward_weight x the advantage so far + weight x (log p_teacher - log p_student) of the token, in nats."""

    weight: float
    reward_weight: float

    def advantages(self, batch: RolloutBatch) -> Tensor:
        gaps = batch.gaps()[:, : int(batch.lengths.max())].to(batch.advantages)
        earned = batch.advantages if batch.advantages.dim() == 2 else batch.advantages[:, None]
        return self.reward_weight * earned + self.weight * gaps


def from_settings(settings: TrainerStage) -> Algorithm | None:
    teacher = settings.grpo.teacher
    return Distillation(teacher.weight, teacher.reward_weight) if teacher else None
