"""Why the truth of an answer is what it is: what its exact check leaves, what the judge says, which facts moved it."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tucano.truth import contexts, facts, truth
from tucano.truth.judge import JUDGED, Judge, judges
from tucano.truth.reading import readable
from tucano.truth.types import PromptLike

LEAST_MOVED = 0.005
"""Facts that move the judge's value by less are not told."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A fact of an answer, its sentence, its value, and by how much it raises the judge's value."""

    fact: str
    meaning: str
    value: float
    by: float


@dataclass(frozen=True, slots=True)
class Reasons:
    """The parts of a truth: `exact` times `judged`; none of them where the task has no judge, or the answer is empty.
    known: False where the judge has seen nothing like it, and `judged` means nothing. moved: the facts that moved the
    judge most, first the strongest.
    """

    truth: float
    exact: float | None = None
    judged: float | None = None
    known: bool = True
    moved: tuple[Moved, ...] = ()


def reasons(prompt: PromptLike, completion: str, databases: Path | None, most: int) -> Reasons | None:
    """Up to `most` facts; None where the prompt's reference holds nothing to judge an answer by. ValueError as
    `truth`.
    """
    value = truth(prompt, completion, databases)
    answer = readable(completion)
    if value is None:
        return None
    if prompt.task not in JUDGED or not answer:
        return Reasons(value)
    task = import_module(f"tucano.truth.tasks.{prompt.task}")
    told = task.facts(prompt, answer, databases)
    asked = judges(databases)[prompt.task]
    moved = _moved(asked, told, {**facts.MEANING, **contexts.MEANING, **task.MEANING})
    strongest = sorted(moved, key=lambda one: -abs(one.by))[:most]
    return Reasons(value, float(task.exact(told)), asked.value(told), asked.knows(told), tuple(strongest))


def _moved(asked: Judge, told: dict[str, float], meaning: dict[str, str]) -> Iterator[Moved]:
    for fact, by in asked.moved(told).items():
        if abs(by) >= LEAST_MOVED:
            yield Moved(fact, meaning[fact], told[fact], by)
