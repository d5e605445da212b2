"""What SFT and GRPO share around a transformers Trainer: exact resume, checkpoints by time, and an orderly end on SIGTERM.

A step is finished once the optimizer has stepped and its metrics are in the journal. What the next step changes before it is
finished (random generators, rollout buffer, an algorithm's state, counters) is remembered at that moment, so that an unfinished
step can be dropped; weights and optimizer change only in a span in which nothing asks for SIGTERM.
"""

import copy
import random
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from tucano.files.models import JOURNAL, WorkFiles
from tucano.journal import JournalWriter
from tucano.training import interruption
from tucano.training.attempts import Attempt
from tucano.training.checkpoints import step_of
from tucano.training.jobs import Progress, emit

BEST = "validation/best"
"""Place of the best adapter in a checkpoint. Two levels down: an adapter in a direct subfolder is loaded as a second one."""

UPLOAD_SECONDS = 6.0
"""After SIGTERM the last checkpoint has this long to be uploaded; the process has ten seconds in all."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What the unfinished step after it may have changed already."""

    extra: dict[str, Any]
    tokens_seen: int
    random: tuple[Any, Any, torch.Tensor, list[torch.Tensor]]


class SealedCheckpoints:
    """Mixin for a Trainer: checkpoints that hold everything, and looks at the validation set that may be cut off and made up."""

    journal: JournalWriter
    attempt: Attempt
    best: Path
    save_seconds: float
    _finished: Finished | None = None
    _sealed = False
    """Only `train_sealed` keeps anything; a rehearsal calls `train` and leaves no trace."""

    def extra_state(self) -> dict[str, Any]:
        """What a resumed run needs beyond transformers' own files; tensors and plain values."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `extra_state` gave."""

    def look_is_due(self) -> bool:
        """Whether the validation set is to be looked at after this step and has not been yet."""
        raise NotImplementedError

    def look(self) -> None:
        """Look at the validation set. Draws from no generator of training; changes state only once it cannot be cut off any more."""
        raise NotImplementedError

    def patience_is_over(self) -> bool:
        raise NotImplementedError

    def train_sealed(self) -> bool:
        """Train from the attempt's newest checkpoint, or the start, to the end. False: SIGTERM ended it, its state is saved."""
        for callback in (PrinterCallback, ProgressCallback):
            self.remove_callback(callback)  # type: ignore[attr-defined]
        self._sealed = True
        self.add_callback(_Watch())  # type: ignore[attr-defined]
        interruption.listen()
        for module in _called(self.model):  # type: ignore[attr-defined]
            module.register_forward_pre_hook(lambda *_: interruption.check())
        try:
            self._train()
        except interruption.Interrupted:
            self._save_finished()
            return False
        return True

    def _train(self) -> None:
        newest = self.attempt.newest
        shutil.rmtree(self.best, ignore_errors=True)
        if newest is not None:
            self.state = TrainerState.load_from_json(str(newest / "trainer_state.json"))
            self.restore(torch.load(newest / "extra_state.pt", weights_only=True))
            self._load_from_checkpoint(str(newest))  # type: ignore[attr-defined]
            if (newest / BEST).exists():
                shutil.copytree(newest / BEST, self.best)
        began = time.monotonic()
        if self.look_is_due():  # the one before the first step, or one that SIGTERM cut off
            self.look()
        self._saved_at = self._ended_at = time.monotonic()
        self._longest = self._ended_at - began
        if not self.patience_is_over() and (newest is None or self.state.global_step < self.state.max_steps):
            self.train(resume_from_checkpoint=str(newest) if newest else None)  # type: ignore[attr-defined]

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        super().log(logs, start_time)  # type: ignore[misc]
        if self._sealed and "loss" in logs:
            self._end_step()

    def _end_step(self) -> None:
        """The step's metrics are logged: it is finished. What may be long, and cut off, comes after that is remembered.

        A checkpoint is due when the next step's end might be too late for it, judged by the longest time between two so far.
        """
        self._remember()
        if self.look_is_due():
            self.look()
            self._remember()
        control: TrainerControl = self.control  # type: ignore[attr-defined]
        if self.patience_is_over():
            control.should_training_stop = control.should_save = True
        now = time.monotonic()
        self._longest = max(self._longest, now - self._ended_at)
        self._ended_at = now
        if now - self._saved_at + self._longest > self.save_seconds:
            control.should_save = True

    def _remember(self) -> None:
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
        generators = (random.getstate(), np.random.get_state(), torch.random.get_rng_state(), cuda)
        self._finished = Finished(copy.deepcopy(self.extra_state()), self.state.num_input_tokens_seen, generators)

    def _save_finished(self) -> None:
        """Save the last finished step, unless that has been done, or this attempt has finished none; then end the uploads."""
        name = f"checkpoint-{self.state.global_step}"
        if self._finished is not None and not (self.attempt.folder / name).exists():
            self._save_checkpoint(self.model, None)  # type: ignore[attr-defined]
        if self.attempt.uploader is not None:
            self.attempt.uploader.close(UPLOAD_SECONDS)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Written beside its place, then sealed and moved there. Right after a step there is nothing to go back from."""
        if not self._sealed:
            return
        finished = self._finished
        assert finished is not None, "nothing is saved before a step is finished"
        self.state.num_input_tokens_seen = finished.tokens_seen
        _set_generators(finished.random)
        super()._save_checkpoint(model, trial)  # type: ignore[misc]
        draft = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"  # type: ignore[attr-defined]
        torch.save(finished.extra, draft / "extra_state.pt")
        self.journal.copy_to(draft / JOURNAL)
        if self.best.exists():
            shutil.copytree(self.best, draft / BEST)
        self.attempt.keep(draft)
        self.journal.commit(self.state.global_step)
        self._saved_at = time.monotonic()


def opened_journal(attempt: Attempt) -> JournalWriter:
    """The journal as the attempt's newest checkpoint holds it."""
    path, newest = WorkFiles(attempt.work).journal, attempt.newest
    if newest is None:
        return JournalWriter(path, resume_step=None)
    return JournalWriter(path, resume_step=step_of(newest.name), covered=newest / JOURNAL)


def _called(model: Any) -> set[Any]:
    """The modules that forward passes of training and of `generate` call: an adapter's wrapper calls past the hooks inside it."""
    return {model, model.get_base_model() if hasattr(model, "get_base_model") else model}


def _set_generators(states: tuple[Any, Any, torch.Tensor, list[torch.Tensor]]) -> None:
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.random.set_rng_state(states[2])
    if states[3]:
        torch.cuda.set_rng_state_all(states[3])


class _Watch(TrainerCallback):
    """Asks for SIGTERM where a step can still be dropped."""

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        interruption.check()

    def on_substep_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        interruption.check()

    def on_pre_optimizer_step(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        interruption.check()


class Reporter(TrainerCallback):
    """Writes every logged step to the journal and tells the parent about it, with the time that is left."""

    def __init__(self, journal: JournalWriter, stage: str, shown: dict[str, str]) -> None:
        self.journal, self.stage, self.shown = journal, stage, shown
        self.started: tuple[float, int] | None = None

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.started = (time.monotonic(), state.global_step)

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: dict[str, Any] | None = None, **_: Any
    ) -> None:
        values = {name: float(value) for name, value in (logs or {}).items() if isinstance(value, int | float)}
        if not values or "train_runtime" in values or any(name.startswith("eval_") for name in values):
            return
        self.journal.log(state.global_step, {f"train/{name}": value for name, value in values.items() if name != "epoch"})
        shown = {label: values[name] for name, label in self.shown.items() if name in values}
        emit(Progress(self.stage, state.global_step, state.max_steps, shown, self._seconds_left(state)))

    def _seconds_left(self, state: TrainerState) -> float | None:
        assert self.started is not None
        began, first = self.started
        done = state.global_step - first
        return (time.monotonic() - began) / done * (state.max_steps - state.global_step) if done else None
