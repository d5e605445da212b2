"""A policy with one adapter per task on a common base: which of them speaks.

    adapter/extraction/adapter_config.json, adapter/push/adapter_config.json, …

In the loaded policy each adapter has its task's name. Whoever asks such a policy says for which task; to a policy with
one adapter, or none, that makes no difference.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import torch
from peft import PeftModel
from transformers import PreTrainedModel

from tucano.files.per_task import adapters_by_task
from tucano.prompts import TASKS
from tucano.training.checkpoints import weights
from tucano.training.checkpoints.weights import Policy
from tucano.training.policies import effect
from tucano.training.samplers import Decoding, Draw, Sampler

T = TypeVar("T")


def with_adapters(base: PreTrainedModel, folder: Path) -> PeftModel:
    """The base with the adapters of a folder, each read back from the live model; the first one speaks."""
    (first, place), *others = adapters_by_task(folder).items()
    policy = PeftModel.from_pretrained(base, str(place), adapter_name=first)
    for task, path in others:
        policy.load_adapter(str(path), adapter_name=task)
    for task, path in adapters_by_task(folder).items():
        weights.read_back(policy, path, task)
        policy.set_adapter(task)
        effect.require(policy, path)
    policy.set_adapter(first)
    return policy


def tasks_of(policy: Policy) -> tuple[str, ...]:
    """The tasks that have an adapter of their own; none where one speaks for all, or there is none."""
    held = policy.peft_config if isinstance(policy, PeftModel) else {}
    return tuple(task for task in TASKS if task in held)


def speak_for(policy: Policy, task: str) -> None:
    """From now on the policy answers with the adapter of this task, where its tasks have their own."""
    if tasks_of(policy):
        assert isinstance(policy, PeftModel)
        policy.set_adapter(task)


def by_speaker(policy: Policy, tasks: Sequence[str], ask: Callable[[list[int]], Sequence[T]]) -> list[T]:
    """What `ask` gives for each row, in their order. It is called with the rows that one adapter answers, after that
    has been made to speak; once, with all of them, where there is one for all.
    """
    if not tasks_of(policy):
        rows = list(range(len(tasks)))
        return [one for _, one in zip(rows, ask(rows), strict=True)]
    found: dict[int, T] = {}
    for task in dict.fromkeys(tasks):
        speak_for(policy, task)
        rows = [row for row, of in enumerate(tasks) if of == task]
        found.update(zip(rows, ask(rows), strict=True))
    return [found[row] for row in range(len(tasks))]


def drawn_by_speaker(
    sampler: Sampler,
    policy: Policy,
    tasks: Sequence[str],
    prompts: Sequence[Sequence[int]],
    decoding: Decoding,
    generator: torch.Generator | None = None,
) -> list[Draw]:
    """A draw for each of the prompts (token ids), by the adapter of its task where tasks have their own."""
    return by_speaker(
        policy, tasks, lambda rows: sampler.sample(policy, [prompts[row] for row in rows], decoding, generator)
    )
