"""What a judge learns from: rated answers as the facts of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tucano.rating.ratings import RatedAnswer
from tucano.truth.judge import JUDGED
from tucano.truth.reading import readable

GENERATED = "generated"
"""The tone of the prompts that the program makes itself."""
WEIGHT = {GENERATED: 0.4}
"""Of an answer; those of other tones, your own too, weigh 1. Of the generator's there are three times as many."""


@dataclass(frozen=True, slots=True)
class Example:
    """An answer as its facts, its rating (1 to 5 as 0 to 1), its prompt and the tone of the shop that asked."""

    task: str
    told: dict[str, float]
    rating: float
    prompt: str
    tone: str

    @property
    def weight(self) -> float:
        return WEIGHT.get(self.tone, 1.0)


def of_task(task: str) -> ModuleType:
    return import_module(f"tucano.truth.tasks.{task}")


def examples(answers: Iterable[RatedAnswer], databases: Path, tone: str) -> list[Example]:
    """Those answers that can be judged: of tasks with a judge, with a reference that holds what is needed. ValueError
    where a gold query does not run.
    """
    found = []
    for one in answers:
        if one.prompt.task not in JUDGED:
            continue
        task = of_task(one.prompt.task)
        text = readable(one.completion)
        if text and task.is_known(one.prompt.reference):
            told = task.facts(one.prompt, text, databases)
            found.append(Example(one.prompt.task, told, (one.rating - 1) / 4, f"{tone}/{one.prompt.id}", tone))
    return found


def directions(task: str, names: Sequence[str]) -> list[int]:
    """Which way each fact may move a rating."""
    module = of_task(task)
    return [1 if name in module.RISING else -1 if name in module.FALLING else 0 for name in names]
