"""Unsloth itself, where no GPU is: what it loads, draws, trains and leaves behind is what TRL and transformers would.

It rewrites `trl.GRPOTrainer`, so each side is a process of its own, in the interpreter that has Unsloth: this one, or
the one that TUCANO_UNSLOTH_PYTHON names. `make without-gpu` runs it; skipped where there is none (docs/gpu.md).
"""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import test_grpo_parity as parity
import torch
from test_grpo_parity import tiny
from test_health import asked_for
from test_training import child_of_this_process
from torch import Tensor
from trainings import job_in
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

from benchmarks.cuda_standin import interpreter
from tucano.errors import WorkerCrashed
from tucano.files.models import MergedFiles
from tucano.prompts import Prompt
from tucano.settings import PipelineSettings
from tucano.storage.journal import read_journal
from tucano.training import merge
from tucano.training.jobs import ChildKind, Job, Progress
from tucano.training.launch import run_job
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.load import load_policy

PYTHON = os.environ.get("TUCANO_UNSLOTH_PYTHON") or (sys.executable if importlib.util.find_spec("unsloth") else None)
pytestmark = [
    pytest.mark.unsloth,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(PYTHON is None, reason="no interpreter with Unsloth: name one in TUCANO_UNSLOTH_PYTHON"),
]
TESTS = Path(__file__).parent
SIDE = """
import json, sys
from pathlib import Path

backend, folder, variant = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
if backend == "unsloth":
    import unsloth
    from unsloth.models.rl import _patch_trl_rl_trainers

    _patch_trl_rl_trainers("grpo_trainer")
import trl
from test_grpo_parity import OFF, ours, settings
from tucano.training import grpo

load = grpo.load_policy

def as_unsloth_loads(*given, **named):
    model, tokenizer = load(*given, **named)
    base = model.get_base_model()
    base.for_training = lambda **_: model.train()
    base.for_inference = lambda **_: model.eval()
    base._unsloth_user_float32 = True  # or a CPU would compute in float16
    return model, tokenizer

grpo.load_policy = as_unsloth_loads
assert ("Unsloth" in trl.GRPOTrainer.__name__) == (backend == "unsloth")
steps, _ = ours(folder, Path.cwd() / backend, settings(**{**OFF, **variant}))
Path(f"{backend}.json").write_text(json.dumps(steps))
"""


def steps_of(backend: str, folder: Path, place: Path, variant: dict[str, object]) -> list[dict[str, float]]:
    """The logged values of each step, from a process in `place`, where unsloth leaves its generated code."""
    switches = {"UNSLOTH_ALLOW_CPU": "1", "UNSLOTH_COMPILE_DISABLE": "1"}
    ask([str(PYTHON), "-W", "ignore", "-c", SIDE, backend, str(folder), json.dumps(variant)], place, switches)
    return json.loads((place / f"{backend}.json").read_text(encoding="utf-8"))


def ask(command: list[str], place: Path, switches: dict[str, str]) -> None:
    path = os.pathsep.join([str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=place,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path, **switches},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"loss": "dapo", "iterations": 2, "epsilon_high": 0.28, "advantages": "gdpo", "overlong_tokens": 4, "task_weights": "iwu"},
    ],
    ids=["on-policy", "off-policy with algorithms"],
)  # fmt: skip
def test_losses_on_unsloths_trainer_are_those_on_trls(tmp_path: Path, variant: dict[str, object]) -> None:
    """Four steps: in the fifth a pad token happens to be sampled, which unsloth takes for padding."""
    folder = tiny(tmp_path / "tiny")
    four = {"max_steps": 4, "eval_steps": 4, "save_steps": 4}
    plain, patched = (steps_of(backend, folder, tmp_path, {**variant, **four}) for backend in ("trl", "unsloth"))
    assert len(plain) == len(patched) == 4
    for theirs, mine in zip(plain, patched, strict=True):
        assert mine["train/loss"] == pytest.approx(theirs["train/loss"], rel=1e-3, abs=1e-6)
        assert mine["train/grad_norm"] == pytest.approx(theirs["train/grad_norm"], rel=5e-3)
        if "train/entropy" in mine:  # logged where completions are drawn, not where they are used again
            assert mine["train/entropy"] == pytest.approx(theirs["train/entropy"], rel=0.05), "the alarm is not blind"
    assert sum("train/entropy" in mine for mine in patched) >= 4 // int(str(variant.get("iterations", 1)))


# The whole way, on a stand-in for CUDA: Unsloth's own loader, kernels (in Triton's interpreter), generate and trainer.

PROMPTS = [[5, 9, 30, 31], [7, 8, 40]]
ANSWERS = [[50, 51, 52, 53, 54], [60, 61, 62]]
AFTER = """
import json, sys
from pathlib import Path

import unsloth  # first, as the worker does
import torch
from tucano.settings.model import LoadedModel
from tucano.training import merge
from tucano.training.jobs import Job
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.load import load_base, load_policy
from tucano.training.samplers import Decoding
from tucano.training.samplers.local import LocalSampler

job, prompts, answers = Job.read(Path(sys.argv[1])), *map(json.loads, sys.argv[2:])
asked = LoadedModel.model_validate(job.settings["model"])
exact = asked.model_copy(update={"dtype": "float32", "quantization": "none"})

def load(settings):
    return load_policy(settings, job.base, Path(job.adapter), trainable=False, seed=1)[0].eval()

def logps(policy):
    return [row.tolist() for row in token_logps(policy, prompts, answers)]

def lost(policy):  # the most nats that a greedily drawn token is behind the likeliest, read without a cache
    drawn = [draw.tokens for draw in LocalSampler().sample(policy, prompts, Decoding(4, 0.0, (2,)))]
    behind = []
    for prompt, tokens in zip(prompts, drawn):
        ids = torch.tensor([prompt + tokens], device=policy.device)
        with torch.no_grad():
            read = policy(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0, len(prompt) - 1 : -1].float()
        behind += (read.max(dim=1).values - read.gather(1, ids[0, len(prompt) :, None])[:, 0]).tolist()
    return max(behind)

policy = load(asked)
checkpointed = [module.gradient_checkpointing for module in policy.modules() if hasattr(module, "gradient_checkpointing")]
found = {"quantised": logps(policy), "lost": [lost(policy)], "merge": merge.run(job)}
generator = torch.Generator().manual_seed(3)
with torch.no_grad():
    for name, weight in policy.named_parameters():
        if "lora_B" in name:
            weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))
found["lost"].append(lost(policy))
again = [module.gradient_checkpointing for module in policy.modules() if hasattr(module, "gradient_checkpointing")]
found["checkpointed"] = [checkpointed, again]
found["exact"] = logps(load(exact))
for dtype in ("bfloat16", "float32"):
    found[dtype] = logps(load_base(merge._exact(asked, dtype), job.base)[0])
Path(job.work, "found.json").write_text(json.dumps(found))
"""


@dataclass
class KillOnceSaved:
    """SIGKILL to the training child when its first checkpoint is whole."""

    work: Path
    done: bool = False

    def __call__(self, progress: Progress) -> None:
        if progress.step >= 1 and not self.done:
            while not list(self.work.glob("attempt-1/checkpoint-1")):
                time.sleep(0.1)
            self.done = True
            os.kill(child_of_this_process(), signal.SIGKILL)


def smallest(place: Path) -> Path:
    """Every program of a kernel takes the interpreter 2 ms: prompts of two tokens, two heads."""
    with pytest.MonkeyPatch.context() as patch:
        prompts = [Prompt(f"p{n}", ("push", "insights")[n % 2], str(n), "t", "test", "own") for n in range(2)]
        patch.setattr(parity, "PROMPTS", prompts)
        patch.setattr(parity, "SYSTEMS", {"push": "P", "insights": "I"})
        folder = tiny(place)
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    tokenizer.save_pretrained(folder / "model")
    config = Qwen3Config.from_pretrained(folder / "model")
    config.update({"hidden_size": 64, "intermediate_size": 128, "head_dim": 32})
    config.update({"num_attention_heads": 2, "num_key_value_heads": 1})
    torch.manual_seed(3)
    Qwen3ForCausalLM(config).save_pretrained(folder / "model")
    return folder


def on_cuda() -> PipelineSettings:
    """Push earns the same whatever it says, so that its groups are sampled anew; insights earns by its length."""
    chosen = parity.settings(
        max_steps=2, eval_steps=1, save_steps=1, patience=9, warmup_share=0.0, batch_size=4, generations=2, max_completion_tokens=6,
        rewards="controls.format", drop_zero_variance=True, refill_rounds=1, advantages="group",
    )  # fmt: skip
    model = {"device": "cuda", "backend": "unsloth", "dtype": "bfloat16", "quantization": "nf4"}  # as the profile l4
    return chosen.model_copy(update={"model": chosen.model.model_copy(update=model)})


def asked(kind: ChildKind, folder: Path, place: Path, adapter: Path | None = None) -> Job:
    return job_in(place, kind, on_cuda(), folder, folder / "model", adapter)


@dataclass(frozen=True)
class Trained:
    folder: Path
    work: Path
    adapter: Path
    steps: int


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Two steps of GRPO, killed after the first."""
    place = tmp_path_factory.mktemp("cuda")
    folder, python = smallest(place / "tiny"), interpreter(place, str(PYTHON))
    job = asked("grpo", folder, place / "grpo")
    with pytest.raises(WorkerCrashed, match="SIGKILL"):
        run_job(job, python, KillOnceSaved(Path(job.work)))
    result = run_job(job, python, lambda progress: None)
    adapter = place / "adapter"  # of the last step; what the run delivers is the best by validation
    adapter.mkdir()
    for file in Path(job.work).glob("attempt-2/checkpoint-2/adapter_*"):
        shutil.copy(file, adapter)
    return Trained(folder, Path(job.work), adapter, int(result["steps"]))


def test_a_killed_run_goes_on_where_it_was(trained: Trained) -> None:
    rows = [row for row in read_journal(trained.work / "journal.jsonl") if "train/loss" in row.values]
    assert [row.step for row in rows] == [1, 2] and trained.steps == 2
    assert (trained.work / "attempt-2").is_dir()
    assert any(row.values["train/grad_norm"] > 0 for row in rows)
    assert any(row.values["train/groups/live"] < 1 for row in rows), "some were sampled anew"


def test_every_alarm_finds_what_it_needs(trained: Trained) -> None:
    """Its trainer logs no entropy: the alarm of collapse was blind in the profile whose predecessor died of it."""
    rows = read_journal(trained.work / "journal.jsonl")
    assert {name for row in rows for name in row.values} >= asked_for()
    entropies = [row.values["train/entropy"] for row in rows if "train/entropy" in row.values]
    assert len(entropies) == 2 and all(2 < entropy < 6 for entropy in entropies), "near that of 303 equal tokens, 5.7"


@pytest.fixture(scope="module")
def after(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process with Unsloth's patches says of the trained adapter, of what it draws and of second models."""
    place = tmp_path_factory.mktemp("after")
    job = asked("merge", trained.folder, place, trained.adapter)
    Path(job.work).mkdir()
    job.write(place / "job.json")
    (place / "after.py").write_text(AFTER, encoding="utf-8")
    lists = [json.dumps(PROMPTS), json.dumps(ANSWERS)]
    ask([interpreter(place, str(PYTHON)), str(place / "after.py"), str(place / "job.json"), *lists], place, {})
    found = json.loads((place / "work" / "found.json").read_text(encoding="utf-8"))
    return {**found, "stored": str(MergedFiles(Path(job.output)).model)}


def said(trained: Trained, adapter: Path | None, base: str | None = None, **precision: str) -> Tensor:
    """The same of a process that never saw Unsloth: log-probabilities (nats) of all tokens."""
    model = parity.settings().model.model_copy(update=precision)
    policy, _ = load_policy(model, base or str(trained.folder / "model"), adapter, trainable=False, seed=1)
    return torch.cat(token_logps(policy, PROMPTS, ANSWERS))


def flat(rows: list[list[float]]) -> Tensor:
    return torch.tensor([logp for row in rows for logp in row])


def test_what_it_trained_says_the_same_in_transformers_and_is_merged(trained: Trained, after: dict[str, Any]) -> None:
    own = said(trained, trained.adapter)
    assert (own - said(trained, None)).abs().max() > 1e-3, "training moved it"
    torch.testing.assert_close(flat(after["exact"]), own, atol=1e-5, rtol=0)
    merged = said(trained, None, base=after["stored"])
    assert (merged - own).abs().mean() <= merge.LARGEST_MEAN, "rounded once, to bfloat16"
    assert after["merge"]["quantisation"] > merge.LARGEST_MEAN, "which it measured beside Unsloth's patches"
    quantised = said(trained, trained.adapter, dtype="bfloat16", quantization="nf4")
    torch.testing.assert_close(flat(after["quantised"]), quantised, atol=0.1, rtol=0)  # kernels round otherwise


@pytest.mark.parametrize(("dtype", "apart"), [("bfloat16", 1e-3), ("float32", 1e-5)])
def test_a_second_model_beside_its_patches_says_what_it_says_without(
    trained: Trained, after: dict[str, Any], dtype: str, apart: float
) -> None:
    """On an H200 the full base in bfloat16 raised in the preflight: float != c10::BFloat16."""
    torch.testing.assert_close(flat(after[dtype]), said(trained, None, dtype=dtype), atol=apart, rtol=0)


def test_it_draws_with_the_adapter_as_it_is_now(after: dict[str, Any]) -> None:
    """It drew with a copy from its first draw: every rollout came from the policy that training began with."""
    before, changed = after["lost"]
    assert before <= 0.25 and changed <= 0.25, "as the preflight asks of a cache in bfloat16"


def test_a_look_at_validation_leaves_gradients_checkpointed(after: dict[str, Any]) -> None:
    begun, ended = after["checkpointed"]
    assert any(begun) and ended == begun


KERNELS = """
import torch
from tucano.training.policies import fused, kernels

generator = torch.Generator().manual_seed(0)
for dtype, off in ((torch.float32, 1e-6), (torch.bfloat16, 2e-2)):
    near = dict(atol=off, rtol=off)
    x, angles = torch.randn(7, 6, 16, generator=generator).to(dtype), torch.randn(7, 8, generator=generator).repeat(1, 2)
    turn = angles.cos().to(dtype), angles.sin().to(dtype)
    torch.testing.assert_close(kernels.rotate(x, *turn), fused.rotate(x, *turn), **near)
    change, gates, ups = (torch.randn(300, 7, generator=generator).to(dtype) for _ in range(3))
    torch.testing.assert_close(kernels.gate(gates, ups), fused.gate(gates, ups), **near)
    torch.testing.assert_close(kernels.gate_back(change, gates, ups), fused.gate_back(change, gates, ups), **near)
"""


def test_our_kernels_compute_what_their_plain_operations_do(tmp_path: Path) -> None:
    ask([str(PYTHON), "-W", "ignore", "-c", KERNELS], tmp_path, {"TRITON_INTERPRET": "1"})
