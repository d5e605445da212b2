"""What a run needs of its machine, known before any work: space for its checkpoints, and the device that it names; and
how many cores, GPUs and bytes it finds, by the limits of control groups too, which psutil and affinity do not know.
"""

import math
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from tucano.errors import UserError
from tucano.requirements.shapes import adapter_weights, shape_of
from tucano.settings import ModelSettings, PipelineSettings

BYTES_PER_WEIGHT = 4
COPIES_PER_CHECKPOINT = 4
"""Weights, the two moments of AdamW, and the best weights so far."""
CHECKPOINTS = 4
"""Two recovery checkpoints, the one being written, and the best with its copy in the artifact."""
SPARE_BYTES = 200_000_000
"""Databases, logs, answers and whatever else a run writes besides its weights."""

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


def require_space(root: Path, settings: PipelineSettings) -> None:
    """UserError when what this run writes would not fit on the storage's disk."""
    preferring = len(settings.grpo.seeds) * settings.dpo.rounds if settings.dpo.enabled else 0
    trained = [adapter_weights(settings.model)] * (settings.trainings + preferring)
    if settings.sft.enabled:
        whole = shape_of(settings.model) if settings.model.name == "nano" else None
        trained.append(whole.weights if whole else adapter_weights(settings.model))
    needed = sum(trained) * BYTES_PER_WEIGHT * COPIES_PER_CHECKPOINT * CHECKPOINTS
    needed += _dequantised_bytes(settings) + SPARE_BYTES
    free = shutil.disk_usage(root).free
    if needed > free:
        raise UserError(
            f"the checkpoints and databases of this run need about {needed / 1e9:.1f} GB and {root} has"
            f" {free / 1e9:.1f} GB free; free some space or choose another disk with --set storage=FOLDER"
        )


def _dequantised_bytes(settings: PipelineSettings) -> int:
    """The bases that vLLM serves in 16 bits beside a 4-bit one: of each child at a time, where the shape is known."""
    quantised = settings.model.quantization != "none" and settings.grpo.sampler == "vllm"
    shape = shape_of(settings.model) if quantised and settings.execution.computes_here else None
    children = 1 if settings.execution.seeds else seeds_side_by_side(settings)
    return 2 * shape.weights * children if shape else 0


def require_device(model: ModelSettings) -> None:
    """UserError when a CUDA profile meets a machine whose driver shows no GPU; asked without importing torch."""
    if model.device == "cuda" and not any(Path("/dev").glob("nvidia[0-9]*")) and shutil.which("nvidia-smi") is None:
        raise UserError(
            "model.device=cuda, but this machine shows no CUDA device; run a CPU profile such as laptop, go to a GPU"
            " machine, or have the stages done on one: --set execution.seeds=seed/vertex-l4 --set"
            " execution.stages=stage/vertex-l4 (docs/vertex.md)"
        )


def cores() -> int:
    """That this process may use, in whole ones: of 1.5 that a container gets, 2."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(here, most_cores())))


def seeds_side_by_side(settings: PipelineSettings) -> int:
    """Of this run's seeds, those that train on one machine at a time."""
    return min(len(settings.grpo.seeds), seeds_at_a_time(settings))


def seeds_at_a_time(settings: PipelineSettings) -> int:
    """GRPO children that train on one machine side by side."""
    return settings.worker.parallel or (
        1 if settings.model.device == "cuda" else max(1, cores() // settings.worker.threads)
    )


def seeds_together(settings: PipelineSettings, seed: int) -> Sequence[int]:
    """The seeds that one run of the deployment `execution.seeds` trains side by side, `seed` among them: on a GPU as
    many as worker.parallel says, elsewhere each alone.
    """
    size = seeds_at_a_time(settings) if settings.model.device == "cuda" else 1
    first = settings.grpo.seeds.index(seed) // size * size
    return settings.grpo.seeds[first : first + size]


def gpus_here(devices: Path = Path("/dev")) -> tuple[str, ...]:
    """This machine's GPUs by the names that CUDA_VISIBLE_DEVICES has for them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return tuple(name for name in named.split(",") if name)
    return tuple(map(str, range(len([*devices.glob("nvidia[0-9]*")]))))


def apart(settings: PipelineSettings, gpus: int) -> bool:
    """Whether the vLLM servers have the last of so many GPUs for themselves."""
    return settings.grpo.sampler == "vllm" and gpus > 1


def training_gpus(settings: PipelineSettings, gpus: int) -> int:
    """Of so many, those that children work on; one where none was found."""
    return max(1, gpus - apart(settings, gpus))


def seeds_on_a_gpu(settings: PipelineSettings, gpus: int) -> int:
    """Children of one GPU that train at a time, each with a model of its own, on a machine with so many GPUs."""
    if settings.model.device != "cuda":
        return 1
    return math.ceil(seeds_side_by_side(settings) / training_gpus(settings, gpus))


def most_memory() -> float:
    """Bytes that this process and those beside it may have; infinity where nothing limits them."""
    names = ("memory.max", "memory.limit_in_bytes")
    return min((_number(words[0]) for name in names for words in _found("memory", name)), default=math.inf)


def most_cores() -> float:
    """Cores' worth of time that they get; infinity where nothing limits them."""
    quotas = [*_found("cpu", "cpu.max"), *_found("cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us")]
    return min((_number(quota) / float(period) for quota, period in quotas), default=math.inf)


def _found(controller: str, *names: str) -> Iterator[list[str]]:
    """The words of these files of our group and of those above it, whichever version of control groups it is."""
    lines = OWN.read_text(encoding="utf-8").splitlines() if OWN.exists() else []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers and controller not in controllers.split(","):
            continue
        top = GROUPS / controller if controllers else GROUPS
        group = top / path.lstrip("/")
        for place in (group, *group.parents):
            if place.is_relative_to(top) and all((place / name).exists() for name in names):
                yield [word for name in names for word in (place / name).read_text(encoding="utf-8").split()]


def _number(word: str) -> float:
    """No limit is `max`, or -1."""
    return math.inf if word == "max" or word.startswith("-") else float(word)
