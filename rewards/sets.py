"""The named reward sets, and the one place that turns shares into a score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal

from rewards import controls, grounded, v42
from rewards.classify import classify_task
from rewards.parsing.text import readable
from rewards.tasks.registry import REWARDS
from rewards.types import PromptLike, Score, TaskReward, clip

SetName = Literal["v4.2", "grounded", "controls.random", "controls.format", "controls.length"]

SETS: Mapping[SetName, Mapping[str, TaskReward]] = {
    "v4.2": v42.TASKS,
    "grounded": grounded.TASKS | {task: rewards.grounded for task, rewards in REWARDS.items()},
    "controls.random": controls.RANDOM,
    "controls.format": controls.FORMAT | {task: rewards.format for task, rewards in REWARDS.items()},
    "controls.length": controls.LENGTH,
}


@dataclass(frozen=True)
class RewardSet:
    """A picklable reward: deterministic, finite, bounded; a bad completion scores low and never raises.

    `databases` is the folder of the SQLite files that `reference["database"]` names; sql_qa is judged on them. A prompt
    whose gold query cannot run raises ValueError: that is a fault of the data, not of an answer.
    """

    name: SetName
    databases: Path | None = None

    def _of(self, task: str) -> TaskReward:
        if task not in SETS[self.name]:
            raise ValueError(
                f"the reward set {self.name} has no reward for the task {task}; it has: {', '.join(SETS[self.name])}"
            )
        return SETS[self.name][task]

    def component_names(self, task: str) -> tuple[str, ...]:
        """The components of a task, in the order in which `score` returns them."""
        return tuple(component.name for component in self._of(task).components)

    def component_weights(self, task: str) -> dict[str, float]:
        """The largest contribution of each component of a task, as a positive number; penalties too."""
        return {component.name: abs(component.weight) for component in self._of(task).components}

    def score(self, prompt: PromptLike, completion: str) -> Score:
        """The score of one completion; a prompt without a task is classified by its text. ValueError where a component
        is NaN or infinite.
        """
        reward = self._of(prompt.task or classify_task(prompt.user))
        answer = readable(completion)
        shares = reward.shares(prompt, answer, self.databases) if answer.strip() else (0.0,) * len(reward.components)
        parts = {c.name: c.weight * share if share else 0.0 for c, share in zip(reward.components, shares, strict=True)}
        for name, part in parts.items():
            if not isfinite(part):  # a limit would make 0 of it, and an advantage a group without a signal
                place = getattr(prompt, "id", "") or repr(prompt.user[:60])
                raise ValueError(
                    f"{name} of the reward set {self.name} is {part} for the prompt {place} and the answer"
                    f" {answer[:60]!r}; mend its function, which has to give a number"
                )
        return Score(clip(sum(parts.values())), parts)

    def score_batch(self, prompts: Sequence[PromptLike], completions: Sequence[str]) -> list[Score]:
        """One score per pair; the two sequences have the same length."""
        return [self.score(prompt, completion) for prompt, completion in zip(prompts, completions, strict=True)]


def load_reward_set(name: SetName, databases: Path | None = None) -> RewardSet:
    """The reward set of that name; ValueError for a name that does not exist."""
    if name not in SETS:
        raise ValueError(f"there is no reward set {name!r}; choose one of {', '.join(SETS)}")
    return RewardSet(name, databases)
