"""Which training prompts GRPO draws from: those that its start answers neither too well nor too badly
(`grpo.admission`).

What a prompt can teach grows with the variance of what its completions earn, which is largest in the middle (Bae et al.
2025, Online Difficulty Filtering for Reasoning Oriented Reinforcement Learning, 2504.03380). The mean reward of 0 or 1
is the pass rate; our rewards lie between, so a prompt's completions have to differ as well (DAPO 2503.14476, 3.2).
"""

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import fmean

from tucano.errors import UserError
from tucano.prompts import Prompt
from tucano.settings.training.drawing import Admission
from tucano.settings.training.grpo import GrpoStage
from tucano.training.algorithms import NOISE
from tucano.training.jobs import Progress, emit
from tucano.training.policies.load import Policy
from tucano.training.rollouts.examiner import Examiner

AT_A_TIME = 128
"""Prompts; between two lots a person hears how far it is."""


class Verdict(StrEnum):
    """On a prompt; `ALIKE` where its completions all earn the same."""

    ADMITTED = "admitted"
    TOO_EASY = "too_easy"
    TOO_HARD = "too_hard"
    ALIKE = "alike"


def verdict(rewards: Sequence[float], band: Admission) -> Verdict:
    """On a prompt whose completions earn these rewards."""
    mean = fmean(rewards)
    if mean > band.high:
        return Verdict.TOO_EASY
    if mean < band.low:
        return Verdict.TOO_HARD
    return Verdict.ADMITTED if max(rewards) - min(rewards) > NOISE else Verdict.ALIKE


@dataclass(frozen=True)
class Admitted:
    """Task, mean reward and verdict of each prompt that was tried, by its id."""

    tried: dict[str, tuple[str, float, Verdict]]

    def write(self, path: Path) -> None:
        """A JSON line for each prompt that was tried."""
        rows = ({"prompt": name, "task": t, "reward": mean, "verdict": v} for name, (t, mean, v) in self.tried.items())
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    @property
    def names(self) -> set[str]:
        """The ids of the admitted prompts."""
        return {name for name, (*_, found) in self.tried.items() if found is Verdict.ADMITTED}

    def counts(self) -> dict[str, float]:
        """{«admission/push/too_hard»: prompts} of every task and verdict."""
        seen = Counter((task, found) for task, _, found in self.tried.values())
        return {
            f"admission/{task}/{found}": float(seen[task, found])
            for task in sorted({t for t, _ in seen})
            for found in Verdict
        }

    def enough(self, needed: int) -> None:
        """UserError where a step would find too few prompts."""
        seen = Counter(found for *_, found in self.tried.values())
        if seen[Verdict.ADMITTED] < needed:
            raise UserError(
                f"grpo.admission admits {seen[Verdict.ADMITTED]} of {len(self.tried)} prompts"
                f" ({seen[Verdict.TOO_EASY]} too easy, {seen[Verdict.TOO_HARD]} too hard, {seen[Verdict.ALIKE]} whose"
                f" answers all earn the same), and a step needs {needed}:"
                " widen grpo.admission.low and high, raise grpo.admission.prompts or data.train_prompts, or set"
                " grpo.admission=null"
            )


def admitted(settings: GrpoStage, policy: Policy, examiner: Examiner, prompts: Sequence[Prompt]) -> Admitted:
    """Let the start answer the prompts as rollouts will ask them. UserError where too few are left for a step."""
    grpo = settings.grpo
    assert grpo.admission is not None
    samples = grpo.admission.samples
    order = random.Random(settings.seed).sample(prompts, min(len(prompts), grpo.admission.prompts or len(prompts)))
    made = Admitted({})
    for start in range(0, len(order), AT_A_TIME):
        some = order[start : start + AT_A_TIME]
        answers = examiner.answer(policy, some, samples, grpo.temperature, settings.seed + start)
        for place, prompt in enumerate(some):
            rewards = [answer.score.total for answer in answers[place * samples : (place + 1) * samples]]
            made.tried[prompt.id] = (prompt.task, fmean(rewards), verdict(rewards, grpo.admission))
        shown = {"admitted": float(len(made.names))}
        emit(Progress(f"admission seed {settings.seed}", len(made.tried), len(order), shown))
    made.enough(grpo.prompts_at_once)
    if lost := sorted({task for task, *_ in made.tried.values()} - {made.tried[name][0] for name in made.names}):
        notice = f"grpo.admission admits no prompt of {', '.join(lost)}, which will not be trained"
        emit(Progress(f"admission seed {settings.seed}", len(order), len(order), {}, notice=notice))
    return made
