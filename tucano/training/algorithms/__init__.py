"""How rewards become advantages: one file per algorithm, chained over the batch of a rollout.

An algorithm overrides the hooks it needs and leaves the rest alone. To add one, write a file here with a subclass of
`Algorithm` and a `from_settings`, name it in `CHAIN` (tucano/training/algorithms/chain.py) and in GrpoSettings, and
test it. A value of `grpo.advantages` is the name of the file that makes them. A file that is not in `CHAIN` stops every
run.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

NOISE = 1.5e-6
"""Rewards are rounded to six decimals; a spread up to this is float noise: two roundings may differ by one unit."""


@dataclass(frozen=True, slots=True)
class Block:
    """Part of a completion with a reward of its own, in [0, 1], for its tokens [start, end), which may be none."""

    value: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RolloutBatch:
    """The B completions of one rollout, groups side by side; K reward components.

    rewards: [B, K] weighted contributions, NaN where a completion's task has no such component. components: K names,
    like `push.length`. weights: [K] the largest contribution of each, so that rewards / weights is in [-1, 1].
    generations: G, completions per group; B is a multiple of it. tasks: B names. lengths: [B] tokens, the end token
    included. ceiling: tokens a completion can have at this step. entropies: computes [B], the mean entropy (nats) per
    token of each completion: a pass through the model, for who needs it. task_means: mean total reward of each task
    over everything sampled in this rollout, also of groups that were replaced. blocks: B rows, one per completion;
    those of a group have the same blocks in the same order. thoughts: [B] tokens of the thought before the answer, NaN
    where a task is answered without one. advantages: [B] or, token by token, [B, T], as
    earlier algorithms of the chain left them; T is the longest of `lengths`. gaps: asks the teacher for [B, T or more],
    log p_teacher - log p_student of each token (nats), 0 behind a completion's end.
    """

    rewards: Tensor
    components: tuple[str, ...]
    weights: Tensor
    generations: int
    tasks: list[str]
    lengths: Tensor
    ceiling: int
    entropies: Callable[[], Tensor]
    task_means: dict[str, float] = field(default_factory=dict)
    blocks: tuple[tuple[Block, ...], ...] = ()
    thoughts: Tensor = field(default_factory=lambda: torch.tensor(math.nan))
    advantages: Tensor = field(default_factory=lambda: torch.zeros(()))
    gaps: Callable[[], Tensor] = lambda: torch.zeros(0, 0)

    def totals(self) -> Tensor:
        """[groups, G] summed rewards."""
        return self.rewards.nansum(dim=1).view(-1, self.generations)

    def with_component(self, name: str, rewards: Tensor, weight: float) -> "RolloutBatch":
        """With one reward component more: [B] contributions, the largest of which is `weight`."""
        return replace(
            self,
            rewards=torch.cat((self.rewards, rewards.to(self.rewards)[:, None]), dim=1),
            components=(*self.components, name),
            weights=torch.cat((self.weights, self.weights.new_tensor([weight]))),
        )

    def weighed(self, factors: Tensor) -> Tensor:
        """The advantages, those of each completion times its factor [B]."""
        return self.advantages * (factors if self.advantages.dim() == 1 else factors[:, None])


class Algorithm:
    """Base of all algorithms; none of these hooks changes anything."""

    def shape_rewards(self, batch: RolloutBatch) -> RolloutBatch:
        """The batch with other rewards. Called for every completion sampled, before groups are selected."""
        return batch

    def select_groups(self, batch: RolloutBatch) -> Tensor:
        """[groups] bool: the live ones. The others are sampled anew, or left out of the loss."""
        return torch.ones(len(batch.tasks) // batch.generations, dtype=torch.bool, device=batch.rewards.device)

    def advantages(self, batch: RolloutBatch) -> Tensor:
        """[B] or [B, T], finite. Called once per rollout, on the final batch."""
        return batch.advantages

    def metrics(self) -> dict[str, float]:
        """What to log after a rollout."""
        return {}

    def state(self) -> dict[str, Any]:
        """What a resumed run needs; plain values."""
        return {}

    def load(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave."""
