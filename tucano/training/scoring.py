"""Between a reward set and TRL: one reward function per component, all fed by one scoring of the batch."""

from collections.abc import Callable, Sequence
from typing import Any

from rewards import RewardSet, Score
from tucano.prompts import Prompt


class Rewards:
    """Scores a batch once and hands TRL one reward function per component, NaN where a task has no such component."""

    def __init__(self, rewards: RewardSet, prompts: Sequence[Prompt]) -> None:
        self.rewards = rewards
        self.by_id = {prompt.id: prompt for prompt in prompts}
        tasks = sorted({prompt.task for prompt in prompts})
        self.weights = {name: weight for task in tasks for name, weight in rewards.component_weights(task).items()}
        self._scored: tuple[list[str], list[str]] = ([], [])
        self.scores: list[Score] = []

    def functions(self) -> list[Callable[..., list[float | None]]]:
        return [self._component(name) for name in self.weights]

    def _component(self, name: str) -> Callable[..., list[float | None]]:
        def reward(completions: list[list[dict[str, str]]], prompt_id: list[str], **_: Any) -> list[float | None]:
            self._score([completion[0]["content"] for completion in completions], prompt_id)
            return [score.components.get(name) for score in self.scores]

        reward.__name__ = name
        return reward

    def _score(self, texts: list[str], prompt_ids: list[str]) -> None:
        if (texts, prompt_ids) != self._scored:
            prompts = [self.by_id[prompt_id] for prompt_id in prompt_ids]
            self._scored, self.scores = (texts, prompt_ids), self.rewards.score_batch(prompts, texts)
            assert len(self.scores) == len(texts), "a reward set returns one score per completion"
