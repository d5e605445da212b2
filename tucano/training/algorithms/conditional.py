"""Conditional rewards: an easy component counts only once a harder one is reached (GDPO, arXiv 2601.05242, eq. 8)."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tucano.errors import UserError
from tucano.settings import Condition, PipelineSettings
from tucano.training.algorithms import Algorithm, RolloutBatch


@dataclass(frozen=True)
class Conditional(Algorithm):
    """r_k <- r_k if r_l >= t else 0, with r_l on its own scale (contribution / weight); all conditions read the rewards as scored."""

    conditions: tuple[Condition, ...]

    def shape_rewards(self, batch: RolloutBatch) -> RolloutBatch:
        shares, shaped = (batch.rewards / batch.weights).round(decimals=6), batch.rewards.clone()
        for condition in self.conditions:
            counted, needed = batch.components.index(condition.component), batch.components.index(condition.needs)
            missed = shares[:, needed] < condition.at_least  # false for NaN: another task's completion
            shaped[missed, counted] = 0.0
        return replace(batch, rewards=shaped)


def from_settings(settings: PipelineSettings, components: Sequence[str]) -> Algorithm | None:
    """Raises UserError for a component that the reward set does not have, or two of different tasks."""
    for condition in settings.grpo.conditions:
        for name in (condition.component, condition.needs):
            if name not in components:
                near = difflib.get_close_matches(name, components, n=1, cutoff=0) or ["none"]
                raise UserError(f"grpo.conditions names {name!r}, which {settings.grpo.rewards} does not have; the nearest is {near[0]!r}")
        if condition.component.partition(".")[0] != condition.needs.partition(".")[0]:
            raise UserError(f"grpo.conditions joins {condition.component} with {condition.needs}: no completion has both, choose one task")
    return Conditional(settings.grpo.conditions) if settings.grpo.conditions else None
