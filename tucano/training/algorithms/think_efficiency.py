"""Thinking that pays: an answer earns more the fewer tokens were thought before it; a bad one earns nothing by that.

After length control by reinforcement learning (L1, arXiv 2503.04697; Kimi k1.5, arXiv 2501.12599, section 2.3.3). There
a term for length is added; here it multiplies what the answer earned, so that a bad answer gains little by a short
thought. A small gain in the answer may still be worth less than the thought it takes; and with `grpo.advantages=gdpo`
the term is standardised by itself, which makes it as strong as any other component whatever its weight.
"""

from dataclasses import dataclass

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch


@dataclass(frozen=True)
class ThinkEfficiency(Algorithm):
    """Adds a component weight x r x (1 - n / most), where r is the sum of the other components, at least 0, and n the
    tokens of the thought; from `most` on it is 0. NaN for tasks that are answered without a thought.
    """

    weight: float
    most: int

    def shape_rewards(self, batch: RolloutBatch) -> RolloutBatch:
        earned = batch.rewards.nansum(dim=1).clamp(min=0)
        paid = self.weight * earned * (1 - batch.thoughts.to(earned) / self.most).clamp(min=0)
        return batch.with_component("think_efficiency", paid, self.weight)


def from_settings(settings: TrainerStage) -> Algorithm | None:
    grpo = settings.grpo
    if not grpo.think_weight:
        return None
    assert grpo.max_think_tokens is not None, "settings without a limit are refused"
    return ThinkEfficiency(grpo.think_weight, grpo.max_think_tokens)
