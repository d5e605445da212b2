"""Settings of the model: `model.*`."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt

from tucano import chat_templates
from tucano.artifacts.identity import SHIPPED
from tucano.security.texts import Line
from tucano.settings.base import Section

VLLM_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The adapter ranks that vLLM has kernels for; the next larger one serves any other."""


class LoadedModel(Section):
    """How weights are loaded."""

    revision: Line | None = Field(
        None, description="Pinned commit of a hub model; hub ids need it. TRL: model_revision."
    )
    chat_template: Annotated[str, AfterValidator(chat_templates.given)] | None = Field(
        None,
        description="How chats are written: `chatml`, `chatml-think`, `plain` or a Jinja file; null: as the tokenizer"
        " says.",
    )
    backend: Literal["transformers", "unsloth"] = Field(
        "transformers", description="Loader and kernels; unsloth needs CUDA."
    )
    device: Literal["cpu", "cuda"] = Field(
        "cpu", description="Explicit, so that no machine silently takes another device."
    )
    quantization: Literal["none", "nf4"] = Field(
        "none", description="NF4 keeps the base in 4 bits; needs bitsandbytes. TRL: load_in_4bit."
    )
    dtype: Literal["float32", "bfloat16"] = Field("float32", description="Precision of the base weights.")
    max_length_tokens: PositiveInt = Field(
        768, le=2**20, description="Prompt and completion together; longer prompts are refused. TRL: max_length."
    )


class AdaptedModel(LoadedModel):
    """A loaded model that is trained through a LoRA adapter."""

    lora_rank: PositiveInt = Field(16, le=4096, description="Rank of the adapter, on all linear layers. TRL: lora_r.")
    lora_alpha: PositiveInt = Field(32, description="Scale of the adapter: alpha / rank.")
    lora_dropout: float = Field(0.0, ge=0, lt=1, description="Share of an adapter's inputs dropped while training.")


class NanoModel(LoadedModel):
    """The model that is built here and trained whole."""

    nano_hidden: PositiveInt = Field(128, le=8192, description="Width of the nano model.")
    nano_layers: PositiveInt = Field(2, le=128, description="Layers of the nano model.")
    nano_vocabulary: PositiveInt = Field(2048, le=2**18, description="Entries of the nano tokenizer.")


class ModelSettings(AdaptedModel, NanoModel):
    """The model that is trained."""

    name: Line = Field(
        "nano",
        description="`mini` (comes with the program), `nano` (built here), a local folder, or a hub id. TRL:"
        " model_name_or_path.",
    )

    def _faults(self) -> Iterator[str]:
        if self.device == "cpu" and self.backend == "unsloth":
            yield "model.backend=unsloth needs model.device=cuda"

    @property
    def place(self) -> str:
        """Where libraries find it: the folder of a model that is shipped, else its name."""
        return str(SHIPPED.get(self.name, self.name))

    @property
    def is_ours(self) -> bool:
        """Whether all that it has read is this project's: nobody else's licence binds it."""
        return self.name == "nano" or self.name in SHIPPED
