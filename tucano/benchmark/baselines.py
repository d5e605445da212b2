"""Arms that need no model: what a constant, the most frequent answer, and a page of rules are worth on the same
prompts.

A model that does not beat them has learned nothing worth serving. They may look at the training set, never at a
reference of the benchmark. What they answer stands in each task's spec.
"""

from collections.abc import Callable, Sequence

from tucano.prompts import TASKS, Prompt
from tucano.specs.registry import spec_of

Answering = Callable[[Prompt], str]


def baselines(training: Sequence[Prompt]) -> dict[str, Answering]:
    """{name: what answers a prompt}, from the training prompts with their references."""
    own = {task: [prompt for prompt in training if prompt.task == task] for task in TASKS}
    majority = {task: spec_of(task).baseline.majority(own[task]) for task in TASKS}
    rules = {task: spec_of(task).baseline.rules(own[task]) for task in TASKS}
    return {
        "constant": lambda prompt: spec_of(prompt.task).baseline.constant,
        "majority": lambda prompt: majority[prompt.task],
        "rules": lambda prompt: rules[prompt.task](prompt),
    }
