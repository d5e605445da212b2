"""Pairs from a policy's own answers: of each prompt's group the one that the rewards rank first, before the one that
they rank last.

The answers are drawn from the policy that is trained, as GRPO draws its groups, and not kept from GRPO's rollouts:
those come from every policy on the way, and DPO takes its pairs as drawn from its reference (2305.18290, section 4).
"""

from collections.abc import Iterator, Mapping, Sequence

from tucano.preferences import AnswerPair
from tucano.training.algorithms import NOISE
from tucano.training.rollouts.examiner import ScoredCompletion


def ranked_pairs(
    completions: Sequence[ScoredCompletion], generations: int, systems: Mapping[str, str]
) -> Iterator[AnswerPair]:
    """One pair for each prompt whose group [`generations`, side by side] has answers of different reward.

    Answers that were cut off at the ceiling are left out: as text they would end where the policy had not ended.
    """
    for start in range(0, len(completions), generations):
        group = [one for one in completions[start : start + generations] if not one.truncated]
        if not group:
            continue
        best = max(group, key=lambda one: one.score.total)
        worst = min(group, key=lambda one: one.score.total)
        if best.score.total - worst.score.total > NOISE and best.text != worst.text:
            yield AnswerPair(systems[best.prompt.task], best.prompt.user, best.text, worst.text)
