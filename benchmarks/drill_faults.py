"""Faults that the drill must find: each is one thing that a resume loses or that comes back wrong, planted into the
code that trains.

Where the read-back after every load would stop the attempt first, it is blinded, so that the drill has to find the
fault by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import Trainer
from trl.trainer.utils import RepeatSampler

from tucano.storage.journal import JournalWriter
from tucano.training import grpo_trainer
from tucano.training.algorithms.chain import Chain
from tucano.training.checkpoints import attempts, beginning, resumable, states, weights
from tucano.training.checkpoints.attempts import Attempt
from tucano.training.checkpoints.manifest import step_of
from tucano.training.rollouts.refill import Reserve


@dataclass(frozen=True)
class Fault:
    """What goes wrong, the configuration in which it matters, and how it is planted (in a process that is thrown
    away).
    """

    name: str
    configuration: str
    plant: Callable[[], None]


def blind() -> None:
    """Nothing is read back."""
    resumable.ResumableTrainer._confirm = _nothing  # type: ignore[method-assign]
    weights.read_back = _nothing


def _nothing(*_: Any, **__: Any) -> None:
    pass


def _without(*names: str) -> None:
    """The trainer's attributes of these names are neither put back for a dropped step nor after a resume."""
    blind()
    put_back = states.put_back

    def incomplete(owner: Any, values: Mapping[str, Any]) -> None:
        put_back(owner, {name: value for name, value in values.items() if name not in names})

    states.put_back = incomplete


def _generators() -> None:
    blind()
    Trainer._load_rng_state = _nothing


def _optimizer() -> None:
    blind()
    Trainer._load_optimizer_and_scheduler = _nothing


def _epochs() -> None:
    grpo_trainer.EpochSampler.__iter__ = RepeatSampler.__iter__  # type: ignore[method-assign]


def _algorithm() -> None:
    blind()
    Chain.load = _nothing  # type: ignore[method-assign]


def _reserve() -> None:
    blind()
    Reserve.load = _nothing  # type: ignore[method-assign]


def _unfinished() -> None:
    save = resumable.ResumableTrainer._save_checkpoint

    def too_late(trainer: resumable.ResumableTrainer, model: Any, trial: Any) -> None:
        if trainer._finished is not None:
            trainer._remember()
        save(trainer, model, trial)

    resumable.ResumableTrainer._save_checkpoint = too_late  # type: ignore[method-assign, assignment]


def _journal() -> None:
    def by_step(attempt: Attempt) -> JournalWriter:
        return JournalWriter(
            attempt.work / "journal.jsonl", resume_step=step_of(attempt.newest.name) if attempt.newest else None
        )

    beginning.opened_journal = by_step


def _reference() -> None:
    """As TRL, peft and transformers do it by themselves, who take every folder with an adapter beside the checkpoint's
    own.
    """
    blind()
    resumable.BEST = "validation/best"

    def save(model: weights.Policy, folder: Path) -> None:
        model.save_pretrained(str(folder))

    weights.save = save
    resumable.ResumableTrainer._load_from_checkpoint = Trainer._load_from_checkpoint  # type: ignore[method-assign]


def _threads() -> None:
    begin = attempts.begin

    def forgetful(work: Path, mirror: str | None, threads: int) -> Attempt:
        attempt = begin(work, mirror, threads)
        attempt.record = replace(attempt.record, threads=threads)
        return attempt

    attempts.begin = forgetful


def _bit() -> None:
    """One bit of what was loaded is another one; the read-back is left to see it."""
    put = weights.set_peft_model_state_dict

    def almost(model: Any, stored: dict[str, torch.Tensor], **named: Any) -> Any:
        changed = {name: tensor.clone() for name, tensor in stored.items()}
        next(iter(changed.values())).view(torch.int32)[0, 0] ^= 1
        return put(model, changed, **named)

    weights.set_peft_model_state_dict = almost


def _unseen_bit() -> None:
    blind()
    _bit()


FAULTS = (
    Fault("generators not restored", "dropout .1", _generators),
    Fault("optimizer and schedule not restored", "gradient accumulation 2", _optimizer),
    Fault("rollout buffer not restored", "rollouts for 4 steps", lambda: _without("_buffered_inputs")),
    Fault("place in the rollout buffer not restored", "rollouts for 4 steps", lambda: _without("_step")),
    Fault("order of an epoch drawn anew", "several epochs (6 steps each)", _epochs),
    Fault("SFT's token counter not restored", "SFT", lambda: _without("_total_train_tokens")),
    Fault("task weights not restored", "task weights, refill, entropy target, length stages", _algorithm),
    Fault("reserve of prompts not restored", "task weights, refill, entropy target, length stages", _reserve),
    Fault(
        "entropy coefficient of a dropped step kept",
        "adaptive entropy, dapo",
        lambda: _without("entropy_coef", "_last_world_entropy"),
    ),
    Fault("state of an unfinished step saved", "gradient accumulation 2", _unfinished),
    Fault("journal cut by step", "uploads after every step, every attempt on an empty machine", _journal),
    Fault("reference adapter saved, and loaded instead of the policy", "KL penalty", _reference),
    Fault("another number of threads", "attempts that ask for other numbers of threads", _threads),
    Fault("a bit of the loaded weights turned over", "dropout .1", _bit),
    Fault("a bit of the loaded weights turned over, and not read back", "dropout .1", _unseen_bit),
)
