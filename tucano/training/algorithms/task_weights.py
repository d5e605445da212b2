"""Task weights that follow who improves least: MT-GRPO's improvement-aware update (arXiv 2602.05547, section 3.2).

What was left out: the ratio-preserving sampler. Refilled groups come from the task they replace, so the mix of tasks
stays as set however many groups of a task carry no signal.
"""

import math
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, RolloutBatch

LARGEST_IMPROVEMENT = 0.1
"""An improvement beyond this, in either direction, is the draw's and not the policy's."""
MEAN_DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-8
"""Adam's (arXiv 1412.6980)."""


class TaskWeights(Algorithm):
    """Multiplies advantages by f + (1 - f) K z_k, where K is the number of tasks, z = softmax(xi) and f the floor;
    equal weights at first. The paper has no floor: one task then takes nearly everything in a long run.

    After every rollout, with J_k the mean reward of task k: I_k = J_k(t) - J_k(t-1), s_k = I_k + balance J_k, g_k = z_k
    (s_k - sum_j z_j s_j), and xi goes one step of Adam along -g: tasks that are low and do not improve gain weight. A
    task absent from a rollout keeps its J. Nothing moves before every task has been seen.
    """

    def __init__(self, tasks: Sequence[str], rate: float, balance: float, floor: float) -> None:
        self.tasks, self.rate, self.balance = tuple(tasks), rate, balance
        self.floor = floor
        self.xi, self.mean, self.square = ([0.0] * len(self.tasks) for _ in range(3))
        self.steps, self.last = 0, dict[str, float]()

    def weights(self) -> dict[str, float]:
        """Weight of each task; their mean is 1."""
        free = (1 - self.floor) * len(self.tasks)
        return dict(zip(self.tasks, [self.floor + free * z for z in self._softmax()], strict=True))

    def advantages(self, batch: RolloutBatch) -> Tensor:
        self._look(batch.task_means)
        weights = self.weights()
        return batch.weighed(batch.rewards.new_tensor([weights[task] for task in batch.tasks]))

    def _softmax(self) -> list[float]:
        powers = [math.exp(value - max(self.xi)) for value in self.xi]
        return [power / sum(powers) for power in powers]

    def _look(self, task_means: dict[str, float]) -> None:
        """Take in the mean rewards of one rollout and move xi."""
        before, self.last = self.last, {**self.last, **task_means}
        if any(task not in before for task in self.tasks):
            return
        improved = [
            max(-LARGEST_IMPROVEMENT, min(LARGEST_IMPROVEMENT, self.last[task] - before[task])) for task in self.tasks
        ]
        score = [gain + self.balance * self.last[task] for gain, task in zip(improved, self.tasks, strict=True)]
        z = self._softmax()
        expected = sum(share * value for share, value in zip(z, score, strict=True))
        self._descend([share * (value - expected) for share, value in zip(z, score, strict=True)])

    def _descend(self, gradient: list[float]) -> None:
        self.steps += 1
        for k, slope in enumerate(gradient):
            self.mean[k] = MEAN_DECAY * self.mean[k] + (1 - MEAN_DECAY) * slope
            self.square[k] = SQUARE_DECAY * self.square[k] + (1 - SQUARE_DECAY) * slope**2
            mean, square = self.mean[k] / (1 - MEAN_DECAY**self.steps), self.square[k] / (1 - SQUARE_DECAY**self.steps)
            self.xi[k] -= self.rate * mean / (math.sqrt(square) + EPSILON)

    def metrics(self) -> dict[str, float]:
        return {f"task_weight/{task}": weight for task, weight in self.weights().items()}

    def state(self) -> dict[str, Any]:
        return {"xi": self.xi, "mean": self.mean, "square": self.square, "steps": self.steps, "last": self.last}

    def load(self, state: dict[str, Any]) -> None:
        self.xi, self.mean, self.square = list(state["xi"]), list(state["mean"]), list(state["square"])
        self.steps, self.last = state["steps"], dict(state["last"])


def from_settings(settings: TrainerStage) -> Algorithm | None:
    grpo = settings.grpo
    return (
        TaskWeights(settings.tasks, grpo.task_weights_rate, grpo.task_weights_balance, grpo.task_weights_floor)
        if grpo.task_weights == "iwu"
        else None
    )
