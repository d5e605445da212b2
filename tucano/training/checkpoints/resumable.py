"""What SFT and GRPO share around a transformers Trainer: exact resume, checkpoints by time, and an orderly end on
SIGTERM.

A step is finished once the optimizer has stepped and its metrics are in the journal. Everything else that a step
changes is remembered at that moment, so that an unfinished step can be dropped; weights and optimizer change only in a
span in which nothing asks for SIGTERM. Everything else is: the generators, the state of our own parts, and every plain
attribute of the trainer, whoever has put it there and whatever it is called. Which of them changed since the trainer
was made goes into the checkpoint.
"""

import copy
import json
import math
import random
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from tucano.errors import UserError
from tucano.files.models import JOURNAL
from tucano.storage.journal import JournalWriter
from tucano.training.checkpoints import arithmetic, interruption, states, weights
from tucano.training.checkpoints.arithmetic import Arithmetic
from tucano.training.checkpoints.attempts import Attempt
from tucano.training.checkpoints.beginning import Beginning
from tucano.training.checkpoints.weights import Policy

if TYPE_CHECKING:
    from transformers.trainer import Trainer

    from tucano.settings.training.dpo import DpoRun
    from tucano.settings.training.grpo import GrpoRun
    from tucano.settings.training.sft import SftTraining
    from tucano.training.health import Watch
else:
    Trainer = object  # the real one comes after it in the trainer's bases

BEST = "best"
"""Place of the best model or adapter in a checkpoint."""
STATE, DIGESTS = "extra_state.pt", "digests.json"
"""What transformers does not save, and what everything in the checkpoint was when it was saved."""

UPLOAD_SECONDS = 6.0
"""After SIGTERM the last checkpoint has this long to be uploaded; the process has ten seconds in all."""


class Part(Protocol):
    """Something of ours in a trainer that changes from step to step."""

    def state(self) -> dict[str, Any]: ...

    def load(self, state: dict[str, Any]) -> None: ...


@dataclass(frozen=True)
class Settled:
    """A part that is settled before the first step, as one text, which costs nothing to copy at every step. An attempt
    takes it from its checkpoint: answers that are drawn anew on another machine, or by a server, may differ.
    """

    text: str

    def state(self) -> dict[str, Any]:
        return {"text": self.text}

    def load(self, state: dict[str, Any]) -> None:
        assert state == self.state(), "an attempt begins with what its checkpoint holds"


def settled(attempt: Attempt, part: str) -> Any:
    """What the checkpoint that this attempt goes on from holds of such a part; None where there is none."""
    if attempt.newest is None:
        return None
    return json.loads(torch.load(attempt.newest / STATE, weights_only=True)["parts"][part]["text"])


class Looking(Part, Protocol):
    """What looks at the validation set and keeps the best model; `waited`: looks without a better one."""

    @property
    def settings(self) -> "SftTraining | GrpoRun | DpoRun": ...

    @property
    def waited(self) -> int: ...

    def is_due(self, step: int, last: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class FinishedStep:
    """What the unfinished step after it may have changed already."""

    trainer: dict[str, Any]
    progress: dict[str, Any]
    parts: dict[str, Any]
    random: dict[str, Any]


@dataclass(slots=True)
class Pace:
    """When the last checkpoint was saved and the last step ended, and the longest time between two ends, in seconds."""

    saved_at: float
    ended_at: float
    longest: float


class ResumableTrainer(Trainer):
    """Mixin for a Trainer: checkpoints that hold everything, and validation that may be cut off and made up."""

    model: Policy
    optimizer: Optimizer
    lr_scheduler: LambdaLR
    journal: JournalWriter
    attempt: Attempt
    arithmetic: list[Arithmetic]
    best: Path
    save_seconds: float
    validation: Looking
    watch: "Watch | None" = None
    _made: FinishedStep
    _pace: Pace
    _finished: FinishedStep | None = None
    _keeps_checkpoints = False
    """Only `train_resumable` keeps anything; a rehearsal calls `train` and leaves no trace."""

    def begin(self, beginning: Beginning) -> None:
        self.attempt, self.arithmetic = beginning.attempt, beginning.arithmetic
        self.journal, self.best, self.save_seconds = beginning.journal, beginning.best, beginning.save_seconds

    def parts(self) -> dict[str, Part]:
        """What of ours a step changes, besides weights and the trainer's own attributes."""
        return {"validation": self.validation}

    def look_is_due(self) -> bool:
        """Whether the validation set is to be looked at after this step and has not been yet."""
        return self.validation.is_due(self.state.global_step, self.state.max_steps)

    def look(self) -> None:
        """Look at the validation set; draw from no generator of training, change state once it cannot be cut off."""
        raise NotImplementedError

    def patience_is_over(self) -> bool:
        waited_enough = self.validation.waited >= self.validation.settings.patience
        return waited_enough or (self.watch is not None and self.watch.must_stop)

    def train_resumable(self) -> bool:
        """Train from the newest checkpoint, or the start, to the end. False: SIGTERM ended it, its state is saved."""
        for callback in (PrinterCallback, ProgressCallback):
            self.remove_callback(callback)
        self._keeps_checkpoints = True
        self.add_callback(InterruptionCallback(self))
        interruption.listen()
        asking = [module.register_forward_pre_hook(lambda *_: interruption.check()) for module in _called(self.model)]
        try:
            self._train()
        except interruption.Interrupted:
            is_whole = False
        else:
            is_whole = True
        for hook in asking:  # what is saved from here on is measured by forward passes that nothing may drop
            hook.remove()
        if not is_whole:
            self._save_finished()
        return is_whole

    def _train(self) -> None:
        newest = self.attempt.newest
        shutil.rmtree(self.best, ignore_errors=True)
        self._made = self._held()
        if newest is not None:
            self.state = TrainerState.load_from_json(str(newest / "trainer_state.json"))
            self._load_from_checkpoint(str(newest))
            self.take(torch.load(newest / STATE, weights_only=True))
            self._confirm(newest, parts={name: part.state() for name, part in self.parts().items()})
            if (newest / BEST).exists():
                shutil.copytree(newest / BEST, self.best)
        began = time.monotonic()
        if self.look_is_due():  # the one before the first step, or one that SIGTERM cut off
            self.look()
        ended = time.monotonic()
        self._pace = Pace(ended, ended, ended - began)
        if not self.patience_is_over() and (newest is None or self.state.global_step < self.state.max_steps):
            self.train(resume_from_checkpoint=str(newest) if newest else None)

    def take(self, saved: Mapping[str, Any]) -> None:
        """Take our parts' state and the trainer's attributes as a checkpoint holds them."""
        for name, part in self.parts().items():
            part.load(saved["parts"][name])
        states.put_back(self, saved["trainer"])

    def begin_steps(self) -> None:
        """transformers has set its counters to zero before the first step: put back what the checkpoint holds."""
        if self.attempt.newest is not None:
            saved = torch.load(self.attempt.newest / STATE, weights_only=True)["trainer"]
            states.put_back(self, saved)
            self._confirm(self.attempt.newest, trainer={name: vars(self)[name] for name in saved})

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        weights.load(self.model, Path(resume_from_checkpoint))
        self._confirm(Path(resume_from_checkpoint), weights=weights.held(self.model))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is not None:
            self._confirm(Path(checkpoint), **self._optimizer())

    def _load_rng_state(self, checkpoint: str | None) -> None:
        super()._load_rng_state(checkpoint)
        if checkpoint is not None:
            self._confirm(Path(checkpoint), random=generators(self.args.device))

    def _optimizer(self) -> dict[str, Any]:
        return {"optimizer": self.optimizer.state_dict(), "scheduler": self.lr_scheduler.state_dict()}

    def _confirm(self, checkpoint: Path, **found: Any) -> None:
        """Hold what was loaded against what the checkpoint's writer held. NotAsSaved names what differs."""
        saved = json.loads((checkpoint / DIGESTS).read_text(encoding="utf-8"))
        for name, value in found.items():
            wrong = states.differences(saved[name], states.digests(value))
            if wrong:
                shown = ", ".join(wrong[:3]) + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "")
                raise states.NotAsSaved(
                    f"{checkpoint} was loaded, but {len(wrong)} values of its {name} are not as they were saved:"
                    f" {shown}"
                )

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        super().log(logs, start_time)
        if self._keeps_checkpoints:
            self.state.log_history.clear()  # the journal has it
            if "loss" in logs:
                if self.watch is None or not self.watch.must_stop:  # an alarm that ends the run has said it
                    self.require_number(logs["loss"])
                self._end_step()

    def require_number(self, loss: float) -> None:
        """UserError for a loss that is NaN or infinite: so are the weights from then on."""
        if not math.isfinite(loss):
            raise UserError(
                f"the loss of step {self.state.global_step} is {loss}, so no later one would be a number: lower"
                f" learning_rate={self.args.learning_rate:g} of this training, or take another base"
            )

    def _end_step(self) -> None:
        """The step's metrics are logged: it is finished. What may be long, and cut off, comes after that is remembered.

        A checkpoint is due when the next step's end might be too late for it, judged by the longest time between two so
        far.
        """
        self._remember()
        if self.look_is_due():
            self.look()
            self._remember()
        control = self.control
        if self.patience_is_over():
            control.should_training_stop = control.should_save = True
        now = time.monotonic()
        pace = self._pace
        pace.longest = max(pace.longest, now - pace.ended_at)
        pace.ended_at = now
        if now - pace.saved_at + pace.longest > self.save_seconds:
            control.should_save = True

    def _remember(self) -> None:
        self._finished = self._held()

    def _held(self) -> FinishedStep:
        parts = {name: copy.deepcopy(part.state()) for name, part in self.parts().items()}
        return FinishedStep(states.copied(self), states.copied(self.state), parts, generators(self.args.device))

    def _save_finished(self) -> None:
        """Save the last finished step, if this attempt has finished one that is not saved; then end the uploads."""
        name = f"checkpoint-{self.state.global_step}"
        if self._finished is not None and not (self.attempt.folder / name).exists():
            self._save_checkpoint(self.model, None)
        if self.attempt.uploader is not None:
            self.attempt.uploader.close(UPLOAD_SECONDS)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Written beside its place, sealed and moved there. Right after a step there is nothing to go back from."""
        if not self._keeps_checkpoints:
            return
        finished = self._finished
        assert finished is not None, "nothing is saved before a step is finished"
        states.put_back(self, finished.trainer)
        states.put_back(self.state, finished.progress)
        _set_generators(finished.random)
        super()._save_checkpoint(model, trial)
        draft = self.attempt.drafts / f"checkpoint-{self.state.global_step}"
        changed = _changed(self._made.trainer, finished.trainer)
        torch.save({"trainer": changed, "parts": finished.parts}, draft / STATE)
        content = {
            "weights": weights.held(self.model),
            **self._optimizer(),
            "random": finished.random,
            "trainer": changed,
            "parts": finished.parts,
        }
        (draft / DIGESTS).write_text(
            json.dumps({name: states.digests(value) for name, value in content.items()}, indent=1), encoding="utf-8"
        )
        arithmetic.write(self.arithmetic, draft)
        self.journal.copy_to(draft / JOURNAL)
        if self.best.exists():
            shutil.copytree(self.best, draft / BEST)
        self.attempt.keep(draft)
        self.journal.commit(self.state.global_step)
        self._pace.saved_at = time.monotonic()

    def _save(self, output_dir: str | None = None, state_dict: dict[str, Any] | None = None) -> None:
        weights.save(self.model, Path(output_dir or self.attempt.drafts))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that have another value than before, or had none."""
    return {
        name: value
        for name, value in after.items()
        if name not in before or states.digests(before[name]) != states.digests(value)
    }


def _called(model: Any) -> list[Any]:
    """What forward passes of training and of `generate` call: an adapter's wrapper calls past the hooks inside it."""
    return [model, model.get_base_model()] if hasattr(model, "get_base_model") else [model]


def generators(device: torch.device) -> dict[str, Any]:
    """The states of all generators that a training on `device` draws from."""
    held = {"python": random.getstate(), "numpy": np.random.get_state(), "torch": torch.random.get_rng_state()}
    return {**held, "cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else held


def _set_generators(held: Mapping[str, Any]) -> None:
    random.setstate(held["python"])
    np.random.set_state(held["numpy"])
    torch.random.set_rng_state(held["torch"])
    if "cuda" in held:
        torch.cuda.set_rng_state(held["cuda"])


class InterruptionCallback(TrainerCallback):
    """Asks for SIGTERM where a step can still be dropped."""

    def __init__(self, trainer: ResumableTrainer) -> None:
        self.trainer = trainer

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.trainer.begin_steps()

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        interruption.check()

    on_substep_end = on_pre_optimizer_step = on_step_begin
