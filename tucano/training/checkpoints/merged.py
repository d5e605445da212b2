"""An adapter merged into its base from file to file, one matrix at a time: as much memory as one file of the result.

A whole model in 32 bits beside its copy in 16 is 6 bytes a weight, 22 GB for 3.7 billion; a GPU that trains such a base
in 4 bits has no room for that. PEFT itself adds each matrix, so the bits are those of its `merge_and_unload` on a whole
model in 32 bits.
"""

import ctypes
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from huggingface_hub import split_torch_state_dict_into_shards
from peft import PeftModel
from peft.tuners.lora import LoraLayer
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import SAFE_WEIGHTS_INDEX_NAME, cached_file

from tucano.errors import UserError
from tucano.training.checkpoints.weights import compare, stored_tensors
from tucano.training.policies.padding import lengthened, with_pad

MOST_BYTES = 2**29
"""Of one file of the result, which is held in memory twice while it is written."""
M_MMAP_THRESHOLD = -3
"""Of malloc.h: from how many bytes on a block goes back to the system as soon as it is freed."""
OF_PEFT = "base_model.model."


@dataclass(frozen=True, slots=True)
class Base:
    """A base that was loaded before, so that its files are here: a folder, or a hub id with its commit."""

    name: str
    revision: str | None

    def skeleton(self, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
        """The model without contents, with the padding that it gets wherever it is loaded."""
        config = AutoConfig.from_pretrained(self.name, revision=self.revision, trust_remote_code=False)
        with torch.device("meta"):
            model: PreTrainedModel = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        with suppress(OSError):  # a base need not have one: transformers has made it from the config
            model.generation_config = GenerationConfig.from_pretrained(self.name, revision=self.revision)
        with_pad(model, tokenizer)
        return model

    def sources(self) -> dict[str, Path]:
        """The file of each stored weight."""
        config = cached_file(self.name, "config.json", revision=self.revision)
        files = sorted(Path(str(config)).parent.glob("*.safetensors"))
        return {name: file for file in files for name in _names(file)}


def write(
    base: Base, adapter: Path | None, device: str, tokenizer: PreTrainedTokenizerBase, stop: Sequence[int], folder: Path
) -> None:
    """Into `folder`, as transformers would: the base with `adapter` (or as it is) added in float32 and rounded once to
    bfloat16, config, and `stop`, the tokens that end an answer. Every tensor is read back. UserError where the base
    lacks a weight of its architecture.
    """
    _give_memory_back()
    model = base.skeleton(tokenizer)
    aliases = _aliases(model)
    sources = base.sources()
    empty = model.state_dict()
    layers = _layers(model, adapter, device) if adapter else {}

    def made(name: str) -> Tensor:
        weight = _read(sources, aliases[name], empty[name].shape, device)
        return _added(weight, layers.get(name)).to("cpu", torch.bfloat16)

    store({name: torch.empty_like(empty[name], dtype=torch.bfloat16) for name in aliases}, made, folder)
    _describe(model, stop, folder)


def store(shapes: Mapping[str, Tensor], made: Callable[[str], Tensor], folder: Path) -> None:
    """Weights of these shapes (tensors without contents) into files that transformers reads. Each is made when its turn
    comes, by its name, and read back. NotAsSaved where a file holds something else.
    """
    plan = split_torch_state_dict_into_shards(dict(shapes), max_shard_size=MOST_BYTES)
    folder.mkdir(parents=True, exist_ok=True)
    for file, names in plan.filename_to_tensors.items():
        stored = {name: made(name) for name in names}
        save_file(stored, folder / file, {"format": "pt"})
        compare(stored, stored_tensors([folder / file]), folder / file, set(stored))
    if plan.is_sharded:
        index = {"metadata": plan.metadata, "weight_map": plan.tensor_to_filename}
        (folder / SAFE_WEIGHTS_INDEX_NAME).write_text(json.dumps(index, indent=2, sort_keys=True) + "\n", "utf-8")


def _read(sources: Mapping[str, Path], names: Sequence[str], wanted: torch.Size, device: str) -> Tensor:
    """A weight of the base by one of its names, in float32 on the device, with the rows that padding adds."""
    found = next((name for name in names if name in sources), None)
    if found is None:
        raise UserError(f"no file of the base has the weight {names[0]}; bring the base back, or name another")
    with safe_open(sources[found], framework="pt") as opened:  # closed again: what it maps counts as memory
        weight: Tensor = opened.get_tensor(found).to(device, torch.float32)
    if weight.dim() == 2 and len(weight) < wanted[0]:
        weight = lengthened(weight, wanted[0])
    if weight.shape != wanted:
        raise UserError(
            f"{names[0]} of the base is {tuple(weight.shape)} and its config says {tuple(wanted)}; bring the base back,"
            " or name another"
        )
    return weight


def _give_memory_back() -> None:
    """glibc keeps freed blocks of up to 32 MB among those in use: it had 4 GB where 2 were needed, after 16 files."""
    with suppress(AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 2**20)


def _names(file: Path) -> list[str]:
    with safe_open(file, framework="pt") as opened:
        return list(opened.keys())


def _aliases(model: PreTrainedModel) -> dict[str, list[str]]:
    """Each weight under its first name, with all names that it goes by: a tied head is stored once."""
    same: dict[int, list[str]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        same.setdefault(id(tensor), []).append(name)
    return {names[0]: names for names in same.values()}


def _layers(model: PreTrainedModel, adapter: Path, device: str) -> dict[str, LoraLayer]:
    """By the name of its base's weight, each layer that the adapter changes, with the adapter's contents only."""
    for module in model.modules():
        if isinstance(module, nn.Linear):  # one number in each shape: PEFT puts an adapter where its base is
            module.weight = nn.Parameter(torch.zeros((), device=device).expand(module.weight.shape), False)
    adapted = PeftModel.from_pretrained(model, str(adapter), low_cpu_mem_usage=True, torch_device=device)
    return {
        f"{name.removeprefix(OF_PEFT)}.weight": layer
        for name, layer in adapted.named_modules()
        if isinstance(layer, LoraLayer)
    }


def _added(weight: Tensor, layer: LoraLayer | None) -> Tensor:
    """The weight with the layer's adapter; PEFT refuses what is not finite."""
    if layer is None:
        return weight
    held = layer.get_base_layer()
    held.weight = nn.Parameter(weight, False)
    layer.merge(safe_merge=True)
    added: Tensor = held.weight.data
    held.weight = nn.Parameter(torch.empty_like(added, device="meta"), False)
    return added


def _describe(model: PreTrainedModel, stop: Sequence[int], folder: Path) -> None:
    """A server reads no tokenizer to know where an answer ends."""
    model.config.dtype = "bfloat16"
    model.config.architectures = [type(model).__name__]
    model.generation_config.eos_token_id = list(stop)
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
