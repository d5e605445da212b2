"""The shape of the model that is trained, as far as it is known without loading it: its weights, cache and context."""

import json
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import PositiveInt

from tucano.artifacts.records import parsed
from tucano.errors import UserError
from tucano.settings.model import ModelSettings

LORA_WEIGHTS_UNKNOWN = 30_000_000
"""Adapter weights assumed for a hub model whose config is not at hand: above rank 16 on a model of 1.5 billion."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What we read of a language model's config, by its names there."""

    hidden_size: PositiveInt
    intermediate_size: PositiveInt
    num_hidden_layers: PositiveInt
    num_attention_heads: PositiveInt
    num_key_value_heads: PositiveInt | None = None
    head_dim: PositiveInt | None = None
    vocab_size: PositiveInt | None = None
    tie_word_embeddings: bool = True
    max_position_embeddings: PositiveInt | None = None
    model_type: str = "qwen3"

    @classmethod
    def of(cls, config: Any) -> "Shape":
        """Of a model's config in memory."""
        named: dict[str, Any] = {field.name: getattr(config, field.name, field.default) for field in fields(cls)}
        return cls(**named)

    @property
    def query(self) -> int:
        """Outputs of the query projection."""
        return self._head * self.num_attention_heads

    @property
    def key_value(self) -> int:
        """Outputs of the key projection, and of the value projection."""
        return self._head * (self.num_key_value_heads or self.num_attention_heads)

    @property
    def _head(self) -> int:
        return self.head_dim or self.hidden_size // self.num_attention_heads

    @property
    def matrices(self) -> int:
        """Weights of all linear layers but the head."""
        attention = 2 * self.hidden_size * (self.query + self.key_value)
        return self.num_hidden_layers * (attention + 3 * self.hidden_size * self.intermediate_size)

    @property
    def other_weights(self) -> int:
        """Embedding, head and norms (those of Qwen3; other models have a few thousand fewer)."""
        embeddings = (self.vocab_size or 0) * self.hidden_size * (1 if self.tie_word_embeddings else 2)
        return embeddings + self.num_hidden_layers * 2 * (self.hidden_size + self._head) + self.hidden_size

    @property
    def weights(self) -> int:
        return self.matrices + self.other_weights


TUCANO = Shape(
    hidden_size=1024,
    intermediate_size=3072,
    num_hidden_layers=28,
    num_attention_heads=16,
    num_key_value_heads=8,
    head_dim=128,
    vocab_size=49_152,
)
"""Of Tucano2-qwen-0.5B: 490.8 million weights, as its card says. The preflight sees the real model."""
TUCANO_1_5B = replace(TUCANO, hidden_size=2048, intermediate_size=6144)
"""Of Tucano2-qwen-1.5B, which was Qwen3-1.7B and has the vocabulary of Tucano2: 1.51 billion weights."""
TUCANO_3_7B = replace(TUCANO, hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32)
"""Of Tucano2-qwen-3.7B, which was Qwen3-4B: 3.76 billion weights, as its card says."""
QWEN = Shape(
    hidden_size=1536,
    intermediate_size=8960,
    num_hidden_layers=28,
    num_attention_heads=12,
    num_key_value_heads=2,
    head_dim=128,
    vocab_size=151_936,
    max_position_embeddings=32_768,
    model_type="qwen2",
)
"""Of Qwen2.5-1.5B: 1.54 billion weights, 1.31 without the embedding, as its card says."""
KNOWN = {
    f"Polygl0t/Tucano2-qwen-{size}-Instruct": shape
    for size, shape in (("0.5B", TUCANO), ("1.5B", TUCANO_1_5B), ("3.7B", TUCANO_3_7B))
} | {"Qwen/Qwen2.5-1.5B": QWEN}
ASKED_SECONDS = 5
MOST_BYTES = 2**20
"""Of a config that a hub gives."""


def shape_of(model: ModelSettings) -> Shape | None:
    """From the settings (nano), a folder, the few hub models that we know, or what the hub says of another one at its
    pinned commit; None where it says nothing. UserError where a config describes no language model.
    """
    if model.name == "nano":
        return Shape(
            hidden_size=model.nano_hidden,
            intermediate_size=3 * model.nano_hidden,
            num_hidden_layers=model.nano_layers,
            num_attention_heads=4,
            num_key_value_heads=2,
            vocab_size=model.nano_vocabulary,
        )
    file = Path(model.place) / "config.json"
    known = KNOWN.get(model.name)
    if known is None and not file.is_file() and model.revision is not None:
        file = _asked(model.name, model.revision) or file
    return _read(file) if file.is_file() else known


def adapter_weights(model: ModelSettings) -> int:
    """Weights of a LoRA adapter on all linear layers: rank x (inputs + outputs) of each."""
    shape = shape_of(model)
    if shape is None:
        return LORA_WEIGHTS_UNKNOWN
    hidden = shape.hidden_size
    per_layer = 2 * (hidden + shape.query) + 2 * (hidden + shape.key_value) + 3 * (hidden + shape.intermediate_size)
    return model.lora_rank * shape.num_hidden_layers * per_layer


@cache
def _asked(name: str, revision: str) -> Path | None:
    """The config of a hub model, asked once: a commit does not change, and who cannot be reached now is not waited for
    again.
    """
    from huggingface_hub import hf_hub_download  # half a second, for a model that nobody knows alone

    try:
        return Path(hf_hub_download(name, "config.json", revision=revision, etag_timeout=ASKED_SECONDS))
    except (OSError, ValueError):  # of these kinds are all that this library raises where it gets no file
        return None


def _read(file: Path) -> Shape:
    try:
        return parsed(Shape, json.loads(file.read_bytes()[:MOST_BYTES]))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is damaged or describes no language model; bring it back, or name another") from error
