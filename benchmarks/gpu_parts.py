"""What `benchmarks/gpu.py` measures, each part in a process of its own:

    python -m benchmarks.gpu_parts draws FOLDER

`FOLDER/setup.json` says on what and how much (`Setup`); prints a line of JSON, {what: seen}.
"""

import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import torch.nn.functional as F
from transformers import AutoTokenizer, GenerationConfig, Qwen3Config, Qwen3ForCausalLM, TrainerCallback

from benchmarks import lockstep
from tucano.files.prompts import PromptFiles
from tucano.profiles import load_profile, project_root
from tucano.prompts import read_prompts
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_grpo
from tucano.training import grpo
from tucano.training.checkpoints import arithmetic
from tucano.training.grpo_trainer import GrpoMixin
from tucano.training.launch import environment
from tucano.training.orders import JobFolders, order
from tucano.training.policies.chat import encode
from tucano.training.policies.load import load_base, load_policy
from tucano.training.samplers import Decoding, slots
from tucano.training.samplers.decode import Decoder
from tucano.training.samplers.opening import sampler_for

LEARNING_RATE = 6e-4
PASSES = 4
Seen = dict[str, Any]


@dataclass(frozen=True)
class Setup:
    """shape: fields of Qwen3Config. seconds: of training the base. rows, tokens: of a rollout. overrides: of
    the profile `l4-v5`, for all parts. killed: the same for the trainings that are killed.
    """

    folder: Path
    device: str = "cuda"
    shape: str = json.dumps(
        {
            "vocab_size": 49_152, "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
            "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "max_position_embeddings": 4096,
        }
    )  # fmt: skip
    seconds: float = 45.0
    batch: int = 96
    rows: int = 64
    tokens: int = 512
    overrides: tuple[str, ...] = ()
    killed: tuple[str, ...] = (
        "grpo.batch_size=32",
        "grpo.generations=8",
        "grpo.micro_batch=16",
        "grpo.max_completion_tokens=160",
    )
    vllm: str | None = None

    @property
    def prompts(self) -> Path:
        return self.folder / "prompts"

    @property
    def base(self) -> Path:
        return self.folder / "base"

    def settings(self, *more: str) -> PipelineSettings:
        own = (f"model.name={self.base}", "model.revision=null", "grpo.seeds=[42]", "execution.seeds=null")
        return load_profile(project_root(Path.cwd()), "l4-v5", [*own, *self.overrides, *more])

    def write(self) -> None:
        fields = {**asdict(self), "folder": str(self.folder)}
        (self.folder / "setup.json").write_text(json.dumps(fields), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Setup":
        fields = json.loads((folder / "setup.json").read_text(encoding="utf-8"))
        lists = {name: tuple(fields[name]) for name in ("overrides", "killed")}
        return cls(**{**fields, **lists, "folder": folder})


def base(setup: Setup) -> Seen:
    """A base that knows its tasks a little: trained whole on `tokens.npz`, for so many seconds."""
    kept = np.load(setup.folder / "tokens.npz")
    lengths = kept["lengths"]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tokenizer = AutoTokenizer.from_pretrained(setup.folder / "tokenizer")
    torch.manual_seed(0)
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": None}
    with torch.device(setup.device):
        model = Qwen3ForCausalLM(Qwen3Config(**json.loads(setup.shape), **ends, tie_word_embeddings=True)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.95), weight_decay=0.05)
    random, began, steps, loss = np.random.default_rng(0), time.monotonic(), 0, torch.zeros(())
    while (share := (time.monotonic() - began) / setup.seconds) < 1 or steps == 0:
        chosen = random.integers(len(lengths), size=setup.batch)
        ids = torch.full((setup.batch, int(lengths[chosen].max())), tokenizer.pad_token_id)
        for row, at in enumerate(chosen):
            ids[row, : lengths[at]] = torch.from_numpy(kept["flat"][starts[at] : starts[at + 1]].astype(np.int64))
        ids = ids.to(setup.device)
        with torch.autocast(setup.device, torch.bfloat16):
            hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
            asked = ids[:, 1:] != tokenizer.pad_token_id
            loss = F.cross_entropy(model.lm_head(hidden[asked]).float(), ids[:, 1:][asked])
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * min(1.0, (steps + 1) / 60) * max(0.02, 1 - share) ** 0.7
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        steps += 1
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = (
        ends["eos_token_id"],
        ends["pad_token_id"],
    )
    model.eval().to(torch.bfloat16).save_pretrained(setup.base)
    tokenizer.save_pretrained(setup.base)
    return {"steps": steps, "loss": loss.item(), "weights": sum(weight.numel() for weight in model.parameters())}


def draws(setup: Setup) -> Seen:
    """A rollout of whole length by our loop, as graphs and kernel by kernel, and some tokens by `generate`."""
    model = setup.settings().model
    policy, tokenizer = load_policy(model, model.name, None, trainable=True, seed=1)
    _some_adapter(policy)
    prompts = _prompts(setup, tokenizer)
    with _times_of(slots, "captured") as capturing:
        decoder, building = _timed(lambda: Decoder(policy), setup)
        _timed(lambda: slots.sample(decoder, prompts, 20, [], 1.0, torch.Generator().manual_seed(0)), setup)  # warm
        first, whole = _timed(lambda: _draw(decoder, prompts, setup.tokens), setup)
        again, _ = _timed(lambda: _draw(Decoder(policy), prompts, setup.tokens), setup)
    few = min(64, setup.tokens)
    with patch.object(slots, "captured", lambda step: step):
        eager, one_by_one = _timed(lambda: _draw(decoder, prompts, few), setup)
    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(row)) + row for row in prompts], device=setup.device)
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in prompts], device=setup.device)
    asking = {"input_ids": ids, "attention_mask": mask, "max_new_tokens": 16, "min_new_tokens": 16}
    with as_torch_comes():
        _, theirs = _timed(lambda: policy.generate(**asking, do_sample=True, top_k=0), setup)
    return {
        "rollout s": whole,
        "ms a token": 1e3 * whole / setup.tokens,
        "ms a token, kernel by kernel": 1e3 * one_by_one / few,
        "ms a token, generate": 1e3 * theirs / 16,
        "building the decoder s": building,
        "graphs": len(capturing),
        "ms to capture one": 1e3 * median(capturing or [0.0]),
        "drawn twice alike": first == again,
        "kernel by kernel alike": [row[:few] for row in first] == eager,
        **_peak(setup),
    }


def batching(setup: Setup) -> Seen:
    """The same rollout by the continuous batching of transformers, the base without an adapter."""
    model = setup.settings().model
    bare, tokenizer = load_base(model, model.name)
    bare.set_attn_implementation("paged|sdpa")
    how = GenerationConfig(
        max_new_tokens=setup.tokens, do_sample=True, top_k=0, eos_token_id=-1, pad_token_id=tokenizer.pad_token_id
    )
    prompts = _prompts(setup, tokenizer)
    with as_torch_comes():
        seen = [_timed(lambda: bare.generate_batch(prompts, how), setup) for _ in range(2)]  # the first warms up
    drawn = [sum(len(one.generated_tokens) for one in answers.values()) for answers, _ in seen]
    return {"rollout s": seen[-1][1], "tokens": drawn[-1], **_peak(setup)}


def vllm(setup: Setup) -> Seen:
    """The same rollout by a vLLM server beside the trainer's model."""
    settings = setup.settings("grpo.sampler=vllm", f"worker.vllm_python={setup.vllm}")
    policy, tokenizer = load_policy(settings.model, settings.model.name, None, trainable=True, seed=1)
    place = setup.folder / "vllm"
    place.mkdir(exist_ok=True)
    job = order("grpo", settings, 42, 1, JobFolders(setup.prompts, place, place), (settings.model.name, None))
    how = Decoding(setup.tokens, 1.0, ())
    with closing(sampler_for(job, job.base, settings.model.lora_rank, settings.model, settings.grpo)) as sampler:
        prompts = _prompts(setup, tokenizer)
        seen = [_timed(lambda: sampler.sample(policy, prompts, how), setup) for _ in range(2)]  # the first starts it
    return {"rollout s": seen[-1][1], "tokens": sum(len(draw.tokens) for draw in seen[-1][0])}


def training(setup: Setup) -> Seen:
    """Forward and backward of a micro-batch at its longest, with torch's deterministic forms and without."""
    settings = setup.settings("grpo.max_steps=1", "grpo.eval_steps=1", "grpo.patience=1")
    trainer = _ours(setup, settings)
    rows, length = settings.grpo.micro_batch, settings.grpo.max_completion_tokens
    ids = torch.randint(10, trainer.model.config.vocab_size, (rows, 128 + length), device=setup.device)
    asked = torch.ones_like(ids)

    def step() -> None:
        with trainer.accelerator.autocast():
            logps = trainer._get_per_token_logps_and_entropies(trainer.model, ids, asked, length)[0]
        logps.sum().backward()
        trainer.model.zero_grad()

    trainer.model.train()
    seen: Seen = {"tokens": rows * ids.shape[1]}
    for name, strict in (("deterministic s", True), ("any order s", False)):
        if setup.device == "cuda":
            arithmetic.choose(strict, patched=False)
        seen[name] = median(_timed(step, setup)[1] for _ in range(PASSES))
    weights = sum(weight.numel() for weight in trainer.model.parameters())
    products = 4 * weights * seen["tokens"]  # forwards 2, and of backwards that half which frozen weights need
    return {**seen, "products per s": products / seen["deterministic s"], **_peak(setup)}


class Steps(TrainerCallback):
    """Seconds of each step."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.seconds, self.began = setup, list[float](), 0.0

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        _wait(self.setup)
        self.began = time.perf_counter()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        _wait(self.setup)
        self.seconds.append(time.perf_counter() - self.began)


def step(setup: Setup) -> Seen:
    """A whole step of GRPO, ours and stock TRL's, on the same prompts and completions of at most 128 tokens."""
    few = ("grpo.max_steps=2", "grpo.eval_steps=2", "grpo.save_steps=2", "grpo.patience=1", "grpo.refill_rounds=0")
    short = "grpo.max_completion_tokens=128" if setup.tokens > 128 else f"grpo.max_completion_tokens={setup.tokens}"
    settings = setup.settings(*few, short, "grpo.drop_zero_variance=false", "grpo.overlong_tokens=0")
    seen: Seen = {}
    for name in ("ours", "stock"):
        clock = Steps(setup)
        if name == "ours":
            trainer = _ours(setup, settings, clock)
            trainer.args.save_strategy = "no"
        else:
            side = lockstep.Side(
                "defaults", settings.model_dump(mode="json"), str(setup.prompts), settings.model.name,
                str(setup.folder / "stock"), 1, "",
            )  # fmt: skip
            trainer = lockstep.stock(side, clock)
        with nullcontext() if name == "ours" else as_torch_comes():
            trainer.train()
        logs = [entry for entry in trainer.state.log_history if "completions/mean_length" in entry]
        seen |= {f"{name} s": clock.seconds[-1], f"{name} tokens": logs[-1]["completions/mean_length"]}
        del trainer
    return {**seen, "ratio": seen["ours s"] / seen["stock s"]}


def resume(setup: Setup) -> Seen:
    """One seed alone, alone again, and killed in the middle: are the three adapters equal?"""
    short = ("grpo.max_steps=6", "grpo.eval_steps=2", "grpo.save_steps=2", "grpo.patience=5")
    settings, folder = setup.settings(*setup.killed, *short), setup.folder / "killed"
    began = {name: _start(settings, setup, folder / name) for name in ("alone", "again", "struck")}
    while began["struck"].poll() is None and not list((folder / "struck" / "work").rglob("checkpoint-2")):
        time.sleep(0.1)
    time.sleep(0.5)
    struck = began["struck"].poll() is None
    began["struck"].send_signal(signal.SIGKILL)
    began["struck"].wait()
    began["struck"] = _start(settings, setup, folder / "struck")
    codes = {name: child.wait() for name, child in began.items()}
    digests = {name: _digest(folder / name / "output") for name in codes}
    return {
        "killed": struck,
        "exit codes": codes,
        "alone twice alike": digests["alone"] == digests["again"] != "",
        "killed alike": digests["alone"] == digests["struck"] != "",
    }


def _start(settings: PipelineSettings, setup: Setup, place: Path) -> subprocess.Popen[bytes]:
    folders = JobFolders(prompts=setup.prompts, work=place / "work", output=place / "output")
    for folder in (folders.work, folders.output):
        folder.mkdir(parents=True, exist_ok=True)
    order("grpo", settings, 42, 2, folders, (settings.model.name, None)).write(place / "job.json")
    command = [sys.executable, "-m", "tucano.training.worker", str(place / "job.json")]
    with (place / "log.txt").open("ab") as log:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, env=environment(2)
        )


def _digest(output: Path) -> str:
    files = sorted(output.rglob("*.safetensors"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest() if files else ""


def _ours(setup: Setup, settings: PipelineSettings, *callbacks: TrainerCallback) -> GrpoMixin:
    place = setup.folder / "ours"
    job = order("grpo", settings, 42, 1, JobFolders(setup.prompts, place, place), (settings.model.name, None))
    return grpo.build(job, of_grpo(settings, 42), place, list(callbacks))[0]


def _prompts(setup: Setup, tokenizer: Any) -> list[list[int]]:
    """Four prompts, each as often as there are rows for."""
    files = PromptFiles(setup.prompts)
    asked = encode(tokenizer, read_prompts(files.validation)[:4], files.systems())
    return [asked[row * len(asked) // setup.rows] for row in range(setup.rows)]


def _draw(decoder: Decoder, prompts: list[list[int]], tokens: int) -> list[list[int]]:
    return slots.sample(decoder, prompts, tokens, [], 1.0, torch.Generator().manual_seed(1))


def _some_adapter(policy: Any) -> None:
    generator = torch.Generator().manual_seed(3)
    for name, weight in policy.named_parameters():
        if "lora_B" in name:
            weight.data.copy_(torch.randn(weight.shape, generator=generator) * 0.002)


@contextmanager
def as_torch_comes() -> Iterator[None]:
    """For what others made: the kernels of somebody who chooses none, since ours may be slower for them."""
    cudnn = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(True)
    with slots.in_any_order():
        yield
    torch.backends.cuda.enable_cudnn_sdp(cudnn)


@contextmanager
def _times_of(module: Any, name: str) -> Iterator[list[float]]:
    seconds: list[float] = []
    called = getattr(module, name)

    def timed(*given: Any) -> Any:
        began = time.perf_counter()
        result = called(*given)
        seconds.append(time.perf_counter() - began)
        return result

    with patch.object(module, name, timed):
        yield seconds


def _timed(work: Callable[[], Any], setup: Setup) -> tuple[Any, float]:
    _wait(setup)
    began = time.perf_counter()
    result = work()
    _wait(setup)
    return result, time.perf_counter() - began


def _wait(setup: Setup) -> None:
    if setup.device == "cuda":
        torch.cuda.synchronize()


def _peak(setup: Setup) -> Seen:
    return {"GiB": torch.cuda.max_memory_reserved() / 2**30} if setup.device == "cuda" else {}


PARTS: dict[str, Callable[[Setup], Seen]] = {
    "base": base, "draws": draws, "batching": batching, "vllm": vllm, "training": training, "step": step,
    "resume": resume,
}  # fmt: skip


if __name__ == "__main__":
    setup = Setup.read(Path(sys.argv[2]))
    if setup.device == "cuda":
        arithmetic.choose(deterministic=True, patched=False)
    print(json.dumps(PARTS[sys.argv[1]](setup)), flush=True)
