"""How much memory a stage needs for certain: a lower bound from the model's shape, before anything is loaded.

Counted are the weights, what AdamW keeps of the trained ones, the keys and values of the completions that are sampled
at a time, and the logits of a micro-batch with their gradient. Not counted are activations, prompts, and what libraries
take for themselves: so what is refused cannot fit, and what is not refused may still not. Completions count at their
ceiling, since one that reaches it makes its whole batch as long.
"""

import math
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from tucano.errors import UserError
from tucano.requirements.machine import apart, gpus_here, most_memory, seeds_on_a_gpu, seeds_side_by_side
from tucano.requirements.shapes import Shape, adapter_weights, shape_of
from tucano.settings import ModelSettings, PipelineSettings

MOST_CACHE_BYTES = 4 * 10**9
"""Of the keys and values of completions that are sampled outside of training (tucano/training/samplers/local.py)."""
LOGIT_BYTES = 8
"""Per row, token and entry of the vocabulary: the logits and their gradient, on a CPU. The losses that are used on a
GPU never hold them as a whole (tucano/training/grpo_trainer.py).
"""
ADAM_COPIES = 4
"""Weights, gradient, and the two moments."""
GIGABYTE = 1e9
FOR_TENSORS = 0.9
"""Of what a driver says that a GPU has: CUDA's context takes half a GiB, and the allocator leaves gaps (assumed)."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a stage takes at least, in bytes, and the setting that lowers it."""

    stage: str
    bytes: int
    mend: str


def needs(settings: PipelineSettings) -> list[Need]:
    """Of every stage that holds the model; empty where the model's shape is not known."""
    shape = shape_of(settings.model)
    return [] if shape is None else list(_needs(settings, shape))


def shown(found: list[Need]) -> str:
    """As one line."""
    return ", ".join(f"{need.stage} {need.bytes / GIGABYTE:.2g} GB" for need in found)


def require_memory(settings: PipelineSettings) -> None:
    """UserError for the hungriest stage, where the device is known and has less than that."""
    there = device_bytes(settings.model.device)
    if there is not None and settings.grpo.sampler == "vllm" and settings.model.device == "cuda":
        gpus = len(gpus_here())
        require_servers_share(settings, there, gpus)
        there = max(0, int(there * (1 - servers_share(settings, _seeds_here(settings), gpus))))
    most = max(needs(settings), key=lambda need: need.bytes, default=None)
    if most is not None and there is not None and most.bytes > there:
        raise UserError(
            f"{most.stage} needs at least {most.bytes / GIGABYTE:.1f} GB of memory and model.device="
            f"{settings.model.device} has {there / GIGABYTE:.1f} GB; lower {most.mend}"
        )


def require_servers_share(settings: PipelineSettings, gpu_bytes: int, gpus: int) -> None:
    """UserError where a vLLM server's share of a GPU cannot hold the weights and the cache of one longest answer, or
    where the servers of all seeds do not fit into a GPU of their own.
    """
    shape = shape_of(settings.model)
    if settings.grpo.sampler != "vllm" or shape is None:
        return
    model = settings.model
    share = settings.worker.vllm_memory_share
    servers = seeds_side_by_side(settings)
    if apart(settings, gpus) and share * servers > 1:
        raise UserError(
            f"{servers} vLLM servers with worker.vllm_memory_share={share:g} each do not fit into the one GPU that they"
            f" have for themselves; lower it to {math.floor(100 / servers) / 100:g} at most, or lower worker.parallel"
        )
    width = _width(model)
    served = model.model_copy(update={"quantization": "none"})  # 4-bit weights are served as what they stand for
    needed = _weights(served, shape, width) + model.max_length_tokens * _cached(shape, width)
    least = math.ceil(100 * needed / gpu_bytes) / 100
    if share * gpu_bytes < needed:
        mend = f"raise it to {least:g} at least" if least < 1 else "take a smaller model"
        raise UserError(
            f"worker.vllm_memory_share={share:g} of the GPU is {share * gpu_bytes / GIGABYTE:.1f} GB, and the server's"
            f" weights with one answer of model.max_length_tokens={model.max_length_tokens} need"
            f" {needed / GIGABYTE:.1f} GB; {mend}"
        )


def device_bytes(device: str) -> int | None:
    """Memory that this machine, or the container, gives us, or of the largest GPU; None where the driver does not
    say.
    """
    if device == "cpu":
        return int(min(psutil.virtual_memory().total, most_memory()))
    driver = shutil.which("nvidia-smi")
    if driver is None:
        return None
    command = [driver, "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
        return max(int(line) for line in asked.stdout.split()) * 2**20
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def share_for_tensors(settings: PipelineSettings, children: int, gpus: int) -> float:
    """Of a GPU's memory, what CUDA leaves to so many children together, and their vLLM servers where they are on it."""
    return max(0.0, FOR_TENSORS * (1 - servers_share(settings, children, gpus)))


def servers_share(settings: PipelineSettings, children: int, gpus: int) -> float:
    """Of a GPU's memory, what the vLLM servers of so many children take beside them."""
    beside = settings.grpo.sampler == "vllm" and not apart(settings, gpus)
    return settings.worker.vllm_memory_share * children if beside else 0.0


def _seeds_here(settings: PipelineSettings) -> int:
    """That one of this machine's GPUs is sure to hold at a time: those of a deployment may train elsewhere."""
    return 1 if settings.execution.seeds is not None else seeds_on_a_gpu(settings, len(gpus_here()))


def _needs(settings: PipelineSettings, shape: Shape) -> Iterator[Need]:
    model = settings.model
    grpo = settings.grpo
    width = _width(model)
    weights = _weights(model, shape, width)
    adapter = adapter_weights(model) * ADAM_COPIES * 4
    ceiling = grpo.max_completion_tokens
    cache = ceiling * _cached(shape, width)
    logits = grpo.micro_batch * ceiling * (shape.vocab_size or 0) * LOGIT_BYTES if model.device == "cpu" else 0
    cached = grpo.sampler == "local"
    seeds = _seeds_here(settings)
    fewer = "worker.parallel, " if seeds > 1 else ""
    smaller = "grpo.max_completion_tokens, or take a smaller model"
    if settings.sft.enabled:
        trained = shape.weights * 4 * (ADAM_COPIES - 1) if model.name == "nano" else adapter
        yield Need("SFT", weights + trained, "the model's size")
    rollout = grpo.batch_size * grpo.rollout_steps * cache * cached
    yield Need("GRPO rollout", seeds * (weights + adapter + rollout), f"{fewer}grpo.batch_size or {smaller}")
    yield Need("GRPO step", seeds * (weights + adapter + logits), f"{fewer}grpo.micro_batch or {smaller}")
    if settings.dpo.enabled:
        reference = adapter // ADAM_COPIES  # GRPO's adapter beside the one that learns; how long pairs are is not known
        yield Need("DPO step", seeds * (weights + adapter + reference), f"{fewer}the model's size")
    asked = max(
        settings.data.validation_prompts * grpo.validation_samples,
        settings.data.test_prompts * settings.comparison.samples,
    )
    yield Need("answers", weights + max(cache, min(MOST_CACHE_BYTES, asked * cache)) * cached, smaller)
    yield Need("merge", 4 * shape.weights, "the model's size")


def _width(model: ModelSettings) -> int:
    """Bytes of a number."""
    return 4 if model.dtype == "float32" else 2


def _cached(shape: Shape, width: int) -> int:
    """Bytes of a token's keys and values."""
    return shape.num_hidden_layers * 2 * shape.key_value * width


def _weights(model: ModelSettings, shape: Shape, width: int) -> int:
    """NF4 keeps half a byte of every linear layer's weight; embedding, head and norms stay as they are."""
    matrices = shape.matrices // 2 if model.quantization == "nf4" else shape.matrices * width
    return matrices + shape.other_weights * width
