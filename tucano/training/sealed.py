"""What SFT and GRPO share around a transformers Trainer: sealed checkpoints, progress, and an orderly end on SIGTERM."""

import signal
import time
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from tucano.journal import JournalWriter
from tucano.training import checkpoints
from tucano.training.jobs import Progress, emit

KEPT = 2
"""Recovery checkpoints kept: should the newest be damaged, there is one before it."""


class SealedCheckpoints:
    """Mixin for a Trainer: a checkpoint counts once its manifest stands, and the journal is committed up to it."""

    journal: JournalWriter

    def extra_state(self) -> dict[str, Any]:
        """What a resumed run needs beyond transformers' own files; tensors and plain values."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `extra_state` gave."""

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)  # type: ignore[misc]
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"  # type: ignore[attr-defined]
        torch.save(self.extra_state(), folder / "extra_state.pt")
        checkpoints.seal(folder)
        self.journal.commit(self.state.global_step)  # type: ignore[attr-defined]
        checkpoints.prune(folder.parent, KEPT)

    def train_sealed(self, newest: Path | None) -> None:
        """Train from `newest`, or from the start."""
        for callback in (PrinterCallback, ProgressCallback):
            self.remove_callback(callback)  # type: ignore[attr-defined]
        if newest is not None:
            self.restore(torch.load(newest / "extra_state.pt", weights_only=True))
        self.train(resume_from_checkpoint=str(newest) if newest else None)  # type: ignore[attr-defined]


class StopOnSigterm(TrainerCallback):
    """SIGTERM: finish the step, save a checkpoint, stop. `stopped` says afterwards that it happened."""

    def __init__(self) -> None:
        self.stopped = False
        signal.signal(signal.SIGTERM, self._stop)

    def _stop(self, *_: Any) -> None:
        self.stopped = True

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if self.stopped and state.global_step < state.max_steps:
            control.should_save = control.should_training_stop = True


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
