"""A trainer that takes one step when it is told to: the child of `benchmarks/speed.py`.

    python -m benchmarks.lockstep side.json

Trainers in processes of their own can then be timed in turns, step by step, so that whatever else the machine does
falls on all of them alike. Each line on standard input is a step; each is answered with a line of JSON. `record` notes
what a run of ours samples; every other side decodes those very tokens, with all the work of its own decoding: logits,
softmax and the draw, whose result is then replaced. So all sides read and write the same number of tokens, and their
losses can be compared.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import torch
import trl
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback
from trl import GRPOConfig

from rewards import load_reward_set
from tucano.prompts import read_prompts
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_grpo
from tucano.training import grpo, grpo_trainer
from tucano.training.checkpoints.arithmetic import compute_with
from tucano.training.foresight.trial import replaying
from tucano.training.orders import JobFolders, order
from tucano.training.policies.load import load_policy
from tucano.training.policies.reading import Reader
from tucano.training.rollouts.scoring import Rewards
from tucano.training.samplers import decode

MARK = "> "
Kind = Literal["record", "ours", "stock", "defaults"]


@dataclass(frozen=True)
class Side:
    """`stock` is TRL's trainer with our arguments and its best settings on a CPU; `defaults` with its own where they
    touch speed.
    """

    kind: Kind
    settings: dict[str, Any]
    prompts: str
    start: str
    place: str
    threads: int
    tape: str

    def write(self) -> Path:
        Path(self.place).mkdir(parents=True)
        path = Path(self.place) / "side.json"
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return path


@dataclass
class Tape:
    """The prompts and completions of every rollout, in order."""

    rollouts: list[tuple[list[list[int]], list[list[int]]]]
    at: int = 0
    decoding: float = 0.0
    """CPU seconds spent in decoding so far."""

    def next(self, prompts: Sequence[Sequence[int]]) -> list[list[int]]:
        asked, completions = self.rollouts[self.at]
        assert [list(ids) for ids in prompts] == asked, "this side asks other prompts than the recorded one"
        self.at += 1
        return completions

    def timed(self, decode: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = decode()
        self.decoding += time.process_time() - began
        return result


class OnCommand(TrainerCallback):
    """Waits for a command before each step and answers it once the step, its logging included, is done."""

    def __init__(self, tape: Tape) -> None:
        self.tape, self.logs = tape, dict[str, float]()
        self.began: tuple[float, float, float] | None = None

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self.answer()
        sys.stdin.readline()
        self.began = (time.perf_counter(), time.process_time(), self.tape.decoding)

    def on_log(self, *given: Any, logs: dict[str, float], **_: Any) -> None:
        if "loss" in logs:
            self.logs = logs

    def answer(self) -> None:
        values: dict[str, float] = {}
        if self.began is not None:
            wall, cpu, decoding = self.began
            values = {
                "wall": time.perf_counter() - wall,
                "cpu": time.process_time() - cpu,
                "decoding": self.tape.decoding - decoding,
            }
            values |= {name: self.logs[name] for name in ("loss", "grad_norm", "completions/mean_length")}
        print(MARK + json.dumps(values), flush=True)


def main(path: Path) -> None:
    side = Side(**json.loads(path.read_text(encoding="utf-8")))
    compute_with(side.threads)
    tape = Tape([] if side.kind == "record" else json.loads(Path(side.tape).read_text(encoding="utf-8")))
    command = OnCommand(tape)
    trainer = ours(side, command) if side.kind in ("record", "ours") else stock(side, command)
    trainer.remove_callback(PrinterCallback)
    patches = {"record": recording, "ours": replaying_ours, "stock": replaying_stock, "defaults": replaying_stock}
    with patches[side.kind](tape):
        trainer.train()
    command.answer()
    if side.kind == "record":
        Path(side.tape).write_text(json.dumps(tape.rollouts), encoding="utf-8")


def ours(side: Side, command: OnCommand) -> Any:
    settings = PipelineSettings.model_validate(side.settings)
    place, seed = Path(side.place), settings.grpo.seeds[0]
    start = (side.start, None)
    job = order(
        "grpo",
        settings,
        seed,
        side.threads,
        JobFolders(prompts=Path(side.prompts), work=place, output=place),
        start=start,
    )
    return grpo.build(job, of_grpo(settings, seed), place / "drafts", [command])[0]


TRL_SETTINGS: dict[str, dict[str, Any]] = {
    "stock": {"gradient_checkpointing": False, "bf16": False, "per_device_train_batch_size": 16},
    "defaults": {"gradient_checkpointing": True, "bf16": True, "per_device_train_batch_size": 8},
}
"""What touches speed: the fastest that was found for TRL on a CPU (docs/speed.md), and what TRL takes when nothing is
said.
"""


def stock(side: Side, command: OnCommand) -> Any:
    """`trl.GRPOTrainer` itself around the model, data, reward functions and order of prompts that ours would have."""
    settings, folder = PipelineSettings.model_validate(side.settings), Path(side.prompts)
    changed = {"save_strategy": "no", **TRL_SETTINGS[side.kind]}
    changed["per_device_train_batch_size"] = min(changed["per_device_train_batch_size"], settings.grpo.batch_size)
    parts = settings.grpo.batch_size // changed["per_device_train_batch_size"]
    changed |= {"gradient_accumulation_steps": parts, "steps_per_generation": parts}
    seed, prompts = settings.grpo.seeds[0], read_prompts(folder / "train.jsonl")
    systems = json.loads((folder / "system_prompts.json").read_text(encoding="utf-8"))
    policy, tokenizer = load_policy(settings.model, side.start, None, trainable=True, seed=seed)
    scorer = Rewards(load_reward_set(settings.grpo.rewards, folder), prompts, Reader(tokenizer), systems)
    with mock.patch.object(grpo, "GRPOConfig", lambda **given: GRPOConfig(**{**given, **changed})):
        arguments = grpo.arguments(of_grpo(settings, seed), Path(side.place) / "drafts", settings.grpo.save_steps)
    return trl.GRPOTrainer(
        model=policy,
        args=arguments,
        train_dataset=grpo._dataset(prompts, systems, tokenizer),
        reward_funcs=scorer.functions(),
        processing_class=tokenizer,
        callbacks=[command],
    )


@contextmanager
def recording(tape: Tape) -> Iterator[None]:
    sample = decode.Decoder.sample

    def recorded(decoder: decode.Decoder, prompts: Sequence[Sequence[int]], *given: Any) -> list[list[int]]:
        completions = sample(decoder, prompts, *given)
        tape.rollouts.append(([list(ids) for ids in prompts], completions))
        return completions

    with mock.patch.object(decode.Decoder, "sample", recorded):
        yield


@contextmanager
def replaying_ours(tape: Tape) -> Iterator[None]:
    """The draw is made and its result replaced."""

    def timed(trainer: Any, prompts: list[list[int]], *given: Any, **named: Any) -> Any:
        return tape.timed(lambda: generate(trainer, prompts, *given, **named))

    generate = grpo_trainer.GrpoMixin._generate_single_turn
    with replaying(tape.next), mock.patch.object(grpo_trainer.GrpoMixin, "_generate_single_turn", timed):
        yield


@contextmanager
def replaying_stock(tape: Tape) -> Iterator[None]:
    """transformers draws with torch.multinomial, one column of tokens at a time; rows stay where they are."""
    generate, multinomial = trl.GRPOTrainer._generate_single_turn, torch.multinomial
    columns: Iterator[Tensor] = iter(())

    def forced(probabilities: Tensor, num_samples: int) -> Tensor:
        multinomial(probabilities, num_samples=num_samples)
        return next(columns)

    def replayed(trainer: Any, prompts: list[list[int]], *given: Any, **named: Any) -> Any:
        nonlocal columns
        whole = pad_sequence([torch.tensor(ids) for ids in tape.next(prompts)], batch_first=True)
        columns = iter(whole.T.unsqueeze(2))
        with mock.patch.object(torch, "multinomial", forced):
            return tape.timed(lambda: generate(trainer, prompts, *given, **named))

    with mock.patch.object(trl.GRPOTrainer, "_generate_single_turn", replayed):
        yield


if __name__ == "__main__":
    main(Path(sys.argv[1]))
