"""What a run needs of its machine, known before any work: space for its checkpoints, and the device that it names; and
how many cores it finds.
"""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from pydantic import PositiveInt

from tucano.artifacts.records import parsed
from tucano.errors import UserError
from tucano.settings import ModelSettings, PipelineSettings

BYTES_PER_WEIGHT = 4
COPIES_PER_CHECKPOINT = 4
"""Weights, the two moments of AdamW, and the best weights so far."""
CHECKPOINTS = 4
"""Two recovery checkpoints, the one being written, and the best with its copy in the artifact."""
SPARE_BYTES = 200_000_000
"""Databases, logs, answers and whatever else a run writes besides its weights."""
LORA_WEIGHTS_UNKNOWN = 30_000_000
"""Adapter weights assumed for a hub model whose config is not at hand: above rank 16 on a model of 1.5 billion."""


def require_space(root: Path, settings: PipelineSettings) -> None:
    """UserError when what this run writes would not fit on the storage's disk."""
    trained = [adapter_weights(settings.model)] * len(settings.grpo.seeds)
    if settings.sft.enabled:
        trained.append(
            nano_weights(settings.model) if settings.model.name == "nano" else adapter_weights(settings.model)
        )
    needed = sum(trained) * BYTES_PER_WEIGHT * COPIES_PER_CHECKPOINT * CHECKPOINTS + SPARE_BYTES
    free = shutil.disk_usage(root).free
    if needed > free:
        raise UserError(
            f"the checkpoints and databases of this run need about {needed / 1e9:.1f} GB and {root} has"
            f" {free / 1e9:.1f} GB free; free some space or choose another disk with --set storage=FOLDER"
        )


def require_device(model: ModelSettings) -> None:
    """UserError when a CUDA profile meets a machine whose driver shows no GPU; asked without importing torch."""
    if model.device == "cuda" and not any(Path("/dev").glob("nvidia[0-9]*")) and shutil.which("nvidia-smi") is None:
        raise UserError(
            "model.device=cuda, but this machine shows no CUDA device; run a CPU profile such as laptop, or go to a GPU"
            " machine"
        )


def nano_weights(model: ModelSettings) -> int:
    """Weights of the nano model: embedding, and per layer attention (1 + .5 + .5 + 1) and MLP (3 x 3) times hidden
    squared.
    """
    return model.nano_vocabulary * model.nano_hidden + model.nano_layers * 12 * model.nano_hidden**2


def adapter_weights(model: ModelSettings) -> int:
    """Weights of a LoRA adapter on all linear layers: rank x (inputs + outputs) of each."""
    if model.name == "nano":
        hidden = model.nano_hidden
        inner = 3 * model.nano_hidden
        layers = model.nano_layers
        query = model.nano_hidden
        key_value = model.nano_hidden // 2
    elif (Path(model.name) / "config.json").is_file():
        config = _config(Path(model.name) / "config.json")
        hidden = config.hidden_size
        inner = config.intermediate_size
        layers = config.num_hidden_layers
        size = config.head_dim or hidden // config.num_attention_heads
        query = size * config.num_attention_heads
        key_value = size * (config.num_key_value_heads or config.num_attention_heads)
    else:
        return LORA_WEIGHTS_UNKNOWN
    per_layer = 2 * (hidden + query) + 2 * (hidden + key_value) + 3 * (hidden + inner)
    return model.lora_rank * layers * per_layer


@dataclass(frozen=True, slots=True)
class _Config:
    """What we read of a language model's config."""

    hidden_size: PositiveInt
    intermediate_size: PositiveInt
    num_hidden_layers: PositiveInt
    num_attention_heads: PositiveInt
    num_key_value_heads: PositiveInt | None = None
    head_dim: PositiveInt | None = None


def _config(file: Path) -> _Config:
    try:
        return parsed(_Config, json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is damaged or describes no language model; bring it back, or name another") from error


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def seeds_at_a_time(settings: PipelineSettings) -> int:
    """GRPO children that train on one machine side by side."""
    return settings.worker.parallel or (
        1 if settings.model.device == "cuda" else max(1, cores() // settings.worker.threads)
    )
