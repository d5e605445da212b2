"""What can be said of an answer: its form, what the reward gives for what, what the truth is and why."""

from dataclasses import dataclass

from rewards.sets import SETS, RewardSet
from tucano.prompts import Prompt
from tucano.serving.schema import fault_of
from tucano.truth.explain import Reasons, reasons

MOST_FACTS = 6
"""Of the judge's facts so many are shown."""


@dataclass(frozen=True, slots=True)
class Part:
    """A component of the reward: what it gives, what it could give, and its sentence."""

    name: str
    given: float
    weight: float
    meaning: str


@dataclass(frozen=True, slots=True)
class Judged:
    """All that is known of an answer. fault: of its form. silent: names of components that give nothing where nothing
    is known of the prompt: some of them measure what would have to be known.
    """

    fault: str | None
    reward: float
    parts: tuple[Part, ...]
    silent: tuple[str, ...]
    truth: Reasons | None


def judged(prompt: Prompt, completion: str, rewards: RewardSet) -> Judged:
    score = rewards.score(prompt, completion)
    parts = [
        Part(one.name.partition(".")[2], score.components[one.name], one.weight, one.meaning)
        for one in SETS[rewards.name][prompt.task].components
    ]
    silent = [] if prompt.reference else [part for part in parts if not part.given and part.weight > 0]
    return Judged(
        fault_of(prompt.task, completion),
        score.total,
        tuple(part for part in parts if part not in silent),
        tuple(part.name for part in silent),
        reasons(prompt, completion, rewards.databases, MOST_FACTS),
    )
