"""Conditional rewards: an easy component counts only once a harder one is reached (GDPO, arXiv 2601.05242, eq. 8)."""

from dataclasses import dataclass, replace

from tucano.settings.training.grpo import Condition, TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch


@dataclass(frozen=True)
class Conditional(Algorithm):
    """r_k <- r_k if r_l >= t else 0, with r_l on its own scale (contribution / weight); all conditions read the rewards
    as scored. Where each task has an adapter of its own, those of this one's tasks.
    """

    conditions: tuple[Condition, ...]

    def shape_rewards(self, batch: RolloutBatch) -> RolloutBatch:
        shares, shaped = (batch.rewards / batch.weights).round(decimals=6), batch.rewards.clone()
        for condition in self.conditions:
            if condition.component not in batch.components:
                continue
            counted, needed = batch.components.index(condition.component), batch.components.index(condition.needs)
            missed = shares[:, needed] < condition.at_least  # false for NaN: another task's completion
            shaped[missed, counted] = 0.0
        return replace(batch, rewards=shaped)


def from_settings(settings: TrainerStage) -> Algorithm | None:
    return Conditional(settings.grpo.conditions) if settings.grpo.conditions else None
