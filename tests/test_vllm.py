"""Draws from a vLLM server: the same policy, swapped in at every change, through deaths of either side.

A stand-in answers in vLLM's place (benchmarks/vllm_standin.py). Where TUCANO_VLLM_PYTHON names an interpreter with vLLM
(docs/gpu.md), the tests marked `vllm` ask the real one too.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from nano_models import move
from pace import slowness
from test_grpo_parity import one_thread_and_the_signals_as_before, ours, tiny  # noqa: F401
from test_grpo_parity import settings as small
from test_health import asked_for
from test_training import SignalAt
from trainings import job_in
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmarks.vllm_standin import interpreter
from tucano.errors import UserError, WorkerCrashed, WorkerFailed
from tucano.profiles import validated
from tucano.prompts import Task
from tucano.serving.schema import fault_of
from tucano.settings import PipelineSettings
from tucano.settings.model import VLLM_RANKS, LoadedModel
from tucano.specs.registry import schema_of
from tucano.storage.journal import read_journal
from tucano.training import grpo
from tucano.training.checkpoints import interruption
from tucano.training.launch import run_job
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.load import load_policy
from tucano.training.samplers import Decoding, dequantised
from tucano.training.samplers.local import LocalSampler
from tucano.training.samplers.server import ServerPlan
from tucano.training.samplers.vllm import VllmSampler

REAL = os.environ.get("TUCANO_VLLM_PYTHON")
WHO = [
    "stand-in",
    pytest.param("vllm", marks=[pytest.mark.vllm, pytest.mark.skipif(not REAL, reason="no TUCANO_VLLM_PYTHON")]),
]
PROMPTS = [[5, 9, 30, 31], [5, 9, 30, 31], [5, 9, 30, 31], [7, 8, 40], [5, 9, 30, 31]]
GAP = "train/sampling/sampling_logp_difference/mean"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("vllm") / "tiny", hidden=128)  # vLLM has no kernels for heads below 32


def python(who: str, place: Path, mood: str = "well") -> str:
    return str(REAL) if who == "vllm" else interpreter(place, mood)


def plan(folder: Path, place: Path, who: str = "stand-in", mood: str = "well") -> ServerPlan:
    loaded = LoadedModel(max_length_tokens=256)
    return ServerPlan(python(who, place, mood), str(folder / "model"), loaded, 16, 0.3, 1, place / "vllm.txt")


@pytest.fixture(scope="module", params=WHO)
def sampler(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VllmSampler]:
    """One server for the tests that only ask it; it gets the policy of each, as at every change of one."""
    place = tmp_path_factory.mktemp("server")
    with pytest.MonkeyPatch.context() as patch, closing(VllmSampler(plan(folder, place, request.param))) as sampler:
        patch.setenv("CANARY_API_KEY", "canary-of-a-key")
        yield sampler
        last = sampler._server
    assert last is None or not last.place.exists()


def policy_of(folder: Path, moved: float = 0.05) -> Any:
    """The tiny model with an adapter that does something."""
    policy, _ = load_policy(small().model, str(folder / "model"), None, trainable=True, seed=1)
    move(policy, moved)
    return policy


def decoding(policy: Any, tokens: int = 8, temperature: float = 1.0) -> Decoding:
    return Decoding(tokens, temperature, (int(policy.config.eos_token_id),))


def seed(number: int = 7) -> torch.Generator:
    return torch.Generator().manual_seed(number)


def test_it_draws_from_the_policy_as_it_is_now(sampler: VllmSampler, folder: Path) -> None:
    """Greedy completions are those of transformers, log-probabilities the trainer's own, however the weights move."""
    policy = policy_of(folder)
    for _ in range(3):
        greedy = sampler.sample(policy, PROMPTS, decoding(policy, temperature=0))
        expected = LocalSampler(own_decoding=False).sample(policy, PROMPTS, decoding(policy, temperature=0))
        assert [draw.tokens for draw in greedy] == [draw.tokens for draw in expected]
        drawn = sampler.sample(policy, PROMPTS, decoding(policy), seed())
        own = token_logps(policy, PROMPTS, [draw.tokens for draw in drawn])
        for draw, logps in zip(drawn, own, strict=True):
            assert draw.logps == pytest.approx(logps.tolist(), abs=1e-4)
        move(policy, 0.5)


def test_completions_of_a_prompt_differ_and_one_generator_repeats_them(sampler: VllmSampler, folder: Path) -> None:
    """vLLM gives equal answers to equal questions with one seed: a group would be copies, without any signal."""
    policy = policy_of(folder)
    group = [PROMPTS[0]] * 6
    first, again, other = (
        [tuple(draw.tokens) for draw in sampler.sample(policy, group, decoding(policy), seed(number))]
        for number in (7, 7, 8)
    )
    torch.manual_seed(3)
    sampler.sample(policy, group, decoding(policy))
    moved = torch.rand(1)
    assert len(set(first)) == 6 and first == again and first != other
    torch.manual_seed(3)
    assert torch.rand(1) != moved, "without a generator the draws take from torch's own, whose state is in checkpoints"


@pytest.mark.parametrize("sampler", ["stand-in"], indirect=True)
def test_it_stops_at_every_end_token(sampler: VllmSampler, folder: Path) -> None:
    policy = policy_of(folder)
    ending = tuple(range(0, 300, 2))
    for draw in sampler.sample(policy, PROMPTS, replace(decoding(policy, 64), stop=ending), seed()):
        assert draw.tokens[-1] in ending and not {*draw.tokens[:-1]} & {*ending}


@pytest.mark.parametrize(
    "mood", [pytest.param("dies", marks=pytest.mark.long), pytest.param("faulty", marks=pytest.mark.long)]
)
def test_a_server_that_dies_is_started_again_and_asked_the_same(mood: str, folder: Path, tmp_path: Path) -> None:
    """It dies at the third question of every life, so in the second of two batches of two questions."""
    policy = policy_of(folder)
    two = [[5, 9, number] for number in range(30, 32)]
    with closing(VllmSampler(plan(folder, tmp_path))) as sampler:
        expected = sampler.sample(policy, two, decoding(policy), seed())
    with closing(VllmSampler(plan(folder, tmp_path, mood=mood))) as sampler:
        assert sampler.sample(policy, two, decoding(policy), seed()) == expected
        assert sampler.sample(policy, two, decoding(policy), seed()) == expected
    assert (tmp_path / "vllm.txt").read_text(encoding="utf-8").count("started with") == 3


def test_what_no_new_start_mends_ends_the_job(folder: Path, tmp_path: Path) -> None:
    policy = policy_of(folder)
    with (
        closing(VllmSampler(plan(folder, tmp_path, mood="refuses"))) as sampler,
        pytest.raises(WorkerFailed, match="max_tokens is too large"),
    ):
        sampler.sample(policy, PROMPTS, decoding(policy))


@pytest.mark.long
def test_an_interpreter_without_vllm_is_one_sentence(folder: Path, tmp_path: Path) -> None:
    policy = policy_of(folder)
    for command, words in (
        (interpreter(tmp_path, "silent"), "RuntimeError: no device"),
        (sys.executable, "No module named 'vllm'"),
        (str(tmp_path / "nowhere"), "nowhere"),
    ):
        with pytest.raises(UserError, match=r"ended while it started: .*worker\.vllm_python") as raised:
            VllmSampler(replace(plan(folder, tmp_path), python=command)).sample(policy, PROMPTS, decoding(policy))
        said = str(raised.value)
        assert words in said and "geheim" not in said and "\x1b" not in said
        assert "\x1b" not in (tmp_path / "vllm.txt").read_text(encoding="utf-8")


def test_a_rank_between_two_of_vllms_is_served_by_the_larger(folder: Path, tmp_path: Path) -> None:
    arguments = replace(plan(folder, tmp_path), rank=20).arguments(tmp_path)
    assert arguments[arguments.index("--max-lora-rank") + 1] == "32"
    with pytest.raises(UserError, match=rf"lora_rank={VLLM_RANKS[-1] + 1} is more"):
        replace(plan(folder, tmp_path), rank=VLLM_RANKS[-1] + 1).arguments(tmp_path)


@pytest.mark.parametrize("sampler", ["stand-in"], indirect=True)
def test_nobody_else_reaches_the_server(sampler: VllmSampler, folder: Path) -> None:
    """A socket in a folder of mode 0700, a secret that no process list shows, none of our other secrets with it."""
    policy = policy_of(folder)
    sampler.sample(policy, PROMPTS, decoding(policy))
    server = sampler._server
    assert server is not None and server.place.stat().st_mode & 0o777 == 0o700
    family = [psutil.Process(server._process.pid), *psutil.Process(server._process.pid).children(recursive=True)]
    assert not any(server._secret in " ".join(process.cmdline()) for process in family)
    assert not any("canary" in str(process.environ()) for process in family[1:])
    assert not any(process.net_connections("inet") for process in family)
    wrong = {"Authorization": "Bearer guess"}
    assert server.client.post("/v1/completions", json={}, headers=wrong).status_code == 401


@pytest.mark.long
def test_the_server_ends_with_whoever_started_it(folder: Path, tmp_path: Path) -> None:
    """Killed with kill -9, a trainer cannot end anything itself."""
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); import test_vllm as t; from pathlib import Path\n"
        "s = t.VllmSampler(t.plan(Path(sys.argv[2]), Path(sys.argv[3]))); p = t.policy_of(Path(sys.argv[2]))\n"
        "s.sample(p, t.PROMPTS, t.decoding(p)); print(s._server._process.pid, s._server.place, flush=True); time.sleep(99)"
    )
    asker = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, str(Path(__file__).parent), str(folder), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert asker.stdout is not None
    number, folder_of_server = asker.stdout.readline().split()
    watching, place = psutil.Process(int(number)), Path(folder_of_server)
    family = [watching, *watching.children(recursive=True)]
    assert len(family) > 1
    asker.kill()
    asker.communicate()
    psutil.wait_procs(family, timeout=600)
    assert not place.exists()
    assert not [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("sampler", ["stand-in"], indirect=True)
def test_no_process_of_a_killed_server_is_left(sampler: VllmSampler, folder: Path) -> None:
    """vLLM's engine and workers went on, with 2 GB on a CPU, and on a GPU with the memory that the next server needs."""
    policy = policy_of(folder)
    sampler.sample(policy, PROMPTS, decoding(policy))
    assert sampler._server is not None
    family = psutil.Process(sampler._server._process.pid).children(recursive=True)
    assert [one.name() for one in family].count("sleep") == 1
    family[0].kill()
    sampler.sample(policy, PROMPTS, decoding(policy))
    psutil.wait_procs(family, timeout=600)
    assert not [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def test_sigterm_does_not_wait_for_an_answer(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = policy_of(folder)
    monkeypatch.setattr(interruption, "_requested", False)
    with closing(VllmSampler(plan(folder, tmp_path, mood="slow"))) as sampler:
        sampler._hold(policy)
        interruption._request()
        began = time.monotonic()
        with pytest.raises(interruption.Interrupted):
            sampler.sample(policy, PROMPTS, decoding(policy))
    assert time.monotonic() - began < 10 * slowness()


# Training


def chosen(python_: str, **grpo: object) -> PipelineSettings:
    asked = small(**{"max_steps": 6, "eval_steps": 2, "save_steps": 2, "patience": 9, **grpo})
    sections = {"data": {"mix": {"push": 0.5, "insights": 0.5}}, "health": {"window": 2}}
    sections |= {"model": asked.model.model_dump(), "worker": {"vllm_python": python_}}
    return validated({**sections, "grpo": {**asked.grpo.model_dump(), "sampler": "vllm"}})


RICH = {
    "drop_zero_variance": True, "refill_rounds": 2, "loss": "dapo", "length_stages": ((2, 6), (4, 10)),
    "iterations": 2, "rollout_steps": 2, "rewards": "controls.format", "temperature": 0.7,
}  # fmt: skip


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("variant", [pytest.param({}, marks=pytest.mark.long), RICH], ids=["plain", "rich and cooler"])
def test_sampler_and_trainer_always_agree(who: str, variant: dict[str, object], folder: Path, tmp_path: Path) -> None:
    steps, adapter = ours(folder, tmp_path, chosen(python(who, tmp_path), **variant))
    sampled = [step[GAP] for step in steps if GAP in step]
    assert len(sampled) >= 2 and max(sampled) < 1e-4
    logged = {name for row in read_journal(tmp_path / "work" / "journal.jsonl") for name in row.values}
    assert logged >= asked_for(vllm=True), "no alarm is blind"
    assert any(tensor.abs().sum() > 0 for name, tensor in adapter.items() if "lora_B" in name)


NF4 = {"quantization": "nf4"}


def test_a_server_of_a_4_bit_base_is_given_the_very_matrices_that_are_multiplied_with(
    folder: Path, tmp_path: Path
) -> None:
    """By what each layer makes of the unit vectors: its columns, to which nothing but zeros is added."""
    shape = small().model.model_copy(update=NF4)
    policy, _ = load_policy(shape, str(folder / "model"), None, trainable=True, seed=1)
    move(policy, 0.05)
    dequantised.write(policy, str(folder / "model"), shape, tmp_path / "served")
    exact, served = (AutoModelForCausalLM.from_pretrained(place) for place in (folder / "model", tmp_path / "served"))
    live, rounded = (
        policy.get_base_model().train(),
        0,
    )  # to draw, a CPU with AVX512-BF16 rounds a bit of bfloat16 otherwise
    for name, weight in served.named_parameters():
        if name.endswith("proj.weight"):
            layer = live.get_submodule(name.removesuffix(".weight")).get_base_layer()
            with torch.no_grad():
                assert torch.equal(layer(torch.eye(weight.shape[1])).T, weight), name
            rounded += not torch.equal(weight, exact.get_parameter(name))
        else:
            assert torch.equal(live.get_parameter(name), weight), name
    assert rounded == 14 and not hasattr(served.config, "quantization_config")
    assert AutoTokenizer.from_pretrained(tmp_path / "served").get_vocab()


def test_sampler_and_trainer_agree_on_a_4_bit_base(folder: Path, tmp_path: Path) -> None:
    """What is left, 0.006, is bfloat16 on one side. With the exact base behind the server it was 0.23 and more."""
    plain = chosen(interpreter(tmp_path), max_steps=2)
    run = plain.model_copy(update={"model": plain.model.model_copy(update=NF4)})
    steps, _ = ours(folder, tmp_path / "as trained", run)
    assert not (tmp_path / "as trained" / "work" / "dequantised").exists(), "it goes with the server"
    assert max(step[GAP] for step in steps) < 0.02


def test_stale_weights_raise_the_alarm(folder: Path, tmp_path: Path) -> None:
    """A server that keeps its first adapter: the gap grows with every step that the policy takes."""
    run = chosen(interpreter(tmp_path, "stale"), max_steps=6, learning_rate=0.2)
    grpo.run(job_in(tmp_path, "grpo", run, folder, folder / "model"))
    rows = read_journal(tmp_path / "work" / "journal.jsonl")
    gaps = [row.values[GAP] for row in rows if GAP in row.values]
    assert gaps[0] < 1e-4 < 0.05 < gaps[-1]
    assert any("health/sampler_apart" in row.values for row in rows)


@pytest.mark.long
def test_a_killed_trainer_goes_on_and_no_finished_step_is_lost(folder: Path, tmp_path: Path) -> None:
    """That it asks the same questions with the same seeds, `make drill` sees: its history is that of a run left alone."""
    command = interpreter(tmp_path)
    run = chosen(command, max_steps=6)
    with pytest.raises(WorkerCrashed, match="SIGKILL"):
        run_job(job_in(tmp_path, "grpo", run, folder, folder / "model"), None, SignalAt(3, signal.SIGKILL))
    run_job(job_in(tmp_path, "grpo", run, folder, folder / "model"), None, lambda progress: None)
    found = {
        row.step: row.values[GAP] for row in read_journal(tmp_path / "work" / "journal.jsonl") if GAP in row.values
    }
    assert list(found) == list(range(1, 7)) and max(found.values()) < 1e-4
    assert not [one for one in psutil.process_iter(["cmdline"]) if command in " ".join(one.info["cmdline"] or [])]


# Settings


def test_settings_that_cannot_work_are_refused() -> None:
    with pytest.raises(ValueError, match=r"worker\.vllm_python=/PATH/bin/python"):
        validated({"grpo": {"sampler": "vllm"}})
    given = {"grpo": {"sampler": "vllm"}, "worker": {"vllm_python": "python"}}
    with pytest.raises(ValueError, match=r"model\.lora_rank=513 is more than the 512 that grpo\.sampler=vllm serves"):
        validated({**given, "model": {"lora_rank": 513}})


@pytest.mark.vllm
@pytest.mark.skipif(not REAL, reason="no TUCANO_VLLM_PYTHON")
def test_answers_are_held_to_their_tasks_form(folder: Path, tmp_path: Path) -> None:
    """Random weights say anything but JSON; these two tasks have no field of free text, so they can end."""
    policy = policy_of(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    tasks: tuple[Task, ...] = ("sentiment", "churn")
    with closing(VllmSampler(plan(folder, tmp_path, "vllm"))) as sampler:
        for task, temperature in product(tasks, (0.0, 1.0)):
            asked = replace(decoding(policy, 120, temperature), form=json.dumps(schema_of(task)))
            texts = tokenizer.batch_decode(
                [draw.tokens for draw in sampler.sample(policy, PROMPTS, asked, seed())], True
            )
            assert [fault_of(task, text) for text in texts] == [None] * len(PROMPTS), texts
