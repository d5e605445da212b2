"""Our tasks as a task of Inspect: `inspect eval tucano/commerce --model …`."""

from collections.abc import Sequence
from dataclasses import asdict

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from rewards import load_reward_set
from tucano.environments.questions import Split, questions, reward_of, truth_of
from tucano.settings.base import RewardSetName
from tucano.specs.registry import gold

METRICS = [grouped(mean(), "task"), stderr()]


@task
def commerce(
    prompts: str | None = None,
    split: Split = "test",
    tasks: str | Sequence[str] | None = None,
    count: int = 130,
    seed: int = 7,
    rewards: RewardSetName = "grounded",
) -> Task:
    """All tasks or some, asked once each; see `tucano.environments.questions` for the parameters."""
    asked = questions(prompts, split, tasks, count, seed)
    load_reward_set(rewards, asked.databases)  # before a model is asked, and paid
    samples = [
        Sample(
            id=prompt.id,
            input=[ChatMessageSystem(content=asked.systems[prompt.task]), ChatMessageUser(content=prompt.user)],
            target=gold(prompt),
            metadata={"task": prompt.task, "prompt": asdict(prompt)},
        )
        for prompt in asked.prompts
    ]
    databases = str(asked.databases)
    scorers = [truth(databases), reward(databases, rewards)]
    return Task(dataset=MemoryDataset(samples, "tucano"), solver=generate(), scorer=scorers)


@scorer(metrics=METRICS)
def truth(databases: str) -> Scorer:
    """The ground truth in [0, 1], which no reward knows; nothing where nothing is known."""

    async def score(state: TaskState, target: Target) -> Score | None:
        found = truth_of(state.metadata["prompt"], state.output.completion, databases)
        return None if found is None else Score(value=found, answer=state.output.completion)

    return score


@scorer(metrics=METRICS)
def reward(databases: str, rewards: RewardSetName) -> Scorer:
    """The total of a reward set in [0, 1]; its metadata has what each component gives."""

    async def score(state: TaskState, target: Target) -> Score:
        found = reward_of(state.metadata["prompt"], state.output.completion, rewards, databases)
        return Score(value=found.total, answer=state.output.completion, metadata={"components": found.components})

    return score
