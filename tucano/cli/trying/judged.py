"""What can be said of an answer: its form, what the reward gives for what, what the truth is and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from rewards.sets import SETS, RewardSet
from rewards.types import Component
from tucano.prompts import Prompt
from tucano.serving.schema import fault_of
from tucano.truth.explain import Reasons, reasons

MOST_FACTS = 6
"""Of the judge's facts so many are shown."""


@dataclass(frozen=True, slots=True)
class Judged:
    """All that is known of an answer. fault: of its form. parts: the reward's components, each with what it gives.
    silent: those that give nothing where nothing is known of the prompt: some of them measure what would have to be.
    """

    fault: str | None
    reward: float
    parts: Sequence[tuple[Component, float]]
    silent: Sequence[Component]
    truth: Reasons | None


def judged(prompt: Prompt, completion: str, rewards: RewardSet) -> Judged:
    score = rewards.score(prompt, completion)
    parts = [(one, score.components[one.name]) for one in SETS[rewards.name][prompt.task].components]
    silent = [] if prompt.reference else [one for one, given in parts if not given and one.weight > 0]
    return Judged(
        fault_of(prompt.task, completion),
        score.total,
        [(one, given) for one, given in parts if one not in silent],
        silent,
        reasons(prompt, completion, rewards.databases, MOST_FACTS),
    )
