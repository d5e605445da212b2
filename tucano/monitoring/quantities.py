"""What is watched: numbers in [0, 1] that a request, or an answer, is read into. They are fixed before any of it is
seen, as the tests need.
"""

import math
from collections.abc import Callable, Set
from dataclasses import dataclass
from pathlib import Path

from rewards import RewardSet
from tucano.errors import UserError
from tucano.masking import mask
from tucano.prompts import TASKS, Prompt
from tucano.security.printable import short
from tucano.specs.registry import spec_of
from tucano.specs.texts import without_accents, words
from tucano.truth import truth
from tucano.truth.fluency import FUNCTION, model
from tucano.truth.judge import FILE, judges

LONGEST = 4000
"""Characters of a text that are looked at."""
SCALE = 17
"""A text of 2^17 characters has length 1."""


@dataclass(frozen=True, slots=True)
class Look:
    """A request and its answer as they are read; the reference is empty unless one came back."""

    prompt: Prompt
    answer: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """`read`: None where it cannot be told. `shown`: a mean of it as people read it. `within_task`: values are held
    against those of their own task alone.
    """

    name: str
    meaning: str
    read: Callable[[Look], float | None]
    shown: Callable[[float], str] = "{:.3f}".format
    within_task: bool = False


FLOOR, REWARD, TRUTH = "floor", "reward", "truth"


def quantities(rewards: RewardSet, known: Set[str], databases: Path) -> list[Quantity]:
    """All that is watched, but the floor, which is the reward again. `known`: the words that the champion was trained
    with.
    """
    return [
        Quantity(REWARD, "reward of the answer, without a reference", lambda look: _reward(rewards, look)),
        Quantity(
            TRUTH,
            "truth of the answer, where a reference came back",
            lambda look: _truth(look, databases),
            within_task=True,  # references may come back for one task only, and tasks differ in truth
        ),
        Quantity("answer length", "characters of the answer", lambda look: length(look.answer), characters),
        Quantity("request length", "characters of the request", lambda look: length(look.prompt.user), characters),
        Quantity("vocabulary", "known words among those of the request", lambda look: _share(look.prompt.user, known)),
        Quantity("language", "Portuguese function words in the request", lambda look: portuguese(look.prompt.user)),
        Quantity("word order", "how Portuguese the order of its words is", lambda look: order(look.prompt.user)),
        *(Quantity(f"share of {task}", f"requests of the task {task}", _is(task)) for task in TASKS),
    ]


def masked(prompt: Prompt, answer: str) -> Look:
    """A test prompt and its answer as the request log would hold them: masked, and without what is known of it."""
    bare = Prompt("", prompt.task, mask(prompt.user)[0], "", "", "")
    return Look(bare, mask(answer)[0])


def length(text: str) -> float:
    """On a logarithmic scale."""
    return min(1.0, math.log2(1 + len(text)) / SCALE)


def characters(mean: float) -> str:
    """The geometric mean that belongs to a mean of `length`."""
    return f"{2 ** (SCALE * mean) - 1:.0f}"


def order(text: str) -> float | None:
    """Mean log-odds of the words where they stand (tucano/truth/fluency.py), from -4 to 2 as 0 to 1."""
    odds = model().odds(text[:LONGEST])
    return min(1.0, max(0.0, (sum(odds) / len(odds) + 4) / 6))


def portuguese(text: str) -> float | None:
    """The share of function words of Portuguese, which no other language has so many of."""
    return _share(without_accents(text), FUNCTION)


def _share(text: str, known: Set[str]) -> float | None:
    found = words(text[:LONGEST])
    return sum(word in known for word in found) / len(found) if found else None


def _reward(rewards: RewardSet, look: Look) -> float:
    return rewards.score(look.prompt, look.answer).total


def _truth(look: Look, databases: Path) -> float | None:
    if not look.prompt.reference:
        return None
    try:
        judges(databases)
    except (OSError, ValueError) as error:
        raise UserError(f"{databases / FILE} holds no judges: {short(str(error))}; prepare the prompts again") from None
    try:
        spec_of(look.prompt.task).reference.model_validate(look.prompt.reference)
        return truth(look.prompt, look.answer, databases)
    except ValueError:  # a reference that is none of the task, or cannot be judged by, like a query that does not run
        return None


def _is(task: str) -> Callable[[Look], float | None]:
    return lambda look: float(look.prompt.task == task)
