"""Short thoughts before worked answers, for a model that is built here and learns to think from nothing else."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from random import Random

from tucano.errors import UserError
from tucano.prompts import Prompt
from tucano.security.printable import short
from tucano.specs.registry import spec_of
from tucano.thoughts import CLOSE, OPEN, answer_of, told, with_thought

AGAIN = "Confiro: "
MOST_AGAIN = 2
"""Times that a thought goes over its steps once more, which helps no answer: what think efficiency can save."""


def told_to_think(system_prompts: Mapping[str, str], thinking: Collection[str] | None) -> dict[str, str]:
    """The system prompts with their switches; as they are for a model that cannot think (None)."""
    if thinking is None:
        return dict(system_prompts)
    return {task: told(prompt, task in thinking) for task, prompt in system_prompts.items()}


def thought_through(example: Prompt, thinking: Collection[str] | None, seed: int) -> Prompt:
    """A demonstration with a thought before it where its task has one and it shows none itself, and without where its
    task has none. How often the thought goes over its steps again follows from (seed, id) alone. UserError for a task
    whose thoughts nobody wrote.
    """
    answer = example.demonstration
    if answer is None:
        return example
    if example.task not in (thinking or ()):
        return replace(example, demonstration=answer_of(answer))
    if answer.lstrip().startswith(OPEN):
        return example
    steps = spec_of(example.task).thought(example)
    if not steps:
        raise UserError(
            f"data.thinking names {example.task}, and the demonstration {example.id} shows no thought, nor can one be"
            f" made of its reference. Its prompt is {short(example.user, 80)!r}: give that row a reference, begin its"
            f" demonstration with {OPEN}…{CLOSE}, or take {example.task} out of data.thinking"
        )
    times = Random(f"{seed} {example.id}").randint(0, MOST_AGAIN)
    lines = [" ".join(steps), *(AGAIN + " ".join(steps) for _ in range(times))]
    return replace(example, demonstration=with_thought("\n".join(lines), answer))


def taken_off(examples: Iterable[Prompt], thinking: Collection[str] | None) -> list[str]:
    """What there is to say of demonstrations that think though their task shall answer at once."""
    quiet = [example.demonstration for example in examples if example.task not in (thinking or ())]
    count = sum(answer is not None and answer_of(answer) != answer for answer in quiet)
    said = "data.thinking: {} demonstrations think, and their task is not named there: SFT sees their answers alone"
    return [said.format(count)] if count else []
