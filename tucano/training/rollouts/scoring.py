"""Between a reward set and TRL: one reward function per component, all fed by one scoring of the batch."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rewards import RewardSet, Score
from tucano.prompts import Prompt
from tucano.training.policies.reading import Reader, Said


class Rewards:
    """Scores a batch once and hands TRL one reward function per component, NaN where a task has no such component."""

    def __init__(
        self, rewards: RewardSet, prompts: Sequence[Prompt], reader: Reader, systems: Mapping[str, str]
    ) -> None:
        """`reader` takes thoughts off, by what each task's system prompt opens."""
        self.rewards, self.reader, self.systems = rewards, reader, systems
        self.by_id = {prompt.id: prompt for prompt in prompts}
        tasks = sorted({prompt.task for prompt in prompts})
        self.weights = {name: weight for task in tasks for name, weight in rewards.component_weights(task).items()}
        self._last: tuple[list[str], list[str], list[Score]] = ([], [], [])
        self.said: list[Said] = []
        """What the completions of the last batch say."""

    def functions(self) -> list[Callable[..., list[float | None]]]:
        return [self._component(name) for name in self.weights]

    def score(
        self, completions: list[list[dict[str, str]]], prompt_ids: list[str], drawn: Sequence[Sequence[int]]
    ) -> list[Score]:
        """Of each completion, a chat of one message with the tokens `drawn`. The same batch is scored once."""
        texts = [completion[0]["content"] for completion in completions]
        if (texts, prompt_ids) != self._last[:2]:
            prompts = [self.by_id[prompt_id] for prompt_id in prompt_ids]
            self.said = [
                self.reader.said(text, tokens, self.systems[prompt.task])
                for text, tokens, prompt in zip(texts, drawn, prompts, strict=True)
            ]
            scores = self.rewards.score_batch(prompts, [said.answer for said in self.said])
            assert len(scores) == len(texts), "a reward set returns one score per completion"
            self._last = (texts, prompt_ids, scores)
        return self._last[2]

    def _component(self, name: str) -> Callable[..., list[float | None]]:
        def reward(
            completions: list[list[dict[str, str]]],
            prompt_id: list[str],
            completion_ids: Sequence[Sequence[int]],
            **_: Any,
        ) -> list[float | None]:
            return [score.components.get(name) for score in self.score(completions, prompt_id, completion_ids)]

        reward.__name__ = name
        return reward
