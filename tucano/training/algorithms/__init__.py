"""How rewards become advantages: one file per algorithm, each a pure function of a `RolloutBatch`."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class RolloutBatch:
    """The completions of one rollout, groups side by side.

    rewards: [B, K] weighted contribution of each reward component, NaN where a completion's task has no such component.
    weights: [K] the largest contribution of each component, so that rewards / weights is in [-1, 1].
    generations: completions per group; B is a multiple of it. tasks: [B].
    """

    rewards: Tensor
    weights: Tensor
    generations: int
    tasks: list[str]


Advantages = Callable[[RolloutBatch, float], Tensor]
"""(batch, std_floor) -> advantages [B], finite, 0 where a group carries no signal."""
