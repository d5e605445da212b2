"""The algorithms that the settings ask for, one after another, as one algorithm."""

from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from torch import Tensor

from tucano.errors import UserError
from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import (
    Algorithm,
    RolloutBatch,
    batch,
    blockwise,
    conditional,
    distillation,
    edge,
    gdpo,
    group,
    median,
    overlong,
    task_weights,
    think_efficiency,
    zero_variance,
)

CHAIN = (
    conditional,
    think_efficiency,
    overlong,
    zero_variance,
    batch,
    group,
    gdpo,
    median,
    blockwise,
    edge,
    task_weights,
    distillation,
)
"""In the order in which their hooks are called: what shapes rewards, what selects groups, what makes advantages, what
weighs them, and what the teacher adds.
"""
FOLDER = "tucano/training/algorithms"


@dataclass(frozen=True)
class Chain(Algorithm):
    """Each hook is every member's, in order; a group is live when all say so, and gets no advantage when it is not."""

    members: dict[str, Algorithm]

    def shape_rewards(self, batch: RolloutBatch) -> RolloutBatch:
        for member in self.members.values():
            batch = member.shape_rewards(batch)
        _refuse_holes(batch)
        return batch

    def select_groups(self, batch: RolloutBatch) -> Tensor:
        live = super().select_groups(batch)
        for member in self.members.values():
            live = live & member.select_groups(batch)
        return live

    def advantages(self, batch: RolloutBatch) -> Tensor:
        for name, member in self.members.items():
            batch = replace(batch, advantages=member.advantages(batch))
            if not batch.advantages.isfinite().all():
                raise UserError(f"{FOLDER}/{name}.py gave an advantage that is NaN or infinite; mend its function")
        dead = ~self.select_groups(batch).repeat_interleave(batch.generations)
        return batch.advantages.masked_fill(dead if batch.advantages.dim() == 1 else dead[:, None], 0.0)

    def metrics(self) -> dict[str, float]:
        return {name: value for member in self.members.values() for name, value in member.metrics().items()}

    def state(self) -> dict[str, Any]:
        return {name: member.state() for name, member in self.members.items()}

    def load(self, state: dict[str, Any]) -> None:
        for name, member in self.members.items():
            member.load(state[name])


def _refuse_holes(batch: RolloutBatch) -> None:
    """NaN says that a task has no such component, so all of a group have it or none; a sum would drop any other."""
    rewards = batch.rewards.view(-1, batch.generations, len(batch.components))
    missing = rewards.isnan()
    holes = (rewards.isinf() | (missing & ~missing.all(dim=1, keepdim=True))).nonzero().tolist()
    for row, place, component in holes[:1]:
        name, task = batch.components[component], batch.tasks[row * batch.generations]
        value = rewards[row, place, component].item()
        raise UserError(
            f"{name} is {value} for completion {place + 1} of group {row + 1}, a prompt of {task}, and for others of"
            " its group a number; mend the reward's function"
        )


def from_settings(settings: TrainerStage) -> Chain:
    """UserError for an algorithm that was written and is not in CHAIN, and for advantages that none of CHAIN makes:
    what was asked for would be left out without a word.
    """
    made = {_name(module.__name__): module.from_settings(settings) for module in CHAIN}
    files = {module.name for module in iter_modules([str(Path(__file__).parent)])}
    for name in sorted(files - {_name(__name__), *made}):
        raise UserError(f"{FOLDER}/{name}.py is not in CHAIN, so no run would use it; add it in {FOLDER}/chain.py")
    members = {name: algorithm for name, algorithm in made.items() if algorithm is not None}
    asked = settings.grpo.advantages
    if asked not in members:
        raise UserError(
            f"grpo.advantages={asked} is made by no algorithm; write {FOLDER}/{asked}.py, whose from_settings answers"
            f" to that name, and add it to CHAIN in {FOLDER}/chain.py"
        )
    return Chain(members)


def _name(module: str) -> str:
    return module.rpartition(".")[2]
