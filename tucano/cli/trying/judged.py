"""What can be said of an answer: its form, what the reward gives for what, what the truth is and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from rewards.sets import SETS, RewardSet
from rewards.types import Component
from tucano.prompts import Prompt
from tucano.serving.schema import fault
from tucano.truth.explain import Reasons, reasons

MOST_FACTS = 6
"""Of the judge's facts so many are shown."""
MET = 0.95
"""Share of a component from which on it counts as met."""
ROUNDED = 1e-9
BY_REFERENCE = frozenset({
    "extraction.field_match", "sql_qa.names", "sql_qa.executes", "sql_qa.result", "insights.key_figures",
    "push.product", "sentiment.label", "sentiment.score", "churn.risk", "churn.probability",
})  # fmt: skip
"""Components that earn nothing without a reference. The others fill the whole reward then (`rewards.types.filled`), for
training; to a reader that would be points for what nobody knows."""


@dataclass(frozen=True, slots=True)
class Judged:
    """All that is known of an answer. fault: of its form. reward, parts: its components, each with what it gives; none
    where the reference lacks what it needs. Then `checks` has the components that need none, each with the share in
    [0, 1] that is met: of a penalty 1 where nothing is taken away. truth: None where it is not known.
    """

    fault: Sequence[str] | None
    reward: float = 0.0
    parts: Sequence[tuple[Component, float]] = ()
    truth: Reasons | None = None
    checks: Sequence[tuple[Component, float]] = ()

    @property
    def met(self) -> int:
        return sum(share >= MET for _, share in self.checks)


def judged(prompt: Prompt, completion: str, rewards: RewardSet) -> Judged:
    score = rewards.score(prompt, completion)
    broken = fault(prompt.task, completion)
    parts = [(one, score.components[one.name]) for one in SETS[rewards.name][prompt.task].components]
    why = reasons(prompt, completion, rewards.databases, MOST_FACTS)
    if why is not None and all(given <= max(0.0, one.weight) + ROUNDED for one, given in parts):
        return Judged(broken, score.total, parts, why)
    form = [(one, given) for one, given in parts if one.name not in BY_REFERENCE]
    whole = sum(one.weight for one, _ in form if one.weight > 0)
    return Judged(broken, truth=why, checks=[(one, _met(one, given, whole)) for one, given in form])


def _met(part: Component, given: float, whole: float) -> float:
    """The share of a component, which is scaled to fill the reward; of a penalty what is not taken away."""
    return given * whole / part.weight if part.weight > 0 else 1 - given / part.weight
