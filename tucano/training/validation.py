"""The validation set during GRPO: chooses the best checkpoint and stops a run that no longer improves."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tucano.journal import JournalWriter
from tucano.prompts import TASKS, Prompt
from tucano.settings import GrpoSettings
from tucano.training.policies import Policy
from tucano.training.rollouts import Examiner, Rollout
from tucano.training.sft import save_whole


class Validation:
    """Looks before the first step and every `eval_steps`, keeps the best adapter, counts looks without a better one."""

    def __init__(
        self, settings: GrpoSettings, examiner: Examiner, prompts: Sequence[Prompt], journal: JournalWriter, best: Path, seed: int
    ) -> None:
        self.settings, self.examiner, self.prompts, self.journal, self.best, self.seed = settings, examiner, prompts, journal, best, seed
        self.curve: list[tuple[int, float]] = []
        self.highest, self.best_step, self.waited = -math.inf, 0, 0

    def state(self) -> dict[str, Any]:
        return {"curve": self.curve, "highest": self.highest, "best_step": self.best_step, "waited": self.waited}

    def load(self, state: dict[str, Any]) -> None:
        self.curve = [tuple(pair) for pair in state["curve"]]
        self.highest, self.best_step, self.waited = state["highest"], state["best_step"], state["waited"]

    def is_due(self, step: int, last: int) -> bool:
        """Whether the look after `step` is still to come; a look that was cut off counts as not taken."""
        if not self.curve:
            return True
        return step > self.curve[-1][0] and (step % self.settings.eval_steps == 0 or step == last)

    def look(self, model: Policy, step: int) -> None:
        """Evaluate now. The same random stream at every look: differences between looks are the policy's, not the draw's."""
        rollouts = self.examiner.answer(model, self.prompts, self.settings.validation_samples, self.settings.temperature, self.seed)
        values = summary(rollouts)
        self.journal.log(step, {f"validation/{name}": value for name, value in values.items()})
        value = values[self.settings.selection]
        self.curve.append((step, value))
        if value > self.highest:
            self.highest, self.best_step, self.waited = value, step, 0
            save_whole(model, self.best)
        else:
            self.waited += 1


def summary(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Mean reward and ground truth, over all and per task; tasks weigh as the prompts do."""
    values = {"reward": float(np.mean([rollout.score.total for rollout in rollouts]))}
    known = [rollout.truth for rollout in rollouts if rollout.truth is not None]
    values["truth"] = float(np.mean(known)) if known else math.nan
    for task in TASKS:
        mine = [rollout for rollout in rollouts if rollout.prompt.task == task]
        if mine:
            values[f"reward_{task}"] = float(np.mean([rollout.score.total for rollout in mine]))
        true = [rollout.truth for rollout in mine if rollout.truth is not None]
        if true:
            values[f"truth_{task}"] = float(np.mean(true))
    return values
