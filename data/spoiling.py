"""Putting documented defects into worked answers.

Demonstrations written by people or by other models are not all good; a fixed share of ours is flawed on purpose, so
that supervised fine-tuning starts from a mixture and reinforcement learning has something to improve. The defects
stand in the tasks' specs.
"""

from random import Random

from tucano.prompts import Task
from tucano.specs.base import Answer
from tucano.specs.registry import SPECS, spec_of


def describe() -> str:
    """The table of all defects as Markdown; what each does is its docstring."""
    rows = [
        f"| {task} | {', '.join(f'`{defect.__name__}`' for defect in spec.defects)} |" for task, spec in SPECS.items()
    ]
    return "\n".join(["| task | defects |", "|---|---|", *rows]) + "\n"


def spoil(task: Task, answer: Answer, rng: Random) -> tuple[Answer, tuple[str, ...]]:
    """The answer with one defect, or, where the task allows it, with two (3 of 10), and their names.

    A defect that changes nothing is not named; at least one does.
    """
    spec = spec_of(task)
    while True:
        chosen = rng.sample(spec.defects, 1 if spec.most_defects == 1 or rng.random() < 0.7 else 2)
        spoilt = answer
        names = []
        for defect in chosen:
            changed = defect(spoilt, rng)
            if changed.text() != spoilt.text():
                names.append(defect.__name__)
            spoilt = changed
        if names:
            return spoilt, tuple(names)
