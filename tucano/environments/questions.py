"""What others ask a model, and what an answer is worth: shared by the environments, and free of their packages."""

import atexit
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal, get_args

from data.own.export import prompt_set
from rewards import Score, load_reward_set
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.prompts import TASKS, Prompt, Task, read_prompts
from tucano.settings.base import RewardSetName
from tucano.thoughts import answer_of
from tucano.truth import truth

Split = Literal["train", "validation", "test"]
LEAST = 60
"""Prompts of a split that no one asks: enough for five of each task, which a prompt set has to have."""


@dataclass(frozen=True)
class Questions:
    """`systems`: the system prompt of each task. `databases`: where the stores are that SQL is judged on."""

    prompts: list[Prompt]
    systems: dict[Task, str]
    databases: Path


def questions(folder: str | None, split: Split, tasks: str | Sequence[str] | None, count: int, seed: int) -> Questions:
    """All prompts of these tasks (all, or like «push,sql_qa») in a prompt set's or benchmark's folder, or in the newest
    prompt set of a storage; without a folder `count` generated ones. UserError for what is not there.
    """
    names = tuple(tasks.split(",") if isinstance(tasks, str) and tasks else tasks or TASKS)
    if split not in get_args(Split):
        raise UserError(f"there is no split {split!r}; choose among {', '.join(get_args(Split))}")
    for name, number, least in (("count", count, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or number < least:
            raise UserError(f"{name}={number} is no whole number of {least} or more")
    if unknown := [name for name in names if name not in TASKS]:
        raise UserError(f"there is no task {unknown[0]!r}; choose among {', '.join(TASKS)}")
    files = PromptFiles(prompt_set(Path(folder)) if folder else _generated(split, names, count, seed))
    if not files.of(split).is_file():
        raise UserError(f"{files.folder} has no {split}.jsonl; choose split=test")
    found = [prompt for prompt in read_prompts(files.of(split)) if prompt.task in names]
    if not found:
        raise UserError(f"{files.of(split)} has no prompt of {', '.join(names)}; choose other tasks")
    return Questions(found if folder else found[:count], files.systems(), files.folder.resolve())


@cache
def _generated(split: Split, tasks: tuple[Task, ...], count: int, seed: int) -> Path:
    """A prompt set that lies there until the process ends."""
    from data.prepare import prepare  # brings pandas
    from tucano.settings.data import PromptPlan

    folder = Path(mkdtemp(prefix="tucano-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    sizes = {f"{name}_prompts": LEAST for name in ("train", "validation", "test")}
    sizes[f"{split}_prompts"] = max(LEAST, count)
    mix = dict.fromkeys(tasks, 1 / len(tasks))
    plan = PromptPlan.model_validate({**sizes, "style": "natural", "demonstrations": 0, "mix": mix})
    prepare(plan, seed, tasks, folder)
    return folder


def reward_of(prompt: dict[str, Any], text: str, rewards: RewardSetName, databases: str) -> Score:
    """What a reward set gives for a model's text, its thought left out. `prompt`: the fields of a `Prompt`."""
    return load_reward_set(rewards, Path(databases)).score(Prompt(**prompt), answer_of(text))


def truth_of(prompt: dict[str, Any], text: str, databases: str) -> float | None:
    """The truth of it in [0, 1]; None where nothing is known."""
    return truth(Prompt(**prompt), answer_of(text), Path(databases))
